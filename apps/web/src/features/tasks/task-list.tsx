/** Tasks, newest first, live. Only what is in view is drawn, and the next page is read when its end comes near. */
import type { Task } from "@executor/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { session } from "../../session.ts";
import { useStore } from "../../store.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonLook } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { sayDuration, TimeAgo } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { tasksQuery } from "./queries.ts";
import { STATUSES, type TaskStatus } from "./status.ts";

export function TaskList() {
  useTitle("Tasks");
  const { status, mine } = useSearch({ from: "/tasks" });
  const who = useStore(session);
  const actorId = mine && who.kind === "ready" ? who.me.actorId : undefined;
  const query = useInfiniteQuery(tasksQuery({ ...(status && { status }), ...(actorId !== undefined && { actorId }) }));
  const tasks = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <div className="flex h-full flex-col">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3">
        <h1 className="flex-1">Tasks</h1>
        <MineFilter isMine={mine === true} />
        <StatusFilter status={status} />
        <Link to="/tasks/new" className={buttonLook("primary")}>
          <Icon name="plus" /> New task
        </Link>
      </header>
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <Skeleton lines={8} label="Loading tasks" />
      ) : tasks.length === 0 ? (
        <NoTasks isFiltered={status !== undefined || mine === true} />
      ) : (
        <Rows
          tasks={tasks}
          onEnd={() => query.hasNextPage && !query.isFetchingNextPage && void query.fetchNextPage()}
          hasMore={query.hasNextPage}
        />
      )}
    </div>
  );
}

function StatusFilter({ status }: { status: TaskStatus | undefined }) {
  const navigate = useNavigate({ from: "/tasks" });
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      Status
      <select
        className="min-h-8 rounded-md border border-line-strong bg-surface px-2 text-fg"
        value={status ?? ""}
        onChange={({ target }) =>
          void navigate({
            search: ({ status: _, ...rest }) =>
              target.value === "" ? rest : { ...rest, status: target.value as TaskStatus },
            replace: true,
          })
        }
      >
        <option value="">any</option>
        {Object.entries(STATUSES).map(([value, { label }]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

function MineFilter({ isMine }: { isMine: boolean }) {
  const navigate = useNavigate({ from: "/tasks" });
  return (
    <label className="flex items-center gap-2 text-sm text-muted">
      <input
        type="checkbox"
        checked={isMine}
        onChange={({ target }) =>
          void navigate({
            search: ({ mine: _, ...rest }) => (target.checked ? { ...rest, mine: true } : rest),
            replace: true,
          })
        }
      />
      Only mine
    </label>
  );
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState icon="tasks" title="No such tasks">
        <p>No task fits what is chosen above just now.</p>
        <Link to="/tasks" className={buttonLook()}>
          Show all
        </Link>
      </EmptyState>
    );
  return (
    <EmptyState icon="tasks" title="No tasks yet">
      <p>
        A task is a small TypeScript program. It runs in a sandbox in which the tools you connect are all it can reach.
      </p>
      <Link to="/tasks/new" className={buttonLook("primary")}>
        Write the first one
      </Link>
    </EmptyState>
  );
}

const ROW_PX = 61;

function Rows({ tasks, onEnd, hasMore }: { tasks: Task[]; onEnd: () => void; hasMore: boolean }) {
  const scroller = useRef<HTMLDivElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- the React compiler is not used here
  const virtual = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: (at) => tasks[at]?.taskId ?? at,
  });
  const shown = virtual.getVirtualItems();
  const lastAt = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastAt >= tasks.length - 15) onEnd();
  }, [lastAt, tasks.length, onEnd]);
  return (
    <div ref={scroller} className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
      <ul style={{ height: virtual.getTotalSize() }} className="relative" aria-label="Tasks">
        {shown.map(({ index, key, start }) => {
          const task = tasks[index];
          return (
            task && (
              <li
                key={key}
                style={{ transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 top-0"
                aria-setsize={hasMore ? -1 : tasks.length}
                aria-posinset={index + 1}
              >
                <TaskRow task={task} />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

function TaskRow({ task }: { task: Task }) {
  const { label, tone } = STATUSES[task.status];
  return (
    <Link
      to="/tasks/$taskId"
      params={{ taskId: task.taskId }}
      className="flex h-[61px] items-center gap-3 border-b border-line px-4 -outline-offset-2 hover:bg-sunken"
    >
      <span className="min-w-0 flex-1">
        <Untrusted text={firstLine(task.code)} className="block truncate font-mono text-sm" />
        <span className="flex gap-2 text-xs text-muted">
          <TimeAgo at={task.createdAt} />
          <span>
            {task.counts.calls} {task.counts.calls === 1 ? "call" : "calls"}
          </span>
          <span className="tabular-nums max-sm:hidden">ran {sayDuration(task.runMs)}</span>
          {task.waitMs > 1_000 && <span className="tabular-nums max-sm:hidden">waited {sayDuration(task.waitMs)}</span>}
        </span>
      </span>
      {task.error && task.error.code !== `task.${task.status}` && (
        <Untrusted text={task.error.code} className="truncate text-xs text-bad max-md:hidden" />
      )}
      <Badge tone={tone}>{label}</Badge>
    </Link>
  );
}

/** The first line that does something. */
function firstLine(code: string): string {
  const lines = code.slice(0, 2_000).split("\n");
  return (lines.find((line) => line.trim() !== "" && !/^\s*(\/\/|\/\*|\*)/.test(line)) ?? lines[0] ?? "")
    .trim()
    .slice(0, 160);
}
