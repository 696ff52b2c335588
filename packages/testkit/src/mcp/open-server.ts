/** A server as a source, read and called without the rest of the product. */
import type { SourceIndex } from "@executor/core/ports/source";
import type { Answered, Sent } from "@executor/core/tools/tool";
import { createLoopbackFetch } from "../tools/loopback-fetch.ts";
import { mcpKind } from "@executor/sources/mcp/mcp-kind";

export interface OpenServer {
  index: SourceIndex;
  call(name: string, options?: CallOptions): Promise<Sent>;
  /** Goes on with a call that asked something in the middle, as the next run does. Null: it is not there any more. */
  goOn(name: string, options: CallOptions): Promise<Sent | null>;
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
  const find = (name: string) => {
    const tool = index.tools.find((each) => each.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    return tool;
  };
  const callOf = (name: string, { input = {}, answers = [], callId = "c", signal: own = signal }: CallOptions) => {
    const ids = { taskId: "t", callId, workspaceId: "w", actorId: "a", clientId: "l", toolPath: `pets.${name}` };
    return { ...ids, input, answer: answers.at(-1)?.answer, answers, signal: own };
  };
  return {
    index,
    async goOn(name, options) {
      const call = callOf(name, options);
      return (await tools.openCall?.(find(name), call.callId)?.goOn(call)) ?? null;
    },
    async call(name, options = {}) {
      const [tool, call] = [find(name), callOf(name, options)];
      const prepared = await tools.prepare(tool, call, { fetch, auth, maxResultBytes });
      return prepared.kind === "ask" ? prepared : await prepared.send();
    },
    close: async () => await tools.close?.(),
  };
}
