/**
 * Submits code and turns its end into a value or an error. A quick task takes one round trip: the create itself waits for it.
 * What happens after that is wait-for-task.ts.
 */
import type { Task } from "@executor/contracts/task";
import { ExecutorError, isExecutorError } from "./error.ts";
import { abortError, openScope, throwIfAborted } from "./scope.ts";
import type { CreateTaskOptions, Tasks } from "./tasks.ts";
import type { Timing } from "./timing.ts";
import { type KnownTask, waitForTask, type WaitOptions } from "./wait-for-task.ts";

export interface RunOptions extends WaitOptions {
  /** When the signal or `timeoutMs` ends the wait, the task is cancelled too. `error.data.cancelled` says whether that worked. */
  cancelOnAbort?: boolean;
}

/** A cancel that nobody answers must not keep the caller who wanted to leave. */
const CANCEL_TIMEOUT_MS = 5_000;

export async function runTask(
  tasks: Pick<Tasks, "create" | "get" | "events" | "cancel">,
  timing: Timing,
  input: CreateTaskOptions,
  options: RunOptions,
): Promise<unknown> {
  const startedAt = Date.now();
  const known = await createForRun(tasks, timing, input, options);
  const timeoutMs = options.timeoutMs && Math.max(0, options.timeoutMs - (Date.now() - startedAt));
  try {
    return resultOf(await waitForTask(tasks, timing, known, { ...options, timeoutMs }));
  } catch (error) {
    if (!options.cancelOnAbort || !isExecutorError(error, "client.aborted", "client.timed_out")) throw error;
    throw await cancelled(tasks, known.taskId, error);
  }
}

/**
 * The create waits for the task only if nothing is needed before it answers: events are seen from the first one on when
 * the id is known at once, and a cancel needs the id. That is also why a create that may have to be cancelled is not aborted.
 */
async function createForRun(
  tasks: Pick<Tasks, "create">,
  timing: Timing,
  input: CreateTaskOptions,
  { onEvent, cancelOnAbort, signal, timeoutMs }: RunOptions,
): Promise<KnownTask> {
  throwIfAborted(signal);
  if (cancelOnAbort) return tasks.create(input);
  if (onEvent) return tasks.create(input, { signal });
  const timeoutError = () => new ExecutorError("client.timed_out", `no task was made within ${timeoutMs} ms`);
  const scope = openScope({ signal, timeoutMs, timeoutError });
  try {
    // Half of the caller's time at most, so that the id is known when the time is over.
    const waitMs = Math.floor(Math.min(timing.longPollMs, (timeoutMs ?? Infinity) / 2));
    return await tasks.create(input, { waitMs, signal: scope.signal });
  } catch (error) {
    throw scope.signal.aborted ? abortError(scope.signal) : error;
  } finally {
    scope.close();
  }
}

function resultOf(task: Task): unknown {
  if (task.status === "completed") return task.result;
  const { code, message } = task.error ?? { code: `task.${task.status}`, message: `the task ended as ${task.status}` };
  throw new ExecutorError(code, message, { task });
}

async function cancelled(
  tasks: Pick<Tasks, "cancel">,
  taskId: string,
  { code, detail, cause, task }: ExecutorError,
): Promise<ExecutorError> {
  const scope = openScope({ timeoutMs: CANCEL_TIMEOUT_MS });
  const last = await tasks.cancel(taskId, { signal: scope.signal }).catch(() => undefined);
  scope.close();
  return new ExecutorError(code, detail, {
    cause,
    taskId,
    task: last ?? task,
    data: { cancelled: last !== undefined },
  });
}
