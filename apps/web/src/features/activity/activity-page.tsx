/** The audit log, newest first: filtered by what was done and by whom, read a page at a time, exported whole. */
import type { AuditEntry } from "@executor/client";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { executor, explain, keys } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useTitle } from "../shell/title.ts";
import { ACTIONS, sayAction } from "./actions.ts";

const PAGE = 100;

export function ActivityPage() {
  useTitle("Activity");
  const { action, actor } = useSearch({ from: "/activity" });
  const query = useInfiniteQuery({
    queryKey: [...keys.audit, action ?? "", actor ?? ""],
    queryFn: ({ signal, pageParam }) =>
      executor().audit.list(
        {
          limit: PAGE,
          ...(action !== undefined && { action }),
          ...(actor !== undefined && { actorId: actor }),
          ...(pageParam !== "" && { cursor: pageParam }),
        },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextCursor,
    // Most of it is told by no event.
    staleTime: 0,
  });
  const entries = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <div>
      <header className="flex flex-wrap items-end gap-3 border-b border-line px-4 py-3">
        <h1 className="flex-1 basis-full sm:basis-0">Activity</h1>
        <Filters action={action} actor={actor} />
        <ExportButton action={action} actor={actor} />
      </header>
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <Skeleton lines={8} label="Loading the log" />
      ) : entries.length === 0 ? (
        <EmptyState icon="activity" title="Nothing of the kind">
          <p>Every task, call, decision and change is written here when it happens, and never altered.</p>
        </EmptyState>
      ) : (
        <>
          <ol aria-label="What happened, newest first" className="mx-auto max-w-5xl divide-y divide-line p-4">
            {entries.map((entry) => (
              <Entry key={entry.auditId} entry={entry} />
            ))}
          </ol>
          {query.hasNextPage && (
            <div className="pb-6 text-center">
              <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                {query.isFetchingNextPage ? "Loading …" : "Show earlier ones"}
              </Button>
            </div>
          )}
        </>
      )}
    </div>
  );
}

interface Filter {
  action: string | undefined;
  actor: string | undefined;
}

function Filters({ action, actor }: Filter) {
  const navigate = useNavigate({ from: "/activity" });
  const set = (change: { action?: string; actor?: string }) => {
    const next = { ...(action !== undefined && { action }), ...(actor !== undefined && { actor }), ...change };
    const search = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== ""));
    void navigate({ search, replace: true });
  };
  return (
    <>
      <Select label="What" value={action ?? ""} onChange={({ target }) => set({ action: target.value })}>
        <option value="">everything</option>
        {Object.entries(ACTIONS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </Select>
      <TextField
        label="Actor"
        placeholder="anyone"
        className="font-mono"
        key={actor ?? ""}
        defaultValue={actor ?? ""}
        onBlur={({ target }) => target.value.trim() !== (actor ?? "") && set({ actor: target.value.trim() })}
        onKeyDown={(event) => event.key === "Enter" && set({ actor: event.currentTarget.value.trim() })}
      />
    </>
  );
}

function ExportButton({ action, actor }: Filter) {
  const save = useMutation({
    mutationFn: async () => {
      const filter = { ...(action !== undefined && { action }), ...(actor !== undefined && { actorId: actor }) };
      const lines: string[] = [];
      for await (const entry of executor().audit.each({ ...filter, limit: 200 }))
        lines.push(`${JSON.stringify(entry)}\n`);
      const url = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = "executor-activity.ndjson";
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
      return lines.length;
    },
    onSuccess: (count) => showToast({ text: `${count.toLocaleString("en")} entries saved.` }),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
  });
  return (
    <Button disabled={save.isPending} onClick={() => save.mutate()}>
      {save.isPending ? "Exporting …" : "Export"}
    </Button>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const { action, actorId, clientId, at, subject, detail } = entry;
  const hasDetail = Object.keys(detail).length > 0;
  return (
    <li className="py-2">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
        <span className="font-medium">{sayAction(action)}</span>
        <Subject subject={subject} />
        <span className="flex-1" />
        <span className="text-sm text-muted">
          <TimeAgo at={at} />
        </span>
      </div>
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>
          by{" "}
          <Link to="/activity" search={{ actor: actorId }} className="font-mono break-all underline">
            {actorId}
          </Link>
        </span>
        <span className="font-mono break-all">{clientId}</span>
      </p>
      {hasDetail && (
        <details className="mt-1">
          <summary className="text-sm text-accent">
            {`Details${typeof detail["toolPath"] === "string" ? ": " : ""}`}
            {typeof detail["toolPath"] === "string" && <Untrusted text={detail["toolPath"]} className="font-mono" />}
          </summary>
          <div className="mt-1 rounded-md bg-sunken p-2">
            <JsonTree value={detail} label="Details" />
          </div>
        </details>
      )}
    </li>
  );
}

function Subject({ subject }: { subject: string }) {
  const look = "font-mono text-sm break-all";
  if (subject.startsWith("task_"))
    return (
      <Link to="/tasks/$taskId" params={{ taskId: subject }} className={`${look} text-accent underline`}>
        {subject}
      </Link>
    );
  if (subject.startsWith("source_"))
    return (
      <Link to="/sources/$sourceId" params={{ sourceId: subject }} className={`${look} text-accent underline`}>
        {subject}
      </Link>
    );
  return <Untrusted text={subject} className={`${look} text-muted`} />;
}
