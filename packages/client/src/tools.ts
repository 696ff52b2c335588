/** The tools this caller may use, as policy leaves them: denied ones are absent. */
import type { ToolDetail, ToolSummary } from "@executor/contracts/tool";
import type { TypecheckResult } from "@executor/contracts/typecheck";
import type { Connection } from "./connection.ts";
import type { Answer, Query } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";

export type ToolFilter = Omit<Query<"listTools">, "workspaceId">;
export type SearchOptions = Pick<Query<"searchTools">, "limit" | "namespace"> & RequestOptions;

/** `bestPath` only when the first one clearly leads. */
export type FoundTools = Answer<"searchTools">;

export function createTools({ http, workspaceId }: Connection) {
  return {
    list: (filter: ToolFilter = {}, { signal }: RequestOptions = {}): Promise<Page<ToolSummary>> =>
      http.call("listTools", { query: filter, signal }),
    /** Paths only, all at once: of one namespace, or of all. */
    names: (
      { namespace }: Pick<ToolFilter, "namespace"> = {},
      { signal }: RequestOptions = {},
    ): Promise<Answer<"listToolNames">> => http.call("listToolNames", { query: { namespace }, signal }),
    /** By intent, best first. */
    search: (query: string, { signal, ...options }: SearchOptions = {}): Promise<FoundTools> =>
      http.call("searchTools", { query: { query, ...options }, signal }),
    /** With its signature and schemas. */
    describe: (path: string, { signal }: RequestOptions = {}): Promise<ToolDetail> =>
      http.call("readTool", { params: { path }, signal }),
    /** Declarations for editors: a `tools.d.ts` of one namespace, or of all. */
    types: ({ namespace }: Pick<ToolFilter, "namespace"> = {}, { signal }: RequestOptions = {}): Promise<string> =>
      http.text("toolTypes", { query: { namespace }, signal }),
    /** Code against the types of the tools it names. Nothing runs. */
    typecheck: async (code: string, { signal }: RequestOptions = {}): Promise<TypecheckResult> =>
      http.call("typecheck", { body: { code, workspaceId: await workspaceId() }, signal }),
  };
}
