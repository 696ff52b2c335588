/** The tools of a source: a tree by name, or a search by intent; one of them beside it. */
import type { Source } from "@executor/client";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { Badge } from "../../ui/badge.tsx";
import { ErrorState, Skeleton } from "../../ui/states.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { foundToolsQuery, toolNamesQuery } from "./queries.ts";
import { ToolPanel } from "./tool-panel.tsx";
import { ToolTree } from "./tool-tree.tsx";

export function SourceTools({ source: { namespace, progress, toolCount } }: { source: Source }) {
  const names = useQuery(toolNamesQuery(namespace));
  const { tool } = useSearch({ from: "/sources/$sourceId" });
  const navigate = useNavigate({ from: "/sources/$sourceId" });
  const [intent, setIntent] = useState("");
  const wanted = useDeferredValue(intent.trim());
  const select = (path?: string) => void navigate({ search: path === undefined ? {} : { tool: path }, replace: true });
  if (names.isError && !names.data) return <ErrorState error={names.error} onRetry={() => void names.refetch()} />;
  if (!names.data) return <Skeleton lines={8} label="Loading the tools" />;
  if (names.data.total === 0)
    return (
      <p className="p-4 text-muted">
        {progress
          ? "The tools appear when the source has been read."
          : toolCount > 0
            ? "Policies deny all of its tools."
            : "It has no tools."}
      </p>
    );
  return (
    <div className="grid lg:h-full lg:min-h-96 lg:grid-cols-[minmax(18rem,26rem)_1fr] lg:grid-rows-1">
      <section
        aria-label="Find a tool"
        className={`flex h-[calc(100dvh-13rem)] min-h-96 flex-col border-line lg:h-full lg:min-h-0 lg:border-r ${tool === undefined ? "" : "max-lg:hidden"}`}
      >
        <div className="border-b border-line p-2">
          <input
            type="search"
            aria-label="Search by intent"
            placeholder="What should it do? e.g. invite a user"
            className="w-full rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-base text-fg placeholder:text-muted"
            value={intent}
            onChange={({ target }) => setIntent(target.value)}
          />
        </div>
        {wanted === "" ? (
          <div className="min-h-0 flex-1">
            <ToolTree tools={names.data.items} selected={tool} onSelect={select} />
          </div>
        ) : (
          <Found namespace={namespace} query={wanted} selected={tool} onSelect={select} />
        )}
        {names.data.total > names.data.items.length && (
          <p className="border-t border-line p-2 text-xs text-muted">
            {`The first ${names.data.items.length.toLocaleString("en")} of ${names.data.total.toLocaleString("en")}; searching finds all.`}
          </p>
        )}
      </section>
      <div className={`min-w-0 lg:min-h-0 lg:overflow-auto ${tool === undefined ? "max-lg:hidden" : ""}`}>
        {tool === undefined ? (
          <p className="p-6 text-muted">Choose a tool to see what it takes and what it gives.</p>
        ) : (
          <ToolPanel path={tool} onBack={() => select()} />
        )}
      </div>
    </div>
  );
}

interface FoundProps {
  namespace: string;
  query: string;
  selected: string | undefined;
  onSelect: (path: string) => void;
}

function Found({ namespace, query, selected, onSelect }: FoundProps) {
  const found = useQuery(foundToolsQuery(namespace, query.slice(0, 1_000)));
  if (found.isError) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (!found.data) return <Skeleton lines={5} label="Searching" />;
  const { items, bestPath } = found.data;
  if (items.length === 0) return <p className="p-4 text-muted">Nothing here does that.</p>;
  return (
    <ol aria-label="Found tools" className="min-h-0 flex-1 overflow-auto">
      {items.map((tool) => (
        <li key={tool.path}>
          <button
            type="button"
            aria-current={tool.path === selected}
            onClick={() => onSelect(tool.path)}
            className={`flex w-full flex-col items-start gap-0.5 border-b border-line px-3 py-2 text-left -outline-offset-2 hover:bg-sunken ${tool.path === selected ? "bg-accent-soft" : ""}`}
          >
            <span className="flex w-full items-center gap-2">
              <Untrusted text={tool.path} className="min-w-0 flex-1 font-mono text-sm" />
              {tool.path === bestPath && <Badge tone="ok">best</Badge>}
            </span>
            <Untrusted text={tool.description.slice(0, 140)} className="text-sm text-muted" />
          </button>
        </li>
      ))}
    </ol>
  );
}
