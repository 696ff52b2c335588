/** A submitted program and what became of it. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { Interaction } from "./interaction.ts";
import { limitTable } from "./limits.ts";

export const TaskStatus = z.enum([
  "queued",
  "running",
  "waiting",
  "completed",
  "failed",
  "timed_out",
  "denied",
  "cancelled",
]);
export type TaskStatus = z.infer<typeof TaskStatus>;
export const endedStatuses = [
  "completed",
  "failed",
  "timed_out",
  "denied",
  "cancelled",
] as const satisfies TaskStatus[];
export type EndedStatus = (typeof endedStatuses)[number];
export const isEnded = (status: TaskStatus): status is EndedStatus =>
  (endedStatuses as readonly TaskStatus[]).includes(status);

export const CreateTask = z
  .strictObject({
    code: z.string().min(1).describe("TypeScript; top-level await; `return` a JSON value"),
    workspaceId: Id,
    actorId: Id.optional(),
    clientId: Id.optional(),
    runtimeId: Id.optional(),
    timeoutMs: z.int().min(limitTable.runMs.min).max(limitTable.runMs.max).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    idempotencyKey: z.string().min(1).max(200).optional(),
    typecheck: z.boolean().optional().describe("check the types first: code that does not fit is refused with 422"),
  })
  .meta({ id: "CreateTask" });
export type CreateTask = z.infer<typeof CreateTask>;

export const TaskError = z
  .object({
    code: z.string(),
    message: z.string(),
    line: z.int().optional().describe("line of the submitted code"),
    toolPath: z.string().optional(),
  })
  .meta({ id: "TaskError" });
export type TaskError = z.infer<typeof TaskError>;

export const TaskSummary = z
  .object({
    taskId: Id,
    workspaceId: Id,
    actorId: Id,
    clientId: Id,
    runtimeId: Id,
    status: TaskStatus,
    createdAt: Timestamp,
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "TaskSummary" });
export type TaskSummary = z.infer<typeof TaskSummary>;

export const Task = z
  .object({
    ...TaskSummary.shape,
    code: z.string(),
    result: z.unknown().optional(),
    error: TaskError.optional(),
    pending: z.array(Interaction),
    counts: z.object({ calls: z.int(), pending: z.int(), runs: z.int(), outputLines: z.int() }),
    startedAt: Timestamp.optional(),
    finishedAt: Timestamp.optional(),
    runMs: z.number().describe("time the code ran, without waiting and replay"),
    waitMs: z.number().describe("time it waited for people"),
    timeoutMs: z.int(),
  })
  .meta({ id: "Task" });
export type Task = z.infer<typeof Task>;

export const CreatedTask = z.object({ taskId: Id, status: TaskStatus }).meta({ id: "CreatedTask" });
export type CreatedTask = z.infer<typeof CreatedTask>;
