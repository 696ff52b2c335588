/** The one numbered log that feeds SSE, console, CLI and SDK. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { isEnded, TaskStatus } from "./task.ts";

export const eventTypes = [
  "task.created",
  "task.queued",
  "task.running",
  "task.waiting",
  "task.resumed",
  "task.stdout",
  "task.stderr",
  "task.completed",
  "task.failed",
  "task.timed_out",
  "task.denied",
  "task.cancelled",
  "tool.call.started",
  "tool.call.completed",
  "tool.call.failed",
  "tool.call.denied",
  "approval.requested",
  "approval.resolved",
  "interaction.requested",
  "interaction.resolved",
  "source.indexing",
  "source.indexed",
  "source.failed",
  "source.removed",
] as const;
export const EventType = z.enum(eventTypes);
export type EventType = z.infer<typeof EventType>;

export const TaskEvent = z
  .object({
    /** Counts from 1 within the task, without a gap. */
    sequence: z.int(),
    /** Counts from 1 within the workspace, without a gap. */
    workspaceSequence: z.int(),
    /** Left out when the event is about a source. */
    taskId: Id.optional(),
    sourceId: Id.optional(),
    type: EventType,
    at: Timestamp,
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "TaskEvent" });
export type TaskEvent = z.infer<typeof TaskEvent>;

/** After this event a task says no more. */
export const isLastEvent = (type: EventType): boolean => {
  const status = TaskStatus.safeParse(type.replace(/^task\./, ""));
  return status.success && isEnded(status.data);
};
