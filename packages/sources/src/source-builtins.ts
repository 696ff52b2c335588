/**
 * How code looks at and proposes sources: `executor.sources.list`, `add` and `remove`. Adding and removing always ask a person,
 * whatever a policy says, and take no secret: those are given by people.
 */
import { AppError } from "@executor/contracts/error";
import { SourceDefinition } from "@executor/contracts/source";
import type { JsonSchema } from "@executor/contracts/tool";
import type { Prepared, Tool, ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import type { SourceService } from "./source-service.ts";

export function createSourceBuiltins(service: SourceService): Tool[] {
  return [
    builtin({
      path: "executor.sources.list",
      description: "List the connected sources with their namespace, kind, health and number of tools.",
      signature:
        "() => Promise<{ sources: { sourceId: string; namespace: string; name: string; type: string; health: string; toolCount: number }[] }>",
      inputSchema: { type: "object", properties: {} },
      effect: "safe",
      run: async (call) => {
        const sources = await service.list(call.workspaceId);
        const shown = sources.map(({ sourceId, namespace, name, type, health, toolCount }) => ({
          sourceId,
          namespace,
          name,
          type,
          health,
          toolCount,
        }));
        return { sources: shown };
      },
    }),
    builtin({
      path: "executor.sources.add",
      description:
        "Connect an OpenAPI document, a GraphQL endpoint or an MCP server. A person is always asked. Secrets are not taken: a person is asked for them when a tool needs one.",
      signature:
        '(input: { kind: "openapi" | "graphql" | "mcp"; name: string; namespace?: string; endpoint?: string; specUrl?: string; baseUrl?: string; auth?: { mode: "workspace" | "actor"; type: "bearer" | "apiKey" | "basic" | "oauth2"; header?: string; query?: string; cookie?: string } }) => Promise<{ sourceId: string; namespace: string; health: string }>',
      inputSchema: addSchema,
      effect: "unsafe",
      run: async (call) => {
        const { sourceId, namespace, health } = await service.add(readDefinition(call.input), {
          workspaceId: call.workspaceId,
          by: call,
          mayReachMachine: false,
        });
        return { sourceId, namespace, health };
      },
    }),
    builtin({
      path: "executor.sources.remove",
      description: "Disconnect a source. A person is always asked.",
      signature: "(input: { sourceId: string }) => Promise<{ removed: string }>",
      inputSchema: { type: "object", properties: { sourceId: { type: "string" } }, required: ["sourceId"] },
      effect: "unsafe",
      run: async (call) => {
        const sourceId = (call.input as { sourceId?: unknown } | null)?.sourceId;
        if (typeof sourceId !== "string")
          throw new AppError("call.input_invalid", "executor.sources.remove needs { sourceId: string }.");
        await service.remove(sourceId, { workspaceId: call.workspaceId, by: call });
        return { removed: sourceId };
      },
    }),
  ];
}

const text: JsonSchema = { type: "string" };
const addSchema: JsonSchema = {
  type: "object",
  properties: {
    kind: { enum: ["openapi", "graphql", "mcp"] },
    name: text,
    namespace: text,
    endpoint: text,
    specUrl: text,
    baseUrl: text,
    auth: { type: "object" },
  },
  required: ["kind", "name"],
};

interface Builtin extends Pick<Tool, "path" | "description" | "effect"> {
  signature: string;
  inputSchema: JsonSchema;
  run(call: ToolCall): Promise<unknown>;
}

function builtin({ run, signature, inputSchema, ...about }: Builtin): Tool {
  const asks = about.effect === "unsafe";
  return {
    ...about,
    source: "executor",
    keywords: "source connect integration api",
    schemaHash: `builtin:${about.path}:1`,
    idempotent: false,
    approval: asks ? "required" : "auto",
    neverAsks: false,
    alwaysAsks: asks,
    shape: async () => ({ signature, inputSchema, outputSchema: {} }),
    prepare: async (call): Promise<Prepared> => ({ kind: "ready", send: () => outcomeOf(run(call)) }),
  };
}

async function outcomeOf(running: Promise<unknown>): Promise<ToolOutcome> {
  try {
    return { ok: true, json: JSON.stringify(await running) };
  } catch (error) {
    if (error instanceof AppError) return { ok: false, code: error.code, message: error.detail };
    throw error;
  }
}

function readDefinition(input: unknown): SourceDefinition {
  const parsed = SourceDefinition.safeParse(input);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`);
    throw new AppError("call.input_invalid", problems.slice(0, 10).join("; "));
  }
  if (
    parsed.data.auth?.mode === "static" ||
    (parsed.data.auth?.type === "oauth2" && parsed.data.auth.clientSecret !== undefined)
  )
    throw new AppError(
      "call.input_invalid",
      "auth: code may not hold secrets. Use mode workspace or actor; a person is asked for the secret when a tool needs it.",
    );
  return parsed.data;
}
