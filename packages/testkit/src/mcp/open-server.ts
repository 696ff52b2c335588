/** A server as a source, read and called without the rest of the product. */
import type { SourceIndex } from "@executor/core/ports/source";
import type { Answered, Sent } from "@executor/core/tools/tool";
import { createLoopbackFetch } from "../tools/loopback-fetch.ts";
import { mcpKind } from "@executor/sources/mcp/mcp-kind";

export interface OpenServer {
  index: SourceIndex;
  call(name: string, options?: CallOptions): Promise<Sent>;
  close(): Promise<void>;
}
export interface CallOptions {
  input?: unknown;
  answers?: Answered[];
  callId?: string;
  signal?: AbortSignal;
}

export async function openServer(url: string, { maxResultBytes = 1_000_000 } = {}): Promise<OpenServer> {
  const fetch = createLoopbackFetch();
  const definition = { type: "mcp" as const, name: "Pets", url };
  const source = { sourceId: "s", workspaceId: "w", namespace: "pets", definition };
  const auth = { parts: [], secrets: [] };
  const signal = AbortSignal.timeout(20_000);
  const io = { fetch, auth, mayReachMachine: false, signal, onProgress: () => undefined };
  const index = await mcpKind.read(source, io);
  const tools = mcpKind.open({ source, metaJson: index.metaJson, details: async () => index.details });
  return {
    index,
    async call(name, { input = {}, answers = [], callId = "c", signal: own = signal } = {}) {
      const tool = index.tools.find((each) => each.name === name);
      if (!tool) throw new Error(`no tool ${name}`);
      const ids = { taskId: "t", callId, workspaceId: "w", actorId: "a", clientId: "l", toolPath: `pets.${name}` };
      const call = { ...ids, input, answer: answers.at(-1)?.answer, answers, signal: own };
      const prepared = await tools.prepare(tool, call, { fetch, auth, maxResultBytes });
      return prepared.kind === "ask" ? prepared : await prepared.send();
    },
    close: async () => await tools.close?.(),
  };
}
