/** Where tools come from: OpenAPI documents, GraphQL endpoints, MCP servers. Reading one happens in the background. */
import type { ProbeResult, Source, SourceChanges, SourceDefinition, UpdateSource } from "@executor/contracts/source";
import type { Connection } from "./connection.ts";
import type { Answer, WithoutWorkspace } from "./endpoints.ts";
import { ExecutorError } from "./error.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";
import { openScope, sleep } from "./scope.ts";

export interface WaitUntilReadOptions extends RequestOptions {
  /** How long to wait; default two minutes. */
  timeoutMs?: number;
}

const LOOK_EVERY_MS = 250;
const WAIT_MS = 120_000;

export function createSources({ http, workspaceId }: Connection) {
  const get = (sourceId: string, { signal }: RequestOptions = {}): Promise<Source> =>
    http.call("readSource", { params: { sourceId }, signal });

  return {
    list: ({ signal }: RequestOptions = {}): Promise<Page<Source>> => http.call("listSources", { signal }),
    get,
    /** What is behind a URL, and the definition to connect it with. */
    probe: async (url: string, { signal }: RequestOptions = {}): Promise<ProbeResult> =>
      http.call("probeSource", { body: { url, workspaceId: await workspaceId() }, signal }),
    add: async (definition: SourceDefinition, { signal }: RequestOptions = {}): Promise<Source> =>
      http.call("createSource", { body: { ...definition, workspaceId: await workspaceId() }, signal }),
    update: async (
      sourceId: string,
      changes: WithoutWorkspace<UpdateSource>,
      { signal }: RequestOptions = {},
    ): Promise<Source> =>
      http.call("updateSource", {
        params: { sourceId },
        body: { ...changes, workspaceId: await workspaceId() },
        signal,
      }),
    /** Its credentials are forgotten with it. */
    remove: async (sourceId: string, { signal }: RequestOptions = {}): Promise<void> =>
      http.call("deleteSource", { params: { sourceId }, query: { workspaceId: await workspaceId() }, signal }),
    refresh: async (sourceId: string, { signal }: RequestOptions = {}): Promise<Source> =>
      http.call("refreshSource", { params: { sourceId }, body: { workspaceId: await workspaceId() }, signal }),
    document: (sourceId: string, { signal }: RequestOptions = {}): Promise<Answer<"readSourceDocument">> =>
      http.call("readSourceDocument", { params: { sourceId }, signal }),
    changes: (sourceId: string, { signal }: RequestOptions = {}): Promise<SourceChanges> =>
      http.call("readSourceChanges", { params: { sourceId }, signal }),
    /** Until it is read, well or badly: look at its `health`. */
    async waitUntilRead(sourceId: string, { signal, timeoutMs = WAIT_MS }: WaitUntilReadOptions = {}): Promise<Source> {
      const timeoutError = () =>
        new ExecutorError(
          "client.timed_out",
          `${sourceId} was not read within ${timeoutMs} ms; it goes on in the background`,
        );
      const scope = openScope({ signal, timeoutMs, timeoutError });
      try {
        for (;;) {
          const source = await get(sourceId, { signal: scope.signal });
          if (source.health !== "indexing" && source.progress === undefined) return source;
          await sleep(LOOK_EVERY_MS, scope.signal);
        }
      } finally {
        scope.close();
      }
    },
  };
}
