/** Where tools come from. The worker performs with it, the server lists with it. */
import type { Tool } from "../tools/tool.ts";

export interface ToolProvider {
  /** The tools of a workspace. Must be quick: it is on the path of every run. */
  openCatalog(scope: { workspaceId: string; actorId: string }): Promise<ToolCatalog>;
}

export interface ToolCatalog {
  find(path: string): Tool | null;
  list(): readonly Tool[];
}
