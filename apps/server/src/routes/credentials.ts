/** Secrets of sources: taken in, listed by what they are for, forgotten. No answer here holds one. */
import { AppError } from "@executor/contracts/error";
import type { PublicDefinition } from "@executor/core/ports/source";
import type { AppDeps } from "../deps.ts";
import { settleCredentialAsks } from "../credentials/settle-asks.ts";
import { actorOf } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";

export function credentialRoutes(
  deps: AppDeps,
): HandlersOf<"listCredentials" | "createCredential" | "deleteCredential"> {
  const { sources } = deps;
  return {
    async listCredentials({ caller }) {
      return { status: 200, body: { items: await sources.desk.list(caller.workspaceId) } };
    },

    async createCredential({ caller, body }) {
      const { workspaceId } = caller;
      const { sourceKey, scope, provider, secretJson, name, actorId } = body;
      // Both name something that is the installation's, not the workspace's.
      const isNamed = provider === "env" || (provider === "workos-vault" && Object.hasOwn(secretJson, "objectId"));
      if (isNamed && !caller.installationAdmin)
        throw new AppError(
          "source.admin_only",
          "Only an installation admin may name secrets of this machine's environment or of the installation's WorkOS Vault. Give the secret itself.",
        );
      const source = (await sources.service.list(workspaceId)).find(({ namespace }) => namespace === sourceKey);
      if (!source)
        throw new AppError(
          "source.not_found",
          `There is no source with the namespace ${sourceKey} in this workspace. Connect it first.`,
        );
      const { auth } = JSON.parse(source.definitionJson) as PublicDefinition;
      if (auth?.mode === "static")
        throw new AppError(
          "credential.invalid",
          `The source ${sourceKey} has its secret in its own definition: change the source.`,
        );
      const by = actorOf(caller);
      const credential = await sources.desk.save({
        workspaceId,
        sourceKey,
        scope,
        ...(actorId !== undefined && { actorId }),
        ...(name !== undefined && { name }),
        ...(provider && { provider }),
        auth,
        secret: secretJson as never,
        by,
      });
      await settleCredentialAsks(deps, { ...credential, actorId: credential.actorId ?? "" }, by);
      return { status: 201, body: credential };
    },

    async deleteCredential({ caller, param }) {
      const { workspaceId } = caller;
      await sources.desk.remove({ workspaceId, credentialId: param("credentialId"), by: actorOf(caller) });
      return { status: 204 };
    },
  };
}
