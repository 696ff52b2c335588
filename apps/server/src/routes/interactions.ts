/** Everything tasks wait for. Questions are answered here; an approval is only shown, its door is /api/approvals. */
import { AppError } from "@executor/contracts/error";
import type { InteractionRow } from "@executor/core/store/tables";
import { findMisfits } from "../answer-schema.ts";
import type { AppDeps } from "../deps.ts";
import { actorOf, type Bearer } from "../http/authenticate.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { listInteractions } from "../list-interactions.ts";
import { presentInteraction } from "../present/present-interaction.ts";
import { presentTask } from "../present/present-task.ts";

const MAX_ANSWER_BYTES = 256_000;
/** These put secrets into the workspace. */
const ADMIN_KINDS = ["credential", "oauth"];

export function interactionRoutes({
  store,
  host,
}: AppDeps): HandlersOf<"listInteractions" | "readInteraction" | "resolveInteraction"> {
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
      if (ADMIN_KINDS.includes(asked.kind) && caller.role !== "admin")
        throw new AppError("auth.forbidden", "Giving a credential needs the role admin.");
      const answerJson = body.decline === true ? null : checkAnswer(asked, body.answer);
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

  async function readOne(caller: Bearer, interactionId: string): Promise<InteractionRow> {
    const row = await store.readInteraction({ interactionId, workspaceId: caller.workspaceId });
    if (!row)
      throw new AppError("interaction.not_found", `There is no interaction ${interactionId} in this workspace.`);
    return row;
  }
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
