/** The end of a task: its result or error is kept, and nothing of it may be decided any more. */
import type { EndedStatus, TaskError, TaskStatus } from "@executor/contracts/task";
import { nextStatus } from "../../tasks/task-machine.ts";
import type { TaskLog } from "../task-log.ts";
import { storeText } from "../large-text.ts";
import type { Patch, TaskRow } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { cancelPending } from "./interactions.ts";

export interface TaskEnd {
  status: Exclude<EndedStatus, "cancelled">;
  resultJson: string | null;
  error: TaskError | null;
}

/** `counts`: what the same transaction already changed on the task. */
export async function endTask(
  tx: Tx,
  task: TaskRow,
  end: TaskEnd,
  runMs: number,
  now: number,
  log: TaskLog,
  counts: Patch<"tasks">,
): Promise<void> {
  if ((counts.pendingCount ?? task.pendingCount) > 0) await cancelPending(tx, task.taskId, now, log);
  log.event(`task.${end.status}`, now, end.error ? { error: end.error } : { resultBytes: end.resultJson?.length ?? 0 });
  await tx.update("tasks", task.taskId, {
    ...counts,
    pendingCount: 0,
    status: nextStatus(task.status as TaskStatus, end.status),
    runMs,
    finishedAt: now,
    workerId: null,
    leaseUntil: null,
    resultJson: end.resultJson === null ? null : await storeText(tx, `${task.taskId}/result`, end.resultJson),
    errorJson: end.error === null ? null : JSON.stringify(end.error),
    eventSeq: log.lastSeq,
  });
  log.audit(now, `task.${end.status}`, task.taskId, end.error ? { error: end.error } : {});
  await log.write(tx);
}
