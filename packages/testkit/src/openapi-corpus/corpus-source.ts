/** A document of the corpus as a source: read by the product, opened at another address, its tools called through the guard. */
import type { AuthPart, GuardedFetch, IndexedTool, SourceIndex, SourceTools } from "@executor/core/ports/source";
import type { ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import { openapiKind } from "@executor/sources/openapi/openapi-kind";
import { createLoopbackFetch } from "../tools/loopback-fetch.ts";

export interface CorpusSource {
  tools: SourceTools;
  call(
    tool: IndexedTool,
    input: unknown,
    auth?: AuthPart[],
  ): Promise<{ outcome: ToolOutcome; status: number; violations: string | null }>;
}

const guarded = createLoopbackFetch();

export function openDocument(index: SourceIndex, baseUrl: string): CorpusSource {
  const source = { ...spec, definition: { ...spec.definition, baseUrl } };
  const tools = openapiKind.open({ source, metaJson: index.metaJson, details: async () => index.details });
  return {
    tools,
    async call(tool, input, auth = []) {
      let status = 0;
      let violations: string | null = null;
      const fetch: GuardedFetch = async (url, init) => {
        const response = await guarded(url, init);
        status = response.status;
        violations = response.headers.get("sl-violations");
        return response;
      };
      // Not sent again when it is lost: that would hide it.
      const prepared = await tools.prepare({ ...tool, effect: "unsafe" }, callOf(tool.name, input), {
        fetch,
        auth: { parts: auth, secrets: [] },
        maxResultBytes: 20_000_000,
      });
      if (prepared.kind === "ask") throw new Error("it asks");
      const outcome = await prepared.send();
      if ("kind" in outcome) throw new Error("it asks");
      return { outcome, status, violations };
    },
  };
}

const spec = {
  sourceId: "source_corpus",
  workspaceId: "ws_corpus",
  namespace: "corpus",
  definition: { type: "openapi" as const, name: "Corpus", spec: "" },
};

export async function readDocument(text: string | Record<string, unknown>): Promise<SourceIndex> {
  return await openapiKind.read(
    { ...spec, definition: { ...spec.definition, spec: text } },
    {
      fetch: guarded,
      auth: { parts: [], secrets: [] },
      mayReachMachine: false,
      signal: AbortSignal.timeout(120_000),
      onProgress: () => undefined,
    },
  );
}

const callOf = (toolPath: string, input: unknown): ToolCall => ({
  taskId: "task_corpus",
  callId: "call_corpus",
  workspaceId: "ws_corpus",
  actorId: "actor_corpus",
  clientId: "client_corpus",
  toolPath,
  input,
  answer: undefined,
  answers: [],
  signal: AbortSignal.timeout(60_000),
});
