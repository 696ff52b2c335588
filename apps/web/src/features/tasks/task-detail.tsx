/** One task, live: how it stands, what it waits for, what it gave, what it called and printed, its code. */
import { isEndedStatus, type Task } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { baseUrl, executor, explain, keys, queryClient } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonLook, IconButton } from "../../ui/button.tsx";
import { CodeView } from "../../ui/code-view.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Raw } from "../../ui/value-view.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { sayDuration, TimeAgo, useNow } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { Part } from "../../ui/part.tsx";
import { useTitle } from "../shell/title.ts";
import { callsQuery, taskQuery } from "./queries.ts";
import { toCurl, toSdk } from "./snippets.ts";
import { STATUSES } from "./status.ts";
import { TaskLogView } from "./task-log-view.tsx";
import { Waterfall } from "./waterfall.tsx";

export function TaskDetail() {
  const { taskId } = useParams({ from: "/tasks/$taskId" });
  useTitle("Task");
  const task = useQuery(taskQuery(taskId));
  const calls = useQuery(callsQuery(taskId));
  if (task.isError && !task.data) return <ErrorState error={task.error} onRetry={() => void task.refetch()} />;
  if (!task.data) return <Skeleton lines={8} label="Loading the task" />;
  return (
    <article className="mx-auto flex max-w-5xl flex-col gap-4 p-4">
      <Head task={task.data} />
      <WaitsFor task={task.data} />
      <Outcome task={task.data} />
      <Part title="Calls" aside={<Badge>{task.data.counts.calls}</Badge>}>
        {calls.data ? (
          <Waterfall calls={calls.data} total={task.data.counts.calls} />
        ) : (
          <Skeleton lines={3} label="Loading the calls" />
        )}
      </Part>
      <Part
        title="Printed"
        aside={<Badge>{task.data.counts.outputLines === 1 ? "1 line" : `${task.data.counts.outputLines} lines`}</Badge>}
      >
        <TaskLogView taskId={taskId} />
      </Part>
      <Part title="Code">
        <div className="p-3">
          <CodeView
            code={task.data.code}
            label="Code of the task"
            {...(task.data.error?.line !== undefined && { markedLines: [task.data.error.line] })}
            markMeans="the error came from here"
          />
        </div>
      </Part>
    </article>
  );
}

function Head({ task }: { task: Task }) {
  const { label, tone } = STATUSES[task.status];
  return (
    <header className="flex flex-wrap items-start gap-3">
      <Link to="/tasks" aria-label="All tasks" className={buttonLook("quiet", "w-8 px-0")}>
        <Icon name="left" />
      </Link>
      <div className="min-w-0 flex-1 basis-64">
        <h1 className="flex flex-wrap items-center gap-2">
          Task <Badge tone={tone}>{label}</Badge>
        </h1>
        <p className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 text-sm text-muted">
          <span className="font-mono break-all">{task.taskId}</span>
          <TimeAgo at={task.createdAt} />
          <span className="tabular-nums">ran {sayDuration(task.runMs)}</span>
          <Waited task={task} />
          <span>{task.runtimeId}</span>
        </p>
      </div>
      <TaskActions task={task} />
    </header>
  );
}

function Waited({ task }: { task: Task }) {
  const now = useNow();
  const since = task.status === "waiting" ? task.pending[0]?.createdAt : undefined;
  const ms = since === undefined ? task.waitMs : Math.max(task.waitMs, now - Date.parse(since));
  return ms < 1_000 ? null : <span className="tabular-nums">waited {sayDuration(ms)} for people</span>;
}

function TaskActions({ task }: { task: Task }) {
  const cancel = useMutation({
    mutationFn: () => executor().tasks.cancel(task.taskId),
    onSuccess: (cancelled) => queryClient.setQueryData(keys.task(task.taskId), cancelled),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
  });
  const copy = (text: string) => async () => {
    try {
      await navigator.clipboard.writeText(text);
      showToast({ text: "Copied. Put your own token where it says EXECUTOR_TOKEN.", forMs: 3_000 });
    } catch {
      showToast({ text: "The browser does not let this page copy.", tone: "bad" });
    }
  };
  return (
    <div className="flex flex-wrap gap-2">
      {!isEndedStatus(task.status) && (
        <Button icon="stop" onClick={() => cancel.mutate()} disabled={cancel.isPending}>
          Cancel
        </Button>
      )}
      <Link to="/tasks/new" search={{ from: task.taskId }} className={buttonLook()}>
        <Icon name="again" /> Run again as new
      </Link>
      <Menu
        trigger={<IconButton icon="more" label="More" />}
        items={[
          { label: "Copy as curl", icon: "copy", run: () => void copy(toCurl(task, baseUrl))() },
          { label: "Copy as SDK", icon: "copy", run: () => void copy(toSdk(task, baseUrl))() },
        ]}
      />
    </div>
  );
}

function WaitsFor({ task: { pending } }: { task: Task }) {
  if (pending.length === 0) return null;
  return (
    <section aria-label="Waits for" className="rounded-lg bg-warn-soft p-3 text-warn">
      <h2 className="mb-1 text-base">Waits for a person</h2>
      <ul className="flex flex-col gap-1">
        {pending.slice(0, 10).map(({ interactionId, kind, title }) => (
          <li key={interactionId}>
            {kind === "approval" ? (
              <Link to="/" search={{ selected: interactionId }} className="underline">
                <Untrusted text={title} />
              </Link>
            ) : (
              <Link to="/interactions/$interactionId" params={{ interactionId }} className="underline">
                <Untrusted text={title} />
              </Link>
            )}
          </li>
        ))}
        {pending.length > 10 && <li>and {pending.length - 10} more</li>}
      </ul>
    </section>
  );
}

function Outcome({ task: { status, result, error } }: { task: Task }) {
  if (error)
    return (
      <section aria-label="Error" className="rounded-lg bg-bad-soft p-3 text-bad">
        <h2 className="font-mono text-base">
          <Untrusted text={error.code} />
        </h2>
        <p className="whitespace-pre-wrap">
          <Untrusted text={error.message.slice(0, 20_000)} />
        </p>
        <p className="mt-1 flex flex-wrap gap-x-4 text-sm">
          {error.line !== undefined && <span>line {error.line}</span>}
          {error.toolPath !== undefined && <Untrusted text={error.toolPath} className="font-mono" />}
        </p>
      </section>
    );
  if (status !== "completed") return null;
  return (
    <Part title="Result">
      <Tabs
        label="Result"
        tabs={[
          {
            id: "tree",
            label: "Tree",
            content: (
              <div className="p-3">
                <JsonTree value={result} label="Result" />
              </div>
            ),
          },
          { id: "raw", label: "Raw", content: <Raw value={result} label="Result" /> },
        ]}
      />
    </Part>
  );
}
