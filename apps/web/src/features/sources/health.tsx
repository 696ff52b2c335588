/** How a source is, in a word; and how far a reading has come. */
import type { Source } from "@executor/client";
import { Badge, type Tone } from "../../ui/badge.tsx";

export const TYPES: Record<Source["type"], string> = { openapi: "OpenAPI", graphql: "GraphQL", mcp: "MCP" };

const HEALTH: Record<Source["health"], { label: string; tone: Tone }> = {
  ok: { label: "healthy", tone: "ok" },
  indexing: { label: "being read", tone: "accent" },
  failing: { label: "failing", tone: "bad" },
};

export function Health({ source }: { source: Source }) {
  const { label, tone } = HEALTH[source.health];
  return (
    <span className="inline-flex items-center gap-1.5">
      <Badge tone={tone}>{label}</Badge>
      {source.warnings.length > 0 && (
        <Badge tone="warn">{`${source.warnings.length} ${source.warnings.length === 1 ? "warning" : "warnings"}`}</Badge>
      )}
    </span>
  );
}

const PHASES: Record<NonNullable<Source["progress"]>["phase"], string> = {
  fetching: "Fetching",
  parsing: "Parsing",
  indexing: "Making tools",
  storing: "Storing",
};
const ORDER = Object.keys(PHASES);

/** Nothing while nothing is read. */
export function Reading({ source: { progress } }: { source: Source }) {
  if (!progress) return null;
  const { phase, done, total } = progress;
  const within = done !== undefined && total ? Math.min(1, done / total) : 0;
  const share = (ORDER.indexOf(phase) + within) / ORDER.length;
  const detail =
    done !== undefined && total !== undefined ? ` ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : "";
  return (
    <div className="flex items-center gap-3 text-sm text-muted">
      <progress className="progress h-1.5 w-32" max={1} value={Math.max(0.05, share)} aria-label="Reading the source" />
      <span className="tabular-nums">{`${PHASES[phase]}${detail} …`}</span>
    </div>
  );
}
