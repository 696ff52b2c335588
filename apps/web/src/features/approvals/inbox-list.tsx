/** The rows of the inbox. Five hundred of them are drawn lazily: only what is near the view costs layout. */
import { memo } from "react";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { TimeAgo } from "../../ui/time.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { toPlainText } from "../../ui/visible.ts";
import { isGroup, type Row } from "./group.ts";

interface InboxListProps {
  rows: readonly Row[];
  current: Row | null;
  opened: ReadonlySet<string>;
  onToggle: (key: string) => void;
  onSelect: (key: string) => void;
}

export function InboxList({ rows, current, opened, onToggle, onSelect }: InboxListProps) {
  const inGroups = new Set(
    rows.filter(isGroup).flatMap(({ approvals }) => approvals.map(({ approvalId }) => approvalId)),
  );
  return (
    <ul className="flex flex-col pb-4">
      {rows.map((row) => (
        <InboxRow
          key={row.key}
          row={row}
          isCurrent={row.key === current?.key}
          isOpened={opened.has(row.key)}
          isInGroup={inGroups.has(row.key)}
          onToggle={onToggle}
          onSelect={onSelect}
        />
      ))}
    </ul>
  );
}

interface InboxRowProps {
  row: Row;
  isCurrent: boolean;
  isOpened: boolean;
  isInGroup: boolean;
  onToggle: (key: string) => void;
  onSelect: (key: string) => void;
}

const InboxRow = memo(function InboxRow({ row, isCurrent, isOpened, isInGroup, onToggle, onSelect }: InboxRowProps) {
  const [first] = row.approvals;
  const count = row.approvals.length;
  return (
    <li
      className={`relative flex items-start border-b border-line [contain-intrinsic-size:auto_4.25rem] [content-visibility:auto] ${isCurrent ? "lg:bg-accent-soft lg:shadow-[inset_3px_0_0_var(--accent)]" : "hover:bg-sunken"} ${isInGroup ? "pl-6" : ""}`}
    >
      {/* Not a Link: each would look at every change of the address, and there may be hundreds. */}
      <a
        href={`/?selected=${encodeURIComponent(row.key)}`}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          onSelect(row.key);
        }}
        id={`row-${row.key}`}
        aria-current={isCurrent ? "true" : undefined}
        className="min-w-0 flex-1 px-4 py-2.5 -outline-offset-2"
      >
        <span className="flex items-center gap-2">
          <Untrusted
            text={toPlainText(first.toolPath, 120)}
            className="min-w-0 flex-1 truncate font-mono text-sm font-medium"
          />
          {first.mayHaveRun && <Badge tone="bad">may have run</Badge>}
          {isGroup(row) && <Badge tone="accent">{count} alike</Badge>}
        </span>
        <span className="mt-0.5 flex items-center gap-2 text-xs text-muted">
          <span className="min-w-0 flex-1 truncate">
            <Untrusted text={isGroup(row) ? "the same tool, the same actor" : preview(first.input)} />
          </span>
          <TimeAgo at={first.createdAt} />
        </span>
      </a>
      {isGroup(row) && (
        <IconButton
          icon={isOpened ? "down" : "right"}
          label={isOpened ? "Fold this group" : `Show all ${count}`}
          aria-expanded={isOpened}
          className="mt-2 mr-2"
          onClick={() => onToggle(row.key)}
        />
      )}
      {!isGroup(row) && <Icon name="right" className="mt-5 mr-3 size-4 text-muted lg:hidden" />}
    </li>
  );
});

/** The beginning of the input, of which the detail shows all. A huge input is not written out for it. */
function preview(input: unknown): string {
  if (typeof input !== "object" || input === null) return toPlainText(JSON.stringify(input ?? null).slice(0, 200), 100);
  const parts: string[] = [];
  let length = 0;
  for (const [key, value] of Object.entries(input)) {
    const shown = typeof value === "string" ? value.slice(0, 60) : typeof value === "object" ? "…" : String(value);
    parts.push(`${key}: ${shown}`);
    length += key.length + shown.length;
    if (length > 120) break;
  }
  return parts.length === 0 ? "no input" : toPlainText(parts.join(", "), 120);
}
