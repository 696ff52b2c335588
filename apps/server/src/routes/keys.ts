/** API keys of a workspace. The token is shown once, by the answer that makes it. */
import { AppError } from "@executor/contracts/error";
import type { AppDeps } from "../deps.ts";
import { actorOf, type Authenticator } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { presentKey } from "../present/present-bearer.ts";
import { newToken } from "../tokens.ts";

export function keyRoutes(
  { store, host }: AppDeps,
  authenticator: Authenticator,
): HandlersOf<"listKeys" | "createKey" | "deleteKey"> {
  return {
    async listKeys({ caller }) {
      const keys = await store.listKeys({ workspaceId: caller.workspaceId });
      return { status: 200, body: { items: keys.map(presentKey) } };
    },

    async createKey({ caller, body }) {
      const token = newToken("key");
      const bearer = {
        bearerId: host.newId("key"),
        hash: host.sha256(token),
        kind: "key",
        workspaceId: caller.workspaceId,
        // A key is its own actor unless told otherwise: what an agent did must not look like its owner's doing.
        actorId: body.actorId ?? host.newId("actor"),
        clientId: body.clientId ?? host.newId("client"),
        role: body.role,
        label: body.label,
        // Never handed on: only the data directory makes an installation admin.
        installationAdmin: 0,
        mayElicit: body.mayElicit === true ? 1 : 0,
      };
      const row = await store.createBearer({ bearer, by: actorOf(caller), now: host.now() });
      return { status: 201, body: { ...presentKey(row), token } };
    },

    async deleteKey({ caller, param }) {
      const keyId = param("keyId");
      const key = (await store.listKeys({ workspaceId: caller.workspaceId })).find(
        ({ bearerId }) => bearerId === keyId,
      );
      const notFound = () => new AppError("key.not_found", `There is no key ${keyId} in this workspace.`);
      if (!key) throw notFound();
      if (key.installationAdmin === 1 && !caller.installationAdmin)
        throw new AppError(
          "auth.forbidden",
          "This is the key of the installation's owner; only its owner may revoke it.",
        );
      const isRevoked = await store.revokeBearer({
        bearerId: keyId,
        workspaceId: caller.workspaceId,
        by: actorOf(caller),
        now: host.now(),
      });
      if (!isRevoked) throw notFound();
      authenticator.forget(keyId);
      return { status: 204 };
    },
  };
}
