/** Secrets of sources: they go in and never come out. For admins. */
import type { ConnectOauth, CreateCredential, Credential } from "@executor/contracts/credential";
import type { Connection } from "./connection.ts";
import type { Answer, WithoutWorkspace } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import type { Page } from "./pages.ts";

export function createCredentials({ http, workspaceId }: Connection) {
  return {
    list: ({ signal }: RequestOptions = {}): Promise<Page<Credential>> => http.call("listCredentials", { signal }),
    /** Takes the place of what was there under the same source, scope and name. */
    set: async (credential: WithoutWorkspace<CreateCredential>, { signal }: RequestOptions = {}): Promise<Credential> =>
      http.call("createCredential", { body: { ...credential, workspaceId: await workspaceId() }, signal }),
    remove: async (credentialId: string, { signal }: RequestOptions = {}): Promise<void> =>
      http.call("deleteCredential", { params: { credentialId }, query: { workspaceId: await workspaceId() }, signal }),
    /** Begins a sign-in; open `authorizationUrl` in a browser. */
    connect: async (
      connect: WithoutWorkspace<ConnectOauth>,
      { signal }: RequestOptions = {},
    ): Promise<Answer<"connectOauth">> =>
      http.call("connectOauth", { body: { ...connect, workspaceId: await workspaceId() }, signal }),
  };
}
