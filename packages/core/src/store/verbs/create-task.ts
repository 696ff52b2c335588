/** Puts a task into the queue, or finds the one an idempotency key already stands for. */
import { AppError } from "@executor/contracts/error";
import { TaskLog } from "../task-log.ts";
import { storeText } from "../large-text.ts";
import type { TaskRow } from "../tables.ts";
import type { Tx } from "../tx.ts";

export type NewTask = Pick<
  TaskRow,
  | "taskId"
  | "workspaceId"
  | "actorId"
  | "clientId"
  | "runtimeId"
  | "code"
  | "script"
  | "seed"
  | "preludeVersion"
  | "timeoutMs"
  | "metadataJson"
  | "idempotencyKey"
  | "requestDigest"
>;

export async function createTask(
  tx: Tx,
  args: { task: NewTask; now: number },
): Promise<{ taskId: string; status: string; created: boolean }> {
  const { task, now } = args;
  if (task.idempotencyKey !== null) {
    const [same] = await tx.find("tasks", {
      index: "byIdempotencyKey",
      eq: [task.workspaceId, task.actorId, task.idempotencyKey],
      limit: 1,
    });
    if (same) return existing(same, task);
  }
  const row: TaskRow = {
    ...task,
    code: await storeText(tx, `${task.taskId}/code`, task.code),
    script: await storeText(tx, `${task.taskId}/script`, task.script),
    status: "queued",
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    queuedAt: now,
    waitingSince: null,
    runMs: 0,
    waitMs: 0,
    attempt: 0,
    recoveries: 0,
    workerId: null,
    leaseUntil: null,
    eventSeq: 0,
    outputLines: 0,
    callCount: 0,
    seenDeliveries: 0,
    pendingCount: 0,
    resultJson: null,
    errorJson: null,
  };
  const log = new TaskLog(row);
  log.event("task.created", now, { actorId: task.actorId, clientId: task.clientId, runtimeId: task.runtimeId });
  log.event("task.queued", now);
  await tx.insert("tasks", { ...row, eventSeq: log.lastSeq });
  log.audit(now, "task.created", task.taskId, {
    runtimeId: task.runtimeId,
    requestDigest: task.requestDigest,
  });
  await log.write(tx);
  return { taskId: row.taskId, status: row.status, created: true };
}

/** The task that an idempotency key of this actor stands for. */
export async function findTask(
  tx: Tx,
  args: { workspaceId: string; actorId: string; idempotencyKey: string },
): Promise<{ taskId: string; status: string } | null> {
  const { workspaceId, actorId, idempotencyKey } = args;
  const [found] = await tx.find("tasks", {
    index: "byIdempotencyKey",
    eq: [workspaceId, actorId, idempotencyKey],
    limit: 1,
  });
  return found ? { taskId: found.taskId, status: found.status } : null;
}

function existing(same: TaskRow, task: NewTask): { taskId: string; status: string; created: boolean } {
  if (same.requestDigest !== task.requestDigest) {
    throw new AppError(
      "task.idempotency_conflict",
      `The idempotency key "${task.idempotencyKey}" already stands for task ${same.taskId}, which was submitted with other code or options. Use a new key.`,
      { data: { taskId: same.taskId } },
    );
  }
  return { taskId: same.taskId, status: same.status, created: false };
}
