/** The credential desk as calls and readings see it. */
import type { CredentialDesk, ResolveRequest } from "@executor/core/credentials/credential-desk";
import type { AuthParts, SourceSpec } from "@executor/core/ports/source";
import type { Asked } from "@executor/core/tools/tool";
import type { CallCredentials, Resolved } from "./source-tool.ts";

const nothing: AuthParts = { parts: [], secrets: [] };

export function createCallCredentials(desk: CredentialDesk): CallCredentials {
  return {
    resolve: (source, { workspaceId, actorId }, account) =>
      resolve({ source: owned(source), call: { workspaceId, actorId }, account }),
  };

  async function resolve(request: ResolveRequest): Promise<Resolved | Asked> {
    const found = await desk.resolve(request);
    if (found.kind === "missing") return { kind: "ask", ask: found.ask };
    const { auth, credentialId, version } = found;
    const isSignIn = request.source.definition.auth?.type === "oauth2";
    if (!isSignIn || credentialId === null) return { kind: "ready", auth, renew: null };
    return { kind: "ready", auth, renew: () => resolve({ ...request, rejected: { credentialId, version } }) };
  }
}

/** For reading a source: what its workspace has, else that of who added it, else nothing. */
export async function readingAuth(desk: CredentialDesk, source: SourceSpec, addedBy: string): Promise<AuthParts> {
  const call = { workspaceId: source.workspaceId, actorId: addedBy };
  const found = await desk.resolve({ source: owned(source), call, account: null });
  return found.kind === "ready" ? found.auth : nothing;
}

const owned = (source: SourceSpec) => ({ ...source, ownerWorkspaceId: source.workspaceId });
