/**
 * Seals texts that are no credentials but must not be read either: sign-ins under way, registered clients.
 * Bound to workspace, purpose and id; a sealed credential never opens here, nor the other way round.
 */
import { AppError } from "@executor/contracts/error";
import { associatedData } from "./associated-data.ts";
import { openText, sealText } from "./seal-text.ts";
import type { WorkspaceKeys } from "./workspace-keys.ts";

export interface Sealer {
  seal(workspaceId: string, purpose: string, id: string, plaintext: string): Promise<string>;
  /** Throws AppError `credential.unreadable`. */
  open(workspaceId: string, purpose: string, id: string, sealed: string): Promise<string>;
}

export function createSealer(keys: WorkspaceKeys): Sealer {
  const bound = (workspaceId: string, purpose: string, id: string): Buffer =>
    associatedData("executor/sealed-text", "v1", workspaceId, purpose, id);
  return {
    async seal(workspaceId, purpose, id, plaintext) {
      return sealText(await keys.toSeal(workspaceId), bound(workspaceId, purpose, id), plaintext);
    },
    async open(workspaceId, purpose, id, sealed) {
      const key = await keys.toOpen(workspaceId);
      try {
        return openText(key, bound(workspaceId, purpose, id), sealed);
      } catch {
        throw new AppError(
          "credential.unreadable",
          `What was sealed as ${purpose} in the workspace ${workspaceId} does not open: it was changed, or belongs elsewhere. Start the sign-in again.`,
        );
      }
    },
  };
}
