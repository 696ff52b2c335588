/**
 * Stays with a task until it ends. Runs are awaited by long polls; people by the event stream, because a long poll answers
 * at once while a task waits. The stream is a hint: what a task is, is read from the task, and a slow poll is always there.
 * Nobody being there to answer is no reason to give up; only the caller's signal, its `timeoutMs` and a refusal are.
 */
import type { TaskEvent } from "@executor/contracts/event";
import type { Task } from "@executor/contracts/task";
import { ExecutorError, isOutage } from "./error.ts";
import { followEvents } from "./follow-events.ts";
import { abortError, openScope, orAborted, sleep } from "./scope.ts";
import { isEndedStatus } from "./task-status.ts";
import type { Tasks } from "./tasks.ts";
import { backoffMs, type Timing } from "./timing.ts";

export interface WaitOptions {
  /**
   * The task waits for people and has something to ask that was not reported yet: see `task.pending`.
   * A promise is not awaited (the answer may come from elsewhere meanwhile), but its rejection ends the wait.
   */
  onWaiting?: (task: Task) => void | Promise<void>;
  /** Every event, from the first to the last, in order. A promise is awaited before the next one. */
  onEvent?: (event: TaskEvent) => void | Promise<void>;
  signal?: AbortSignal;
  /** How long to wait here, people included. It does not limit the task: that is `timeoutMs` of the task itself. */
  timeoutMs?: number;
}

/** What is needed of the client; `known` is the task as far as it has been seen. */
export type TaskReader = Pick<Tasks, "get" | "events">;
export type KnownTask = Pick<Task, "taskId"> | Task;

export async function waitForTask(
  tasks: TaskReader,
  timing: Timing,
  known: KnownTask,
  options: WaitOptions,
): Promise<Task> {
  const { taskId } = known;
  const { signal, timeoutMs, onEvent } = options;
  let task: Task | undefined = "pending" in known ? known : undefined;
  const timeoutError = () => new ExecutorError("client.timed_out", `${taskId} has not ended within ${timeoutMs} ms`);
  const scope = openScope({ signal, timeoutMs, timeoutError });
  /** An error out of a callback: it is the caller's own and goes back as it is. */
  let failure: { error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    scope.stop(error);
  };
  const report = createReporter(options.onWaiting, fail);
  const follow = () => followEvents(tasks.events(taskId, { signal: scope.signal }), onEvent, onEvent && fail);
  let follower = onEvent && follow();
  try {
    task ??= await readPatiently(tasks, timing, taskId, scope.signal);
    while (!isEndedStatus(task.status)) {
      if (task.status === "waiting") {
        report(task);
        follower ??= follow();
      }
      if (follower) {
        await follower.changed(follower.isAlive() ? timing.slowPollMs : timing.pollMs, scope.signal);
        task = await readPatiently(tasks, timing, taskId, scope.signal);
      } else {
        task = await pollLong(tasks, timing, taskId, scope.signal);
      }
    }
    if (onEvent && follower) await orAborted(follower.done, scope.signal);
    return task;
  } catch (error) {
    if (failure) throw failure.error;
    throw scope.signal.aborted ? withTask(abortError(scope.signal), taskId, task) : error;
  } finally {
    scope.close();
    scope.stop(undefined);
  }
}

/** Until the run has ended, paused, or a long poll is over. A server that does not wait for us is not asked in a tight loop. */
async function pollLong(tasks: TaskReader, timing: Timing, taskId: string, signal: AbortSignal): Promise<Task> {
  const startedAt = Date.now();
  const task = await readPatiently(tasks, timing, taskId, signal, timing.longPollMs);
  const isUnchanged = task.status === "queued" || task.status === "running";
  if (isUnchanged) await sleep(Math.max(0, timing.pollMs - (Date.now() - startedAt)), signal);
  return task;
}

/** Reads the task, however long the server is away. */
async function readPatiently(
  tasks: TaskReader,
  timing: Timing,
  taskId: string,
  signal: AbortSignal,
  waitMs?: number,
): Promise<Task> {
  for (let failures = 1; ; failures++) {
    try {
      return await tasks.get(taskId, { waitMs, signal });
    } catch (error) {
      if (!isOutage(error)) throw error;
      await sleep(backoffMs(timing, failures, error), signal);
    }
  }
}

/** Calls back when something is asked that was not asked before: one of two answered is no news. */
function createReporter(onWaiting: WaitOptions["onWaiting"], fail: (error: unknown) => void): (task: Task) => void {
  const reported = new Set<string>();
  return (task) => {
    const news = task.pending.filter(({ interactionId }) => !reported.has(interactionId));
    for (const { interactionId } of news) reported.add(interactionId);
    if (news.length > 0) Promise.resolve(onWaiting?.(task)).catch(fail);
  };
}

function withTask({ code, detail, cause }: ExecutorError, taskId: string, task: Task | undefined): ExecutorError {
  return new ExecutorError(code, detail, { cause, task, taskId });
}
