/** A JSON value in full: as a form to read, and as the JSON that is sent. */
import { useMemo, useState } from "react";
import { CodeView } from "./code-view.tsx";
import { JsonTree } from "./json-tree.tsx";
import { Part } from "./part.tsx";
import { LongText, Untrusted } from "./untrusted.tsx";
import { toVisibleJson } from "./visible.ts";

const BIG = 200_000;

interface ValuePartProps {
  title: string;
  value: unknown;
}

/** As a part of a page with its own title; a switch turns all of it into JSON. */
export function ValuePart({ title, value }: ValuePartProps) {
  const [isJson, setJson] = useState(false);
  return (
    <Part
      title={title}
      aside={
        <button
          type="button"
          aria-pressed={isJson}
          aria-label={`${title} as JSON`}
          onClick={() => setJson(!isJson)}
          className={`rounded-md border px-2 text-xs font-medium ${isJson ? "border-accent bg-accent-soft text-accent" : "border-line text-muted hover:text-fg"}`}
        >
          JSON
        </button>
      }
    >
      {isJson ? <Raw value={value} label={title} /> : <Readable value={value} label={title} />}
    </Part>
  );
}

function Readable({ value, label }: { value: unknown; label: string }) {
  const isFlat = typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = isFlat ? Object.entries(value) : [];
  if (isFlat && entries.length === 0) return <p className="p-4 text-muted">No input.</p>;
  if (!isFlat || entries.length > 60)
    return (
      <div className="p-3">
        <JsonTree value={value} label={label} />
      </div>
    );
  return (
    <dl className="divide-y divide-line">
      {entries.map(([name, each]) => (
        <div key={name} className="grid gap-x-4 px-4 py-1.5 sm:grid-cols-[minmax(6rem,11rem)_1fr]">
          <dt className="text-muted">
            <Untrusted text={name} className="font-mono text-sm" />
          </dt>
          <dd className="min-w-0">
            <Value value={each} label={name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value, label }: { value: unknown; label: string }) {
  if (typeof value === "string")
    return value === "" ? <span className="text-muted">empty text</span> : <LongText text={value} />;
  if (typeof value === "object" && value !== null) return <JsonTree value={value} label={label} />;
  return <span className="font-mono text-code-number">{String(value)}</span>;
}

export function Raw({ value, label }: { value: unknown; label: string }) {
  const json = useMemo(() => toVisibleJson(value), [value]);
  return (
    <div className="p-3">
      {json.length > BIG ? (
        <LongText text={json} className="font-mono text-sm" />
      ) : (
        <CodeView code={json} label={`${label} as JSON`} />
      )}
    </div>
  );
}
