/** A task as callers see it. */
import type { Task, TaskError } from "@executor/contracts/task";
import type { InteractionRow, TaskRow } from "@executor/core/store/tables";
import { parseJson, present, timeOrNull } from "./json.ts";
import { presentInteraction } from "./present-interaction.ts";
import { summariseTask } from "./summarise-task.ts";

export function presentTask({ task, pending }: { task: TaskRow; pending: InteractionRow[] }, now: number): Task {
  const waitingMs = task.waitingSince === null ? 0 : Math.max(0, now - task.waitingSince);
  return {
    ...summariseTask(task),
    code: task.code,
    ...(task.resultJson !== null && { result: parseJson(task.resultJson) }),
    ...(task.errorJson !== null && { error: parseJson(task.errorJson) as TaskError }),
    pending: pending.map(presentInteraction),
    counts: { calls: task.callCount, pending: task.pendingCount, runs: task.attempt, outputLines: task.outputLines },
    ...present({ startedAt: timeOrNull(task.startedAt), finishedAt: timeOrNull(task.finishedAt) }),
    runMs: task.runMs,
    waitMs: task.waitMs + waitingMs,
    timeoutMs: task.timeoutMs,
  };
}
