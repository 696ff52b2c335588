/** One source: how it is, its tools, what changed, its document; and what may be done with it. */
import type { Source } from "@executor/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { executor, explain, keys, queryClient } from "../../api.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, buttonLook } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Icon } from "../../ui/icon.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { showToast } from "../../ui/toast.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useRole } from "../shell/role.ts";
import { useTitle } from "../shell/title.ts";
import { Health, Reading, TYPES } from "./health.tsx";
import { sourceQuery } from "./queries.ts";
import { SourceTools } from "./source-tools.tsx";

const Changes = lazy(async () => ({ default: (await import("./changes.tsx")).Changes }));
const DocumentView = lazy(async () => ({ default: (await import("./document-view.tsx")).DocumentView }));

export function SourceDetail() {
  const { sourceId } = useParams({ from: "/sources/$sourceId" });
  const query = useQuery(sourceQuery(sourceId));
  useTitle(query.data?.name ?? "Source");
  if (query.isError && !query.data) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton lines={8} label="Loading the source" />;
  const source = query.data;
  const waiting = <Skeleton lines={4} />;
  return (
    <div className="flex min-h-full flex-col lg:h-full">
      <Head source={source} />
      <Tabs
        fills
        label="Parts of the source"
        tabs={[
          {
            id: "tools",
            label: `Tools (${source.toolCount.toLocaleString("en")})`,
            content: <SourceTools source={source} />,
          },
          {
            id: "changes",
            label: "Changes",
            content: (
              <Suspense fallback={waiting}>
                <Changes source={source} />
              </Suspense>
            ),
          },
          {
            id: "warnings",
            label: `Warnings (${source.warnings.length})`,
            content: <Warnings warnings={source.warnings} />,
          },
          {
            id: "document",
            label: "Document",
            content: (
              <Suspense fallback={waiting}>
                <DocumentView sourceId={sourceId} />
              </Suspense>
            ),
          },
          { id: "about", label: "Settings", content: <About source={source} /> },
        ]}
      />
    </div>
  );
}

function Head({ source }: { source: Source }) {
  const { name, type, namespace, indexedAt, lastError, title } = source;
  return (
    <header className="flex flex-col gap-2 p-4">
      <div className="flex flex-wrap items-start gap-3">
        <Link to="/sources" aria-label="All sources" className={buttonLook("quiet", "w-8 px-0")}>
          <Icon name="left" />
        </Link>
        <div className="min-w-0 flex-1 basis-64">
          <h1 className="flex flex-wrap items-center gap-2">
            <Untrusted text={name} /> <Badge>{TYPES[type]}</Badge> <Health source={source} />
          </h1>
          <p className="mt-1 flex flex-wrap gap-x-4 text-sm text-muted">
            <span className="font-mono">{`tools.${namespace}`}</span>
            {title !== undefined && title !== name && <Untrusted text={title} />}
            {indexedAt !== undefined && (
              <span>
                read <TimeAgo at={indexedAt} />
              </span>
            )}
          </p>
        </div>
        <Actions source={source} />
      </div>
      <Reading source={source} />
      {lastError && (
        <div role="alert" className="rounded-lg bg-bad-soft p-3 text-bad">
          <p>
            <Untrusted text={lastError.message} />
          </p>
          <p className="mt-1 text-sm">
            <TimeAgo at={lastError.at} />.{" "}
            {source.toolCount > 0
              ? "The tools as they were last read stay in use; it is tried again by itself."
              : "It is tried again by itself, later and later; Refresh tries at once."}
          </p>
        </div>
      )}
    </header>
  );
}

function Actions({ source }: { source: Source }) {
  const { sourceId, origin } = source;
  const [isRemoving, setRemoving] = useState(false);
  const mayChange = useRole("admin");
  const refresh = useMutation({
    mutationFn: () => executor().sources.refresh(sourceId),
    onSuccess: (read) => queryClient.setQueryData(sourceQuery(sourceId).queryKey, read),
    onError: (error) => showToast({ text: explain(error), tone: "bad" }),
  });
  if (!mayChange) return null;
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        icon="again"
        onClick={() => refresh.mutate()}
        disabled={refresh.isPending || source.progress !== undefined}
      >
        Refresh
      </Button>
      {origin === "workspace" && (
        <>
          <Link to="/sources/$sourceId/edit" params={{ sourceId }} className={buttonLook()}>
            Settings
          </Link>
          <Button onClick={() => setRemoving(true)}>Remove …</Button>
        </>
      )}
      {isRemoving && <Remove source={source} onClose={() => setRemoving(false)} />}
    </div>
  );
}

function Remove({ source: { sourceId, name, toolCount }, onClose }: { source: Source; onClose: () => void }) {
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () => executor().sources.remove(sourceId),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: keys.sources });
      void queryClient.invalidateQueries({ queryKey: keys.tools });
      void navigate({ to: "/sources" });
    },
  });
  return (
    <Dialog open onClose={onClose} title="Remove the source">
      <div className="flex flex-col gap-4">
        <p>
          <Untrusted text={name} className="font-semibold" /> goes with its {toolCount.toLocaleString("en")} tools, and
          its credentials are forgotten. Tasks that use them fail from then on. Policies stay.
        </p>
        {remove.isError && (
          <p role="alert" className="text-bad">
            <Untrusted text={explain(remove.error)} />
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" onClick={() => remove.mutate()} disabled={remove.isPending}>
            Remove
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return <p className="p-4 text-muted">Everything in the document was understood.</p>;
  return (
    <ul className="mx-auto flex max-w-4xl list-disc flex-col gap-1 p-4 pl-9">
      {warnings.map((warning) => (
        <li key={warning}>
          <Untrusted text={warning} />
        </li>
      ))}
    </ul>
  );
}

function About({ source }: { source: Source }) {
  const { url, spec, baseUrl, command, transport, auth, origin, createdAt } = source;
  const approvals = (value: string | undefined): string =>
    value === undefined ? "as the source says" : value === "auto" ? "run at once" : "ask a person";
  const facts: [string, string | undefined][] = [
    ["Address", url],
    ["Document", spec],
    ["Base URL", baseUrl],
    ["Command", command],
    ["Transport", transport],
    [
      "Credential",
      auth === undefined
        ? "none"
        : `${auth.type}, ${auth.mode === "actor" ? "everyone their own" : auth.mode === "static" ? "part of the source" : "one for the workspace"}`,
    ],
    ["Calls that only read", approvals(source.defaultReadApproval ?? source.defaultApproval)],
    ["Calls that change something", approvals(source.defaultWriteApproval ?? source.defaultApproval)],
    ["Set up", origin === "env" ? "by EXECUTOR_TOOL_SOURCES; it is changed there" : "in this workspace"],
    ["Since", new Date(createdAt).toLocaleString()],
  ];
  return (
    <dl className="mx-auto grid max-w-4xl gap-x-6 gap-y-2 p-4 sm:grid-cols-[auto_1fr]">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0">
                <Untrusted
                  text={value}
                  className={/^(Address|Document|Base URL|Command)$/.test(name) ? "font-mono text-sm" : ""}
                />
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
