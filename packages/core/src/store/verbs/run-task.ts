/** What the run of a task writes: progress, a pause, its end. All are fenced: only the holder of the lease gets through. */
import { AppError } from "@executor/contracts/error";
import { isEnded, type TaskStatus } from "@executor/contracts/task";
import { nextStatus } from "../../tasks/task-machine.ts";
import { appendAudit } from "../append-audit.ts";
import { TaskLog } from "../task-log.ts";
import { applyProgress } from "../apply-progress.ts";
import { storeText } from "../large-text.ts";
import type { Fence, ProgressEntry } from "../progress.ts";
import type { TaskRow } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { holdsLease } from "./claim-task.ts";
import { endTask, type TaskEnd } from "./end-task.ts";
import { readTaskInteractions } from "./interactions.ts";

export async function recordProgress(tx: Tx, args: { fence: Fence; entries: ProgressEntry[] }): Promise<void> {
  const task = await fenced(tx, args.fence);
  const log = new TaskLog(task);
  const counts = await applyProgress(tx, task, args.entries, log);
  await tx.update("tasks", task.taskId, { ...counts, recoveries: 0, eventSeq: log.lastSeq });
  await log.write(tx);
}

/** Ends the run because only people can move it on. Goes straight back to the queue when an answer is already in. */
export async function pauseTask(
  tx: Tx,
  args: { fence: Fence; entries: ProgressEntry[]; waitingFor: string[]; runMs: number; now: number },
): Promise<{ status: TaskStatus }> {
  const task = await fenced(tx, args.fence);
  const log = new TaskLog(task);
  const counts = await applyProgress(tx, task, args.entries, log);
  const interactions = await readTaskInteractions(tx, task.taskId);
  const answered = interactions.some(
    (interaction) => args.waitingFor.includes(interaction.interactionId) && interaction.status !== "pending",
  );
  const status = nextStatus(task.status as TaskStatus, answered ? "pause_answered" : "pause");
  if (answered) log.event("task.queued", args.now, { reason: "answered" });
  else log.event("task.waiting", args.now, { waitingFor: args.waitingFor });
  await tx.update("tasks", task.taskId, {
    ...counts,
    status,
    recoveries: 0,
    runMs: args.runMs,
    workerId: null,
    leaseUntil: null,
    queuedAt: answered ? args.now : null,
    waitingSince: answered ? null : args.now,
    eventSeq: log.lastSeq,
  });
  await log.write(tx);
  return { status };
}

export async function settleTask(
  tx: Tx,
  args: { fence: Fence; entries: ProgressEntry[]; end: TaskEnd; runMs: number; now: number },
): Promise<void> {
  const task = await fenced(tx, args.fence);
  const log = new TaskLog(task);
  const counts = await applyProgress(tx, task, args.entries, log);
  await endTask(tx, task, args.end, args.runMs, args.now, log, counts);
}

/** The outcome of a call whose task was cancelled or taken over meanwhile: kept for the audit, never delivered. */
export async function recordLateOutcome(
  tx: Tx,
  args: { taskId: string; callId: string; outcomeKind: "result" | "error"; outcomeJson: string; now: number },
): Promise<void> {
  const [task, call] = [await tx.get("tasks", args.taskId), await tx.get("calls", args.callId)];
  if (!task || !call || call.taskId !== args.taskId || call.outcomeKind !== null) return;
  const status = args.outcomeKind === "result" ? "completed" : "failed";
  // While the task goes on, its next run decides about this call; an outcome in the journal would look like a delivered one.
  if (isEnded(task.status as TaskStatus)) {
    const outcomeJson = await storeText(tx, `${call.callId}/outcome`, args.outcomeJson);
    await tx.update("calls", call.callId, { status, finishedAt: args.now, outcomeKind: args.outcomeKind, outcomeJson });
  }
  const detail = { taskId: task.taskId, toolPath: call.toolPath, inputDigest: call.inputDigest, status };
  await appendAudit(tx, task, args.now, "call.late_outcome", call.callId, detail);
}

async function fenced(tx: Tx, fence: Fence): Promise<TaskRow> {
  const task = await tx.get("tasks", fence.taskId);
  if (!task || !holdsLease(task, fence))
    throw new AppError("lease.lost", `Run ${fence.attempt} no longer holds task ${fence.taskId}; nothing was written.`);
  return task;
}
