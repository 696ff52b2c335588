/** Which workspace the bearer is for. Bodies must name it; the server is asked once, and again only if that failed. */
import type { Http } from "./http.ts";

export type WorkspaceId = () => Promise<string>;

/** Not under any caller's signal: one who gives up must not spoil it for the others who wait for the same answer. */
export function createWorkspaceId(http: Http, known: string | undefined): WorkspaceId {
  let found: Promise<string> | undefined = known === undefined ? undefined : Promise.resolve(known);
  return () => {
    found ??= http.call("whoami", {}).then(
      (caller) => caller.workspaceId,
      (error: unknown) => {
        found = undefined;
        throw error;
      },
    );
    return found;
  };
}
