/** Submitted programs: make one, run one to its end, look at what became of it. */
import type { Call } from "@executor/contracts/call";
import type { TaskEvent } from "@executor/contracts/event";
import type { CreatedTask, CreateTask, Task } from "@executor/contracts/task";
import type { Connection } from "./connection.ts";
import type { Query, WithoutWorkspace } from "./endpoints.ts";
import type { RequestOptions } from "./http.ts";
import { eachItem, type Page } from "./pages.ts";
import { type RunOptions, runTask } from "./run-task.ts";
import { type EventsOptions, streamEvents } from "./stream-events.ts";
import { isEndedStatus, isLastEvent } from "./task-status.ts";
import { waitForTask, type WaitOptions } from "./wait-for-task.ts";

export type CreateTaskOptions = WithoutWorkspace<CreateTask>;
export type TaskFilter = Omit<Query<"listTasks">, "workspaceId">;
export type CallFilter = Omit<Query<"listCalls">, "workspaceId">;

export interface ReadOptions extends RequestOptions {
  /** Answer only when the task has ended or waits for a person, or after so long (at most 60 000). */
  waitMs?: number;
}

export interface Tasks {
  create(input: string | CreateTaskOptions, options: ReadOptions & { waitMs: number }): Promise<Task | CreatedTask>;
  create(input: string | CreateTaskOptions, options?: RequestOptions): Promise<CreatedTask>;
  /**
   * Submits code and stays with it until it ends, through dropped connections and restarts of the server.
   * Gives what the code returned; throws ExecutorError for every other end, with its `code` and the `task`.
   */
  run<T = unknown>(input: string | CreateTaskOptions, options?: RunOptions): Promise<T>;
  /** Stays with a task that exists until it ends, however it ends. */
  wait(taskId: string, options?: WaitOptions): Promise<Task>;
  get(taskId: string, options?: ReadOptions): Promise<Task>;
  /** Newest first. */
  list(filter?: TaskFilter, options?: RequestOptions): Promise<Page<Task>>;
  /** All that match, page after page. */
  each(filter?: TaskFilter, options?: RequestOptions): AsyncGenerator<Task, void, undefined>;
  /** Terminal at once. */
  cancel(taskId: string, options?: RequestOptions): Promise<Task>;
  /** In the order the code made them. */
  calls(taskId: string, filter?: CallFilter, options?: RequestOptions): Promise<Page<Call>>;
  eachCall(taskId: string, filter?: CallFilter, options?: RequestOptions): AsyncGenerator<Call, void, undefined>;
  /** From the first event (or behind `after`) to the last, live; reconnects by itself. */
  events(taskId: string, options?: EventsOptions): AsyncGenerator<TaskEvent, void, undefined>;
}

export function createTasks({ http, workspaceId }: Connection): Tasks {
  const tasks: Tasks = {
    async create(input: string | CreateTaskOptions, { waitMs, signal }: ReadOptions = {}) {
      const options = typeof input === "string" ? { code: input } : input;
      // A key of our own makes a repeat after a lost answer find the task instead of making a second one.
      const idempotencyKey = options.idempotencyKey ?? randomKey();
      const body = { ...options, idempotencyKey, workspaceId: await workspaceId() };
      return http.call("createTask", { body, query: { wait: waitMs }, waitMs, signal, idempotent: true });
    },
    run: <T>(input: string | CreateTaskOptions, options: RunOptions = {}) =>
      runTask(tasks, http.timing, typeof input === "string" ? { code: input } : input, options) as Promise<T>,
    wait: (taskId, options = {}) => waitForTask(tasks, http.timing, { taskId }, options),
    get: (taskId, { waitMs, signal } = {}) =>
      http.call("readTask", { params: { taskId }, query: { wait: waitMs }, waitMs, signal }),
    list: (filter = {}, { signal } = {}) => http.call("listTasks", { query: filter, signal }),
    each: (filter = {}, options = {}) =>
      eachItem((cursor) => tasks.list({ ...filter, cursor }, options), filter.cursor),
    cancel: async (taskId, { signal } = {}) =>
      http.call("cancelTask", { params: { taskId }, body: { workspaceId: await workspaceId() }, signal }),
    calls: (taskId, filter = {}, { signal } = {}) =>
      http.call("listCalls", { params: { taskId }, query: filter, signal }),
    eachCall: (taskId, filter = {}, options = {}) =>
      eachItem((cursor) => tasks.calls(taskId, { ...filter, cursor }, options), filter.cursor),
    events: (taskId, options = {}) =>
      streamEvents(
        {
          timing: http.timing,
          open: (lastEventId, signal) => http.open("taskEvents", { params: { taskId }, lastEventId, signal }),
          sequenceOf: (event) => event.sequence,
          isLast: isLastEvent,
          hasEnded: async (signal) => isEndedStatus((await tasks.get(taskId, { signal })).status),
        },
        options,
      ),
  };
  return tasks;
}

/** Not `crypto.randomUUID`: browsers have that on https only, and a console may be served on plain http in a local network. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `sdk_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
