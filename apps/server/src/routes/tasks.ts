/** Tasks: submit, list, read, cancel, and the calls of one. */
import { AppError } from "@executor/contracts/error";
import type { CreatedTask, Task } from "@executor/contracts/task";
import type { AppDeps } from "../deps.ts";
import type { HintHub } from "../hint-hub.ts";
import { actorOf, type Bearer } from "../http/authenticate.ts";
import { DEFAULT_PAGE, NumberMark, readCursor, TimeMark, toPage } from "../http/pages.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { presentCall } from "../present/present-call.ts";
import { presentTask } from "../present/present-task.ts";
import { submitTask } from "../tasks/submit-task.ts";
import { waitForTask } from "../tasks/wait-for-task.ts";

type Names = "createTask" | "listTasks" | "readTask" | "listCalls" | "cancelTask";

export function taskRoutes(deps: AppDeps, hub: HintHub): HandlersOf<Names> {
  const { store, host } = deps;
  return {
    async createTask({ caller, body, query, signal }) {
      const { taskId, status, created, typecheck } = await submitTask(deps, caller, body);
      // Types that could not be checked do not keep code from running, but whoever asked for it gets to know.
      const headers = {
        location: `/api/tasks/${taskId}`,
        ...(typecheck && { "executor-typecheck": typecheck.checked }),
      };
      const answer =
        query.wait === undefined
          ? ({ taskId, status } as CreatedTask)
          : await waitAndRead(caller, taskId, query.wait, signal);
      return created ? { status: 201, body: answer, headers } : { status: 200, body: answer, headers };
    },

    async listTasks({ caller, query }) {
      const limit = query.limit ?? DEFAULT_PAGE;
      const mark = readCursor(TimeMark, query.cursor);
      const tasks = await store.listTasks({
        workspaceId: caller.workspaceId,
        status: query.status ?? null,
        actorId: query.actorId ?? null,
        before: mark && { createdAt: mark[0], taskId: mark[1] },
        limit: limit + 1,
      });
      const now = host.now();
      return {
        status: 200,
        body: toPage(
          tasks,
          limit,
          (read) => presentTask(read, now),
          ({ task }) => [task.createdAt, task.taskId],
        ),
      };
    },

    async readTask({ caller, query, param, signal }) {
      const taskId = param("taskId");
      const task = await readTask(caller, taskId);
      return {
        status: 200,
        body: query.wait === undefined ? task : await waitAndRead(caller, taskId, query.wait, signal),
      };
    },

    async listCalls({ caller, query, param }) {
      const taskId = param("taskId");
      const limit = query.limit ?? DEFAULT_PAGE;
      const afterOrdinal = readCursor(NumberMark, query.cursor) ?? -1;
      const calls = await store.listCalls({ taskId, workspaceId: caller.workspaceId, afterOrdinal, limit: limit + 1 });
      if (!calls) throw notFound(taskId);
      return { status: 200, body: toPage(calls, limit, presentCall, (call) => call.ordinal) };
    },

    async cancelTask({ caller, param }) {
      const taskId = param("taskId");
      await store.cancelTask({
        taskId,
        workspaceId: caller.workspaceId,
        by: actorOf(caller),
        onlyOwn: caller.role === "agent",
        now: host.now(),
      });
      return { status: 200, body: await readTask(caller, taskId) };
    },
  };

  async function readTask(caller: Bearer, taskId: string): Promise<Task> {
    const read = await store.readTask({ taskId, workspaceId: caller.workspaceId });
    if (!read) throw notFound(taskId);
    return presentTask(read, host.now());
  }

  async function waitAndRead(caller: Bearer, taskId: string, ms: number, signal: AbortSignal): Promise<Task> {
    await waitForTask(deps, hub, { taskId, ms, signal });
    return await readTask(caller, taskId);
  }
}

const notFound = (taskId: string): AppError =>
  new AppError("task.not_found", `There is no task ${taskId} in this workspace.`);
