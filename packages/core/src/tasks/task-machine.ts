/**
 * The life of a task as one table: from which status, by which cause, to which status.
 * Every store changes `status` through `nextStatus` and nobody else assigns it.
 *
 * queued   in the queue; a worker may claim it.
 * running  a worker holds its lease.
 * waiting  for a person; nothing is held anywhere.
 * The rest are ends: nothing leaves them.
 */
import { AppError } from "@executor/contracts/error";
import type { EndedStatus, TaskStatus } from "@executor/contracts/task";

export type TaskCause =
  | "claim"
  /** The run ended because only people can move it on. */
  | "pause"
  /** As pause, but an answer came in meanwhile. */
  | "pause_answered"
  /** A person decided, or an interaction expired. */
  | "answer"
  /** The lease expired, or its worker gave it back. */
  | "release"
  | "cancel"
  | Exclude<EndedStatus, "cancelled">;

const table: Record<TaskStatus, Partial<Record<TaskCause, TaskStatus>>> = {
  queued: { claim: "running", answer: "queued", cancel: "cancelled" },
  running: {
    pause: "waiting",
    pause_answered: "queued",
    answer: "running",
    release: "queued",
    cancel: "cancelled",
    completed: "completed",
    failed: "failed",
    timed_out: "timed_out",
    denied: "denied",
  },
  waiting: { answer: "queued", cancel: "cancelled" },
  completed: {},
  failed: {},
  timed_out: {},
  denied: {},
  cancelled: {},
};

export function nextStatus(from: TaskStatus, cause: TaskCause): TaskStatus {
  const to = table[from][cause];
  if (to === undefined)
    throw new AppError("task.already_ended", `A task that is ${from} cannot take "${cause}".`, {
      data: { status: from, cause },
    });
  return to;
}

export const canTake = (from: TaskStatus, cause: TaskCause): boolean => table[from][cause] !== undefined;
