/** A provider of tools made by a test: each is a function, with just what the gate must know about it. */
import type { ToolProvider } from "@executor/core/ports/tools";
import { segmentsOf } from "@executor/core/tools/tool-segment";
import type { Sent, Tool, ToolCall, ToolOutcome } from "@executor/core/tools/tool";

export interface TestTool extends Partial<
  Pick<Tool, "effect" | "idempotent" | "approval" | "schemaHash" | "description" | "gatePaths" | "openCall">
> {
  path: string;
  run(call: ToolCall): Promise<Sent> | Sent;
}

export function createTestTools(definitions: () => readonly TestTool[]): ToolProvider {
  return {
    openCatalog: async () => {
      return { segments: segmentsOf(definitions().map(toTool)) };
    },
  };
}

export const result = (value: unknown): ToolOutcome => ({ ok: true, json: JSON.stringify(value) });

function toTool({ run, ...definition }: TestTool): Tool {
  return {
    source: "test",
    description: "made by a test",
    keywords: "",
    shape: async () => ({ signature: "(input: unknown) => Promise<unknown>", inputSchema: {}, outputSchema: {} }),
    schemaHash: "test:1",
    effect: "unsafe",
    idempotent: false,
    approval: "auto",
    neverAsks: false,
    ...definition,
    prepare: async (call) => ({ kind: "ready", send: async () => await run(call) }),
  };
}
