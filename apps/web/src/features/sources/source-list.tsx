/** Every source this workspace sees, and how each is. */
import type { Source } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { buttonLook } from "../../ui/button.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Icon } from "../../ui/icon.tsx";
import { EmptyState, ErrorState, Skeleton } from "../../ui/states.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { useRole } from "../shell/role.ts";
import { useTitle } from "../shell/title.ts";
import { Health, Reading, TYPES } from "./health.tsx";
import { sourcesQuery } from "./queries.ts";

export function SourceList() {
  useTitle("Sources");
  const query = useQuery(sourcesQuery);
  return (
    <div>
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3">
        <h1 className="flex-1">Sources</h1>
        <AddLink />
      </header>
      {query.isError && !query.data ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !query.data ? (
        <Skeleton lines={6} label="Loading sources" />
      ) : query.data.length === 0 ? (
        <EmptyState icon="plug" title="No sources yet">
          <p>
            A source is an API that tasks may use: an OpenAPI document, a GraphQL endpoint or an MCP server. Each of its
            operations becomes a typed tool; reading is free, everything else asks you first.
          </p>
          <AddLink />
        </EmptyState>
      ) : (
        <ul aria-label="Sources" className="mx-auto flex max-w-5xl flex-col gap-3 p-4">
          {query.data.map((source) => (
            <li key={source.sourceId}>
              <SourceCard source={source} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function AddLink() {
  if (!useRole("admin")) return null;
  return (
    <Link to="/sources/add" className={buttonLook("primary")}>
      <Icon name="plus" /> Add a source
    </Link>
  );
}

function SourceCard({ source }: { source: Source }) {
  const { sourceId, name, namespace, type, toolCount, lastError, indexedAt, origin } = source;
  return (
    <Link
      to="/sources/$sourceId"
      params={{ sourceId }}
      className="panel flex flex-col gap-2 p-4 hover:border-line-strong"
    >
      <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Untrusted text={name} className="text-lg font-semibold" />
        <Badge>{TYPES[type]}</Badge>
        <Health source={source} />
        <span className="flex-1" />
        <span className="text-sm tabular-nums">
          {toolCount.toLocaleString("en")} {toolCount === 1 ? "tool" : "tools"}
        </span>
      </span>
      <span className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
        <span className="font-mono">{`tools.${namespace}`}</span>
        {indexedAt !== undefined && (
          <span>
            read <TimeAgo at={indexedAt} />
          </span>
        )}
        {origin === "env" && <span>set up by the installation</span>}
      </span>
      <Reading source={source} />
      {lastError && <Untrusted text={lastError.message} className="text-sm text-bad" />}
    </Link>
  );
}
