/** The head of a task: enough to say which one an approval is about. */
import type { TaskStatus, TaskSummary } from "@executor/contracts/task";
import type { TaskRow } from "@executor/core/store/tables";
import { parseJson, toTime } from "./json.ts";

export function summariseTask(task: TaskRow): TaskSummary {
  const { taskId, workspaceId, actorId, clientId, runtimeId } = task;
  return {
    taskId,
    workspaceId,
    actorId,
    clientId,
    runtimeId,
    status: task.status as TaskStatus,
    createdAt: toTime(task.createdAt),
    metadata: parseJson(task.metadataJson) as Record<string, unknown>,
  };
}
