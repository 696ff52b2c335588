/** Everything tasks wait for. Questions are answered here; an approval is only shown, its door is /api/approvals. */
import { AppError } from "@executor/contracts/error";
import { placeOf } from "@executor/core/credentials/ask-for-credential";
import type { PublicDefinition } from "@executor/core/ports/source";
import type { InteractionRow } from "@executor/core/store/tables";
import { findMisfits } from "../answer-schema.ts";
import { readAskState, settleCredentialAsks } from "../credentials/settle-asks.ts";
import type { AppDeps } from "../deps.ts";
import { actorOf, type Bearer } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { listInteractions } from "../list-interactions.ts";
import { presentInteraction } from "../present/present-interaction.ts";
import { presentTask } from "../present/present-task.ts";

const MAX_ANSWER_BYTES = 256_000;
export function interactionRoutes(
  deps: AppDeps,
): HandlersOf<"listInteractions" | "readInteraction" | "resolveInteraction"> {
  const { store, host } = deps;
  return {
    async listInteractions({ caller, query }) {
      const page = await listInteractions(
        store,
        { ...query, workspaceId: caller.workspaceId, approvalsOnly: false },
        ({ interaction }) => presentInteraction(interaction),
      );
      return { status: 200, body: page };
    },

    async readInteraction({ caller, param }) {
      return { status: 200, body: presentInteraction(await readOne(caller, param("interactionId"))) };
    },

    async resolveInteraction({ caller, param, body }) {
      const interactionId = param("interactionId");
      const asked = await readOne(caller, interactionId);
      const answerJson = body.decline === true ? null : checkAnswer(asked, body.answer);
      if (asked.kind === "credential" || asked.kind === "oauth") checkGiver(caller, asked);
      if (answerJson !== null && asked.kind === "oauth" && asked.status === "pending")
        throw new AppError(
          "interaction.wrong_door",
          "Sign in with the provider: POST /api/oauth/connect with this interactionId.",
        );
      if (answerJson !== null && asked.kind === "credential" && asked.status === "pending")
        await giveCredential(caller, asked, body.answer);
      else
        await store.resolveInteraction({
          interactionId,
          workspaceId: caller.workspaceId,
          answerJson,
          reason: body.reason ?? null,
          by: actorOf(caller),
          now: host.now(),
        });
      const interaction = await readOne(caller, interactionId);
      const read = await store.readTask({ taskId: interaction.taskId, workspaceId: caller.workspaceId });
      return {
        status: 200,
        body: { interaction: presentInteraction(interaction), ...(read && { task: presentTask(read, host.now()) }) },
      };
    },
  };

  /** The secret goes to the vault; the interaction only learns that it is there. */
  async function giveCredential(caller: Bearer, asked: InteractionRow, answer: unknown): Promise<void> {
    const state = readAskState(asked);
    const source =
      state &&
      (await deps.sources.service.list(caller.workspaceId)).find(({ namespace }) => namespace === state.sourceKey);
    if (!state || !source) throw new AppError("source.not_found", "The source that needs this credential is gone.");
    const definition = JSON.parse(source.definitionJson) as PublicDefinition;
    if (state.place !== undefined && state.place !== placeOf({ definition }))
      throw new AppError(
        "source.moved",
        "The source was changed since this was asked, so the secret may go elsewhere than it says here. Decline, and let the task ask again.",
      );
    const { auth } = definition;
    const { workspaceId, sourceKey, scope, actorId, name } = state;
    const by = actorOf(caller);
    const slot = {
      workspaceId,
      sourceKey,
      scope: scope === "actor" ? ("actor" as const) : ("workspace" as const),
      name,
    };
    await deps.sources.desk.save({ ...slot, ...(scope === "actor" && { actorId }), auth, secret: answer as never, by });
    await settleCredentialAsks(deps, state, by);
  }

  async function readOne(caller: Bearer, interactionId: string): Promise<InteractionRow> {
    const row = await store.readInteraction({ interactionId, workspaceId: caller.workspaceId });
    if (!row)
      throw new AppError("interaction.not_found", `There is no interaction ${interactionId} in this workspace.`);
    return row;
  }
}

/** Secrets of the workspace are an admin's to give; a person may always give his own. */
function checkGiver(caller: Bearer, asked: InteractionRow): void {
  const state = readAskState(asked);
  const isOwn = state?.scope === "actor" && state.actorId === caller.actorId;
  if (caller.role !== "admin" && !isOwn)
    throw new AppError("auth.forbidden", "Giving a credential needs the role admin.");
}

/** Only what can still be answered is held against its schema: the store refuses the rest with a better reason. */
function checkAnswer(asked: InteractionRow, answer: unknown): string {
  const answerJson = JSON.stringify(answer);
  if (Buffer.byteLength(answerJson) > MAX_ANSWER_BYTES)
    throw new AppError("request.invalid", `body.answer: more than ${MAX_ANSWER_BYTES} bytes of JSON`);
  if (asked.kind === "approval" || asked.status !== "pending" || asked.answerSchemaJson === null) return answerJson;
  const misfits = findMisfits(JSON.parse(asked.answerSchemaJson) as Record<string, unknown>, answer);
  if (misfits.length > 0)
    throw new AppError("request.invalid", `body.${misfits.join("; body.")}`, { data: { misfits } });
  return answerJson;
}
