/** Which statuses are the end. Spelled out for the compiler to miss none; endpoints.test.ts holds it against contracts. */
import type { TaskEvent } from "@executor/contracts/event";
import type { EndedStatus, TaskStatus } from "@executor/contracts/task";

const isEnd: Record<TaskStatus, boolean> = {
  queued: false,
  running: false,
  waiting: false,
  completed: true,
  failed: true,
  timed_out: true,
  denied: true,
  cancelled: true,
};
const ends: ReadonlySet<string> = new Set(Object.entries(isEnd).flatMap(([status, end]) => (end ? [status] : [])));

export const isEndedStatus = (status: TaskStatus): status is EndedStatus => ends.has(status);

/** After this event a task says no more. */
export const isLastEvent = (event: Pick<TaskEvent, "type">): boolean =>
  event.type.startsWith("task.") && ends.has(event.type.slice("task.".length));
