/** A JSON value to read and fold. Keys and strings are other people's text. Wide and deep values are drawn as they are opened. */
import { useState } from "react";
import { Icon } from "./icon.tsx";
import { LongText, Untrusted } from "./untrusted.tsx";

const OPEN_DEPTH = 2;
const STEP = 100;

export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <div role="group" aria-label={label} className="font-mono text-sm leading-6">
      <Node value={value} depth={0} />
    </div>
  );
}

function Node({ name, value, depth }: { name?: string; value: unknown; depth: number }) {
  const entries = entriesOf(value);
  if (!entries) {
    return (
      <div className="pl-5">
        {name !== undefined && <Key name={name} />}
        <Leaf value={value} />
      </div>
    );
  }
  return <Branch name={name} entries={entries} isArray={Array.isArray(value)} depth={depth} />;
}

interface BranchProps {
  name: string | undefined;
  entries: [string, unknown][];
  isArray: boolean;
  depth: number;
}

function Branch({ name, entries, isArray, depth }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH && entries.length > 0 && entries.length <= STEP);
  const [shown, setShown] = useState(STEP);
  const size = isArray ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex max-w-full items-center gap-1 rounded text-left hover:bg-accent-soft"
      >
        <Icon name={isOpen ? "down" : "right"} className="size-4 text-muted" />
        <span className="min-w-0">
          {name !== undefined && <Key name={name} />}
          <span className="text-muted">{size}</span>
        </span>
      </button>
      {isOpen && (
        <div className="ml-2 border-l border-line pl-2">
          {entries.slice(0, shown).map(([key, child]) => (
            <Node key={key} name={key} value={child} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className="ml-5 text-accent" onClick={() => setShown(shown + STEP * 10)}>
              {`Show more of ${entries.length.toLocaleString("en")}`}
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Key({ name }: { name: string }) {
  return (
    <>
      <Untrusted text={name} className="text-accent" />
      <span className="text-muted">: </span>
    </>
  );
}

function Leaf({ value }: { value: unknown }) {
  if (typeof value === "string")
    return value === "" ? (
      <span className="text-muted">empty text</span>
    ) : (
      <LongText text={value} className="text-code-string" />
    );
  return <span className="text-code-number">{String(value)}</span>;
}

function entriesOf(value: unknown): [string, unknown][] | null {
  return typeof value === "object" && value !== null ? Object.entries(value) : null;
}
