/** Links that let one more person join the workspace, once. For admins. */
import type { CreateInvite, Invite } from "@executor/contracts/identity";
import type { Connection } from "./connection.ts";
import type { WithoutWorkspace } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";

export function createInvites({ http, workspaceId }: Connection) {
  return {
    create: async (invite: WithoutWorkspace<CreateInvite>, { signal }: RequestOptions = {}): Promise<Invite> =>
      http.call("createInvite", { body: { ...invite, workspaceId: await workspaceId() }, signal }),
  };
}
