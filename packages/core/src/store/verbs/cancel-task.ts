/** Ends a task at once, in whatever state it is. A run under way learns of it at its next write or heartbeat. */
import { AppError } from "@executor/contracts/error";
import type { TaskStatus } from "@executor/contracts/task";
import { canTake, nextStatus } from "../../tasks/task-machine.ts";
import { TaskLog } from "../task-log.ts";
import type { Tx } from "../tx.ts";
import { cancelPending } from "./interactions.ts";

export async function cancelTask(
  tx: Tx,
  args: {
    taskId: string;
    workspaceId: string;
    by: { actorId: string; clientId: string };
    onlyOwn: boolean;
    now: number;
  },
): Promise<void> {
  const task = await tx.get("tasks", args.taskId);
  if (!task || task.workspaceId !== args.workspaceId)
    throw new AppError("task.not_found", `There is no task ${args.taskId} in this workspace.`);
  if (args.onlyOwn && task.actorId !== args.by.actorId)
    throw new AppError(
      "auth.forbidden",
      "An agent key may cancel only tasks of its own actor; a reviewer may cancel any.",
    );
  const status = task.status as TaskStatus;
  if (!canTake(status, "cancel"))
    throw new AppError("task.already_ended", `The task is already ${status}.`, { data: { status } });
  const log = new TaskLog(task);
  await cancelPending(tx, task.taskId, args.now, log);
  log.event("task.cancelled", args.now, { by: args.by.actorId });
  await tx.update("tasks", task.taskId, {
    status: nextStatus(status, "cancel"),
    finishedAt: args.now,
    pendingCount: 0,
    queuedAt: null,
    waitMs: task.waitMs + (task.waitingSince === null ? 0 : args.now - task.waitingSince),
    waitingSince: null,
    workerId: null,
    leaseUntil: null,
    errorJson: JSON.stringify({ code: "task.cancelled", message: "The task was cancelled." }),
    eventSeq: log.lastSeq,
  });
  log.audit(args.now, "task.cancelled", task.taskId, {}, args.by);
  await log.write(tx);
}
