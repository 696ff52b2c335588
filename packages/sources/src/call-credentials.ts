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
    const { auth, credentialId, version, widen } = found;
    const isSignIn = request.source.definition.auth?.type === "oauth2";
    if (!isSignIn || credentialId === null) return { kind: "ready", auth, renew: null, widen: null };
    return {
      kind: "ready",
      auth,
      renew: () => resolve({ ...request, rejected: { credentialId, version } }),
      widen: widen && ((scopes) => ({ kind: "ask", ask: widen(scopes) })),
    };
  }
}

/** What a reading is made with; `renew`: the other side refused it. Null: there is nothing better. */
export interface ReadingAuth {
  auth: AuthParts;
  renew: (() => Promise<AuthParts | null>) | null;
}

/** For reading a source: what its workspace has, else that of who added it, else nothing. */
export async function readingAuth(desk: CredentialDesk, source: SourceSpec, addedBy: string): Promise<ReadingAuth> {
  const call = { workspaceId: source.workspaceId, actorId: addedBy };
  const request = { source: owned(source), call, account: null };
  const found = await desk.resolve(request);
  if (found.kind !== "ready") return { auth: nothing, renew: null };
  const { auth, credentialId, version } = found;
  if (source.definition.auth?.type !== "oauth2" || credentialId === null) return { auth, renew: null };
  const renew = async (): Promise<AuthParts | null> => {
    const renewed = await desk.resolve({ ...request, rejected: { credentialId, version } });
    return renewed.kind === "ready" ? renewed.auth : null;
  };
  return { auth, renew };
}

const owned = (source: SourceSpec) => ({ ...source, ownerWorkspaceId: source.workspaceId });
