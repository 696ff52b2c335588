/**
 * Keeps secrets in their own row, sealed with the key of the workspace and bound to where the row belongs and to its
 * version: copied to any other row, or put back after it was replaced, a sealed secret does not open.
 */
import { AppError } from "@executor/contracts/error";
import type { CredentialProvider, SecretBinding } from "@executor/core/ports/vault";
import { associatedData } from "./associated-data.ts";
import { openText, sealText } from "./seal-text.ts";
import type { WorkspaceKeys } from "./workspace-keys.ts";

export function createManagedProvider(keys: WorkspaceKeys): CredentialProvider {
  return {
    id: "managed",
    async keep(binding, secretJson) {
      return sealText(await keys.toSeal(binding.workspaceId), boundTo(binding), secretJson);
    },
    async reveal(binding, kept) {
      const key = await keys.toOpen(binding.workspaceId);
      try {
        return openText(key, boundTo(binding), kept);
      } catch {
        throw new AppError(
          "credential.unreadable",
          `The credential "${binding.name}" of ${binding.sourceKey} does not open: it was changed, moved from another place, or sealed with another key. Restore the database together with the file secrets-key that belongs to it, or save the credential anew.`,
        );
      }
    },
    // The row was all there is.
    async forget() {},
  };
}

const boundTo = ({ workspaceId, sourceKey, scope, actorId, name, version }: SecretBinding): Buffer =>
  associatedData("executor/credential", "v1", workspaceId, sourceKey, scope, actorId, name, String(version));
