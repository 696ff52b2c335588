/** A provider of tools made by a test: each is a function, with just what the gate must know about it. */
import type { ToolProvider } from "@executor/core/ports/tools";
import type { Tool, ToolCall, ToolOutcome } from "@executor/core/tools/tool";

export interface TestTool extends Partial<
  Pick<Tool, "effect" | "idempotent" | "approval" | "schemaHash" | "description">
> {
  path: string;
  run(call: ToolCall): Promise<ToolOutcome> | ToolOutcome;
}

export function createTestTools(definitions: () => readonly TestTool[]): ToolProvider {
  return {
    openCatalog: async () => {
      const tools = definitions().map(toTool);
      return { find: (path) => tools.find((tool) => tool.path === path) ?? null, list: () => tools };
    },
  };
}

export const result = (value: unknown): ToolOutcome => ({ ok: true, json: JSON.stringify(value) });

function toTool({ run, ...definition }: TestTool): Tool {
  return {
    source: "test",
    description: "made by a test",
    signature: "(input: unknown) => Promise<unknown>",
    inputSchema: {},
    outputSchema: {},
    schemaHash: "test:1",
    effect: "unsafe",
    idempotent: false,
    approval: "auto",
    neverAsks: false,
    ...definition,
    prepare: async (call) => ({ kind: "ready", send: async () => await run(call) }),
  };
}
