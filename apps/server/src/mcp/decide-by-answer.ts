/**
 * The one place where an answer from an MCP client becomes a decision. It counts only from a bearer that an admin marked as one
 * behind which a person answers, for a task of its own, about exactly the input that was shown, while it is still pending.
 */
import { AppError } from "@executor/contracts/error";
import type { InteractionRow } from "@executor/core/store/tables";
import type { Bearer } from "../http/authenticate.ts";
import { type ElicitAnswer, type Question, readAnswer } from "./elicitation.ts";
import type { McpParts } from "./mcp-parts.ts";

export interface Asked {
  interactionId: string;
  /** Of the input that was shown. */
  inputDigest: string;
  mode: Question["mode"];
}

/** Stands for the door in the audit: the actor says who, this says through what. */
const CLIENT = "mcp-elicitation";

/** True when it decided. */
export async function decideByAnswer(
  { deps: { store, host } }: McpParts,
  caller: Bearer,
  asked: Asked,
  answer: ElicitAnswer,
): Promise<boolean> {
  if (!caller.mayElicit) return false;
  const { interactionId, inputDigest } = asked;
  const { workspaceId, actorId } = caller;
  const row = await store.readInteraction({ interactionId, workspaceId });
  if (!row || row.status !== "pending" || row.inputDigest !== inputDigest) return false;
  if (!(await isOwnTask({ store }, caller, row))) return false;
  const meaning = readAnswer(row, asked.mode, answer);
  const by = { actorId, clientId: CLIENT };
  try {
    if (meaning.kind === "decide") {
      const { decision, reason } = meaning;
      await store.decideApproval({ interactionId, workspaceId, decision, reason, by, remember: null, now: host.now() });
    } else if (meaning.kind === "answer") {
      const { answerJson, reason } = meaning;
      await store.resolveInteraction({ interactionId, workspaceId, answerJson, reason, by, now: host.now() });
    }
  } catch (error) {
    // Somebody else was first: then that is what counts.
    if (error instanceof AppError && /already_(decided|resolved)$/.test(error.code)) return false;
    throw error;
  }
  return meaning.kind !== "nothing";
}

async function isOwnTask(
  { store }: Pick<McpParts["deps"], "store">,
  caller: Bearer,
  row: InteractionRow,
): Promise<boolean> {
  const read = await store.readTask({ taskId: row.taskId, workspaceId: caller.workspaceId });
  return read?.task.actorId === caller.actorId;
}
