/** What every resource of the client is made from. */
import type { Http } from "./http.ts";
import type { WorkspaceId } from "./workspace.ts";

export interface Connection {
  http: Http;
  workspaceId: WorkspaceId;
}
