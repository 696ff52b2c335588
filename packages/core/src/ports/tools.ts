/** Where tools come from. The worker performs with it, the server lists with it. */
import type { SearchIndex } from "../tools/search/search-index.ts";
import type { Tool } from "../tools/tool.ts";

export interface ToolProvider {
  /** The tools of a workspace. Must be quick: it is on the path of every run. */
  openCatalog(scope: { workspaceId: string; actorId: string }): Promise<ToolCatalog>;
}

export interface ToolCatalog {
  /** One a source, shared by all who have the same source in the same state. */
  readonly segments: readonly ToolSegment[];
}

/** The tools of one source, with all that is made once for them. */
export interface ToolSegment {
  namespace: string;
  /** In the order of the index. */
  tools: readonly Tool[];
  find(path: string): Tool | null;
  /** Made when somebody searches. */
  index(): SearchIndex;
}
