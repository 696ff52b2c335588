/** Tasks, their calls and their events, kept true by the workspace's events. */
import type { Call, Task, TaskEvent, TaskFilter } from "@executor/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";

const PAGE = 50;
/** A task may make ten thousand calls; past this a note says that there are more. */
export const MAX_CALLS = 1_000;

type Filter = Pick<TaskFilter, "status" | "actorId">;

export const tasksQuery = (filter: Filter) =>
  infiniteQueryOptions({
    queryKey: [...keys.tasks, filter],
    queryFn: ({ signal, pageParam }) =>
      executor().tasks.list({ limit: PAGE, ...filter, ...(pageParam !== "" && { cursor: pageParam }) }, { signal }),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor,
  });

export const taskQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.task(taskId),
    queryFn: ({ signal }): Promise<Task> => executor().tasks.get(taskId, { signal }),
  });

export const callsQuery = (taskId: string) =>
  queryOptions({
    queryKey: keys.calls(taskId),
    queryFn: async ({ signal }): Promise<readonly Call[]> => {
      const found: Call[] = [];
      for await (const call of executor().tasks.eachCall(taskId, { limit: 200 }, { signal })) {
        found.push(call);
        if (found.length >= MAX_CALLS) break;
      }
      return found;
    },
  });

const LOADED_AGAIN_MS = 300;
let listTimer: ReturnType<typeof setTimeout> | undefined;

export function takeNews(events: readonly TaskEvent[]): void {
  const about = new Map<string, Set<string>>();
  for (const { taskId, type } of events) {
    if (taskId === undefined || type === "task.stdout" || type === "task.stderr") continue;
    const heads = about.get(taskId) ?? new Set<string>();
    about.set(taskId, heads.add(type.startsWith("tool.call.") ? "calls" : "task"));
  }
  for (const [taskId, heads] of about) {
    void queryClient.invalidateQueries({ queryKey: keys.calls(taskId) });
    if (heads.has("task")) void queryClient.invalidateQueries({ queryKey: keys.task(taskId) });
  }
  if (![...about.values()].some((heads) => heads.has("task"))) return;
  // The list is one read for however many tasks changed, and not more than a few a second.
  listTimer ??= setTimeout(() => {
    listTimer = undefined;
    void refreshList();
  }, LOADED_AGAIN_MS);
}

/** Only its first page, where news arrives, and tasks further down that are known to be open. */
async function refreshList(): Promise<void> {
  for (const [queryKey, data] of queryClient.getQueriesData<ListData>({ queryKey: keys.tasks })) {
    const isLong = (data?.pages.length ?? 0) > 3;
    if (isLong) await refreshFirstPage(queryKey);
    else await queryClient.invalidateQueries({ queryKey });
  }
}

interface ListData {
  pages: { items: Task[]; nextCursor?: string }[];
  pageParams: string[];
}

async function refreshFirstPage(queryKey: readonly unknown[]): Promise<void> {
  const fresh = await executor().tasks.list({ limit: PAGE, ...(queryKey.at(-1) as Filter) });
  const known = new Map(fresh.items.map((task) => [task.taskId, task]));
  queryClient.setQueryData<ListData>(queryKey, (old) => {
    if (!old) return old;
    const rest = old.pages.flatMap(({ items }) => items.filter(({ taskId }) => !known.has(taskId)));
    const last = old.pages.at(-1);
    const page = { items: [...fresh.items, ...rest], ...(last?.nextCursor && { nextCursor: last.nextCursor }) };
    return { pages: [page], pageParams: [""] };
  });
}
