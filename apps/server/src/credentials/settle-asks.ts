/**
 * A credential is there: every task that waits for it goes on, and a source that could not be read without it is read again.
 * The secret itself is never part of an answer.
 */
import type { CredentialAskState } from "@executor/core/credentials/ask-for-credential";
import type { InteractionRow } from "@executor/core/store/tables";
import type { AppDeps } from "../deps.ts";

type Slot = CredentialAskState;
const MAX_ASKS = 500;

export async function settleCredentialAsks(
  { store, host, log }: AppDeps,
  slot: Slot,
  by: { actorId: string; clientId: string },
): Promise<void> {
  const { workspaceId, sourceKey } = slot;
  const pending = await store.listInteractions({
    workspaceId,
    status: "pending",
    approvalsOnly: false,
    taskId: null,
    after: null,
    limit: MAX_ASKS,
  });
  for (const { interaction } of pending) {
    if (!isFor(interaction, slot)) continue;
    const { interactionId } = interaction;
    const answered = { interactionId, workspaceId, answerJson: '{"given":true}', reason: null, by, now: host.now() };
    // Somebody else may have been first; then there is nothing left to do.
    await store
      .resolveInteraction(answered)
      .catch((error: unknown) => log.debug("ask.settled_already", { interactionId, reason: String(error) }));
  }
  for (const source of await store.listSources({ workspaceId })) {
    if (source.namespace === sourceKey && (source.health === "failing" || source.artifact === null))
      await store.requestIndexing({ sourceId: source.sourceId, workspaceId, now: host.now() });
  }
}

export const readAskState = ({ stateJson }: InteractionRow): CredentialAskState | null =>
  stateJson === null ? null : (JSON.parse(stateJson) as CredentialAskState);

function isFor(interaction: InteractionRow, slot: Slot): boolean {
  if (interaction.kind !== "credential" && interaction.kind !== "oauth") return false;
  const asked = readAskState(interaction);
  return (
    asked?.sourceKey === slot.sourceKey &&
    asked.scope === slot.scope &&
    asked.actorId === slot.actorId &&
    asked.name === slot.name
  );
}
