/** API keys of the workspace, each with a role. For admins. A key's `token` is shown once, when it is made. */
import type { ApiKey, CreatedKey, CreateKey } from "@executor/contracts/identity";
import type { Connection } from "./connection.ts";
import type { WithoutWorkspace } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";

export function createKeys({ http, workspaceId }: Connection) {
  return {
    list: ({ signal }: RequestOptions = {}): Promise<Page<ApiKey>> => http.call("listKeys", { signal }),
    create: async (key: WithoutWorkspace<CreateKey>, { signal }: RequestOptions = {}): Promise<CreatedKey> =>
      http.call("createKey", { body: { ...key, workspaceId: await workspaceId() }, signal }),
    /** Revokes it: open streams of its bearer end. */
    remove: async (keyId: string, { signal }: RequestOptions = {}): Promise<void> =>
      http.call("deleteKey", { params: { keyId }, query: { workspaceId: await workspaceId() }, signal }),
  };
}
