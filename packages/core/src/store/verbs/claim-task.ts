/**
 * The queue: who is next, taking one, keeping it, and getting back what a dead worker held.
 * A claim names its task: two workers that want the same one meet on one row, and one of them gets it.
 */
import { TaskLog } from "../task-log.ts";
import { canTake, nextStatus } from "../../tasks/task-machine.ts";
import { loadText } from "../large-text.ts";
import type { Fence } from "../progress.ts";
import type { InteractionRow, PolicyRow, TaskRow } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { readTaskInteractions } from "./interactions.ts";
import { endTask } from "./end-task.ts";
import { listPolicies } from "./policies.ts";
import type { TaskStatus } from "@executor/contracts/task";

export interface QueuedTask {
  taskId: string;
  workspaceId: string;
  runtimeId: string;
  queuedAt: number;
}

export const WORKSPACES_PER_PEEK = 64;
const TASKS_PER_WORKSPACE = 16;
const MAX_RECOVERIES = 10;

/**
 * The oldest queued tasks of each workspace that has any, so that one tenant's backlog hides nobody.
 * `afterWorkspaceId` starts the walk there (and wraps): with more workspaces than fit, each gets its turn.
 */
export async function peekQueue(
  tx: Tx,
  args: { runtimeIds: string[]; afterWorkspaceId: string },
): Promise<QueuedTask[]> {
  const found = await walkQueue(tx, args.afterWorkspaceId);
  if (args.afterWorkspaceId !== "") {
    const wrapped = await walkQueue(tx, "");
    found.push(...wrapped.filter(({ workspaceId }) => workspaceId <= args.afterWorkspaceId));
  }
  return found.filter(({ runtimeId }) => args.runtimeIds.includes(runtimeId));
}

async function walkQueue(tx: Tx, afterWorkspaceId: string): Promise<QueuedTask[]> {
  const found: QueuedTask[] = [];
  for (let seen = 0, after = afterWorkspaceId; seen < WORKSPACES_PER_PEEK; seen++) {
    const rows = await tx.find("tasks", { index: "byQueue", eq: ["queued"], after, limit: TASKS_PER_WORKSPACE });
    const isRest = rows.length < TASKS_PER_WORKSPACE;
    const [head] = rows;
    for (const { taskId, workspaceId, runtimeId, queuedAt } of rows) {
      if (isRest || workspaceId === head?.workspaceId)
        found.push({ taskId, workspaceId, runtimeId, queuedAt: queuedAt ?? 0 });
    }
    if (isRest || !head) return found;
    after = head.workspaceId;
  }
  return found;
}

/** All that a run needs, but the journal of earlier runs (readJournal). */
export interface Claim {
  task: TaskRow;
  interactions: InteractionRow[];
  policies: PolicyRow[];
}

export async function claimTask(
  tx: Tx,
  args: { taskId: string; workerId: string; leaseMs: number; now: number },
): Promise<Claim | null> {
  const task = await tx.get("tasks", args.taskId);
  if (!task || !canTake(task.status as TaskStatus, "claim")) return null;
  const log = new TaskLog(task);
  log.event(task.startedAt === null ? "task.running" : "task.resumed", args.now, { attempt: task.attempt + 1 });
  const patch = {
    status: nextStatus(task.status as TaskStatus, "claim"),
    attempt: task.attempt + 1,
    workerId: args.workerId,
    leaseUntil: args.now + args.leaseMs,
    startedAt: task.startedAt ?? args.now,
    queuedAt: null,
    eventSeq: log.lastSeq,
  };
  await tx.update("tasks", task.taskId, patch);
  await log.write(tx);
  const script = await loadText(tx, `${task.taskId}/script`, task.script);
  const code = await loadText(tx, `${task.taskId}/code`, task.code);
  return {
    task: { ...task, ...patch, code, script },
    interactions: task.callCount > 0 ? await readTaskInteractions(tx, task.taskId) : [],
    policies: await listPolicies(tx, { workspaceId: task.workspaceId }),
  };
}

/** Keeps leases and tells which are lost (cancelled, recovered by another, ended). Also says that the worker lives. */
export async function renewLeases(
  tx: Tx,
  args: { workerId: string; leases: { taskId: string; attempt: number }[]; leaseMs: number; now: number },
): Promise<{ lost: string[] }> {
  const lost: string[] = [];
  for (const lease of args.leases) {
    const task = await tx.get("tasks", lease.taskId);
    if (task && holdsLease(task, { ...lease, workerId: args.workerId }))
      await tx.update("tasks", task.taskId, { leaseUntil: args.now + args.leaseMs });
    else lost.push(lease.taskId);
  }
  const seen = { seenAt: args.now, running: args.leases.length - lost.length };
  if (await tx.get("workers", args.workerId)) await tx.update("workers", args.workerId, seen);
  else await tx.insert("workers", { workerId: args.workerId, ...seen });
  return { lost };
}

/** Puts tasks whose lease ran out back into the queue. Their journal tells the next run what was done. */
export async function recoverLeases(tx: Tx, args: { now: number; limit: number }): Promise<{ recovered: string[] }> {
  const expired = await tx.find("tasks", { index: "byLease", eq: ["running"], before: args.now, limit: args.limit });
  for (const task of expired) {
    if (task.recoveries >= MAX_RECOVERIES) await giveUp(tx, task, args.now);
    else await requeue(tx, task, args.now, "lease expired", task.recoveries + 1);
  }
  return { recovered: expired.map((task) => task.taskId) };
}

/** A worker that stops gives its task back at once, instead of letting the lease run out. */
export async function releaseTask(tx: Tx, args: { fence: Fence; now: number }): Promise<boolean> {
  const task = await tx.get("tasks", args.fence.taskId);
  if (!task || !holdsLease(task, args.fence)) return false;
  await requeue(tx, task, args.now, "worker stopped", task.recoveries);
  return true;
}

/** A worker that is gone for good is forgotten. */
export async function removeWorker(tx: Tx, args: { workerId: string }): Promise<void> {
  await tx.remove("workers", args.workerId);
}

/** The lease may have run out: as long as nobody recovered it, it is still this run's. */
export const holdsLease = (task: TaskRow, fence: Pick<Fence, "attempt" | "workerId">): boolean =>
  task.status === "running" && task.attempt === fence.attempt && task.workerId === fence.workerId;

async function requeue(tx: Tx, task: TaskRow, now: number, reason: string, recoveries: number): Promise<void> {
  const log = new TaskLog(task);
  log.event("task.queued", now, { reason });
  await tx.update("tasks", task.taskId, {
    status: nextStatus(task.status as TaskStatus, "release"),
    workerId: null,
    leaseUntil: null,
    queuedAt: now,
    recoveries,
    eventSeq: log.lastSeq,
  });
  await log.write(tx);
}

/** A task that takes its worker down each time must not do so for ever. */
async function giveUp(tx: Tx, task: TaskRow, now: number): Promise<void> {
  const message = `The worker was lost ${task.recoveries + 1} times in a row under this task, without any progress.`;
  await endTask(
    tx,
    task,
    { status: "failed", resultJson: null, error: { code: "task.runtime_lost", message } },
    task.runMs,
    now,
    new TaskLog(task),
    {},
  );
}
