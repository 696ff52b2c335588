/** What people do: decide approvals, answer the rest; and what time does: expire them. The answer and the requeue are one write. */
import { AppError } from "@executor/contracts/error";
import type { InteractionStatus } from "@executor/contracts/interaction";
import type { TaskStatus } from "@executor/contracts/task";
import { canTake, nextStatus } from "../../tasks/task-machine.ts";
import { TaskLog } from "../task-log.ts";
import type { InteractionRow, PolicyRow } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { insertPolicy } from "./policies.ts";

/** Above the cap on pending ones by far: a task's whole history of asking. */
const MAX_PER_TASK = 12_000;

export async function readTaskInteractions(tx: Tx, taskId: string): Promise<InteractionRow[]> {
  return await tx.find("interactions", { index: "byTask", eq: [taskId], limit: MAX_PER_TASK });
}

interface By {
  actorId: string;
  clientId: string;
}

export async function decideApproval(
  tx: Tx,
  args: {
    interactionId: string;
    workspaceId: string;
    decision: "approved" | "denied";
    reason: string | null;
    by: By;
    remember: PolicyRow | null;
    now: number;
  },
): Promise<InteractionRow> {
  const approval = await pendingOne(tx, args, "approval");
  const decided = { status: args.decision, reason: args.reason, reviewerId: args.by.actorId, resolvedAt: args.now };
  if (args.remember) await insertPolicy(tx, args.remember, args.by);
  return await resolve(tx, approval, decided, args.by, args.now);
}

export async function resolveInteraction(
  tx: Tx,
  args: {
    interactionId: string;
    workspaceId: string;
    answerJson: string | null;
    reason: string | null;
    by: By;
    now: number;
  },
): Promise<InteractionRow> {
  const interaction = await pendingOne(tx, args, "interaction");
  const status = args.answerJson === null ? "denied" : "resolved";
  return await resolve(
    tx,
    interaction,
    { status, answerJson: args.answerJson, reason: args.reason, reviewerId: args.by.actorId, resolvedAt: args.now },
    args.by,
    args.now,
  );
}

/** Expires what nobody answered in time; the tasks go on and their code gets `approval.expired`. */
export async function expireInteractions(
  tx: Tx,
  args: { now: number; limit: number },
): Promise<{ expired: { interactionId: string; taskId: string; workspaceId: string }[] }> {
  const due = await tx.find("interactions", {
    index: "byExpiry",
    eq: ["pending"],
    before: args.now,
    limit: args.limit,
  });
  for (const interaction of due)
    await resolve(tx, interaction, { status: "expired", resolvedAt: args.now }, null, args.now);
  return { expired: due.map(({ interactionId, taskId, workspaceId }) => ({ interactionId, taskId, workspaceId })) };
}

/** Part of ending a task: nothing of it may be decided any more. */
export async function cancelPending(tx: Tx, taskId: string, now: number, log: TaskLog): Promise<void> {
  for (const interaction of await readTaskInteractions(tx, taskId)) {
    if (interaction.status !== "pending") continue;
    await tx.update("interactions", interaction.interactionId, { status: "cancelled", resolvedAt: now });
    await tx.update("calls", interaction.callId, { status: "cancelled", finishedAt: now });
    log.event(resolvedEvent(interaction), now, tellOf(interaction, "cancelled"));
  }
}

async function pendingOne(
  tx: Tx,
  args: { interactionId: string; workspaceId: string },
  door: "approval" | "interaction",
): Promise<InteractionRow> {
  const found = await tx.get("interactions", args.interactionId);
  const isApproval = found?.kind === "approval";
  if (!found || found.workspaceId !== args.workspaceId || (door === "approval" && !isApproval)) {
    throw new AppError(`${door}.not_found`, `There is no ${door} ${args.interactionId} in this workspace.`);
  }
  if (door === "interaction" && isApproval)
    throw new AppError(
      "interaction.wrong_door",
      `This is an approval: decide it at /api/approvals/${args.interactionId}.`,
    );
  if (found.status !== "pending") {
    const code = door === "approval" ? "approval.already_decided" : "interaction.already_resolved";
    throw new AppError(code, `It is already ${found.status}.`, { data: { status: found.status } });
  }
  return found;
}

async function resolve(
  tx: Tx,
  interaction: InteractionRow,
  patch: Partial<InteractionRow> & { status: InteractionStatus },
  by: By | null,
  now: number,
): Promise<InteractionRow> {
  await tx.update("interactions", interaction.interactionId, patch);
  const task = await tx.get("tasks", interaction.taskId);
  if (!task) throw new Error(`interaction ${interaction.interactionId} has no task`);
  const log = new TaskLog(task);
  log.event(resolvedEvent(interaction), now, {
    ...tellOf(interaction, patch.status),
    ...(by && { reviewerId: by.actorId }),
    ...(patch.reason && { reason: patch.reason }),
  });
  const from = task.status as TaskStatus;
  const to = canTake(from, "answer") ? nextStatus(from, "answer") : from;
  const wakes = from === "waiting" && to === "queued";
  if (wakes) log.event("task.queued", now, { reason: "answered" });
  await tx.update("tasks", task.taskId, {
    pendingCount: Math.max(0, task.pendingCount - 1),
    eventSeq: log.lastSeq,
    ...(wakes && {
      status: to,
      queuedAt: now,
      waitingSince: null,
      waitMs: task.waitMs + (now - (task.waitingSince ?? now)),
    }),
  });
  const noun = interaction.kind === "approval" ? "approval" : "interaction";
  const detail = {
    taskId: task.taskId,
    callId: interaction.callId,
    toolPath: interaction.toolPath,
    inputDigest: interaction.inputDigest,
    ...(patch.reason && { reason: patch.reason }),
  };
  log.audit(
    now,
    `${noun}.${patch.status}`,
    interaction.interactionId,
    detail,
    by ?? { actorId: "system", clientId: "system" },
  );
  await log.write(tx);
  return { ...interaction, ...patch };
}

const resolvedEvent = (interaction: InteractionRow) =>
  interaction.kind === "approval" ? "approval.resolved" : "interaction.resolved";
const tellOf = (interaction: InteractionRow, status: string) => ({
  interactionId: interaction.interactionId,
  kind: interaction.kind,
  callId: interaction.callId,
  toolPath: interaction.toolPath,
  status,
});
