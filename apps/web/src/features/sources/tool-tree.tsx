/**
 * The tools of a source as a tree, thousands of them: only rows in view are drawn. One stop for Tab; arrows move, right and left
 * open and close, Enter looks at a tool.
 */
import type { ToolName } from "@executor/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useDeferredValue, useId, useMemo, useRef, useState } from "react";
import { Icon } from "../../ui/icon.tsx";
import { Untrusted } from "../../ui/untrusted.tsx";
import { buildTree, type Row } from "./build-tree.ts";

const ROW_PX = 32;
/** Few enough groups and tools to show all of it at once. */
const OPEN_BELOW = 60;

interface ToolTreeProps {
  tools: readonly ToolName[];
  selected: string | undefined;
  onSelect: (path: string) => void;
}

export function ToolTree({ tools, selected, onSelect }: ToolTreeProps) {
  const [filter, setFilter] = useState("");
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const shownFilter = useDeferredValue(filter);
  const startsOpen = tools.length <= OPEN_BELOW;
  const rows = useMemo(
    () => buildTree(tools, (path) => toggled.has(path) !== startsOpen, shownFilter),
    [tools, toggled, startsOpen, shownFilter],
  );
  const toggle = (path: string) =>
    setToggled((old) => (old.has(path) ? new Set([...old].filter((each) => each !== path)) : new Set([...old, path])));
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="border-b border-line p-2">
        <input
          type="search"
          aria-label="Filter tools by name"
          placeholder="Filter by name"
          className="w-full rounded-md border border-line-strong bg-surface px-2.5 py-1.5 text-base text-fg placeholder:text-muted"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
      </div>
      {rows.length === 0 ? (
        <p className="p-4 text-muted">No tool has such a name. Search by intent finds tools by what they do.</p>
      ) : (
        <Rows rows={rows} selected={selected} onSelect={onSelect} onToggle={toggle} />
      )}
    </div>
  );
}

interface RowsProps {
  rows: readonly Row[];
  selected: string | undefined;
  onSelect: (path: string) => void;
  onToggle: (path: string) => void;
}

function Rows({ rows, selected, onSelect, onToggle }: RowsProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [activePath, setActivePath] = useState(selected);
  const found = rows.findIndex((row) => row.path === activePath);
  const active = found === -1 ? 0 : found;
  // oxlint-disable-next-line react/incompatible-library -- the React compiler is not used here
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 10,
    getItemKey: (at) => keyOf(rows[at]) ?? at,
  });
  const go = (at: number) => {
    const to = Math.max(0, Math.min(rows.length - 1, at));
    setActivePath(rows[to]?.path);
    virtual.scrollToIndex(to);
  };
  const use = (row: Row) => {
    setActivePath(row.path);
    if (row.kind === "group") onToggle(row.path);
    else onSelect(row.path);
  };
  const parentOf = (at: number): number => {
    const depth = rows[at]?.depth ?? 0;
    return rows.findLastIndex((row, index) => index < at && row.depth < depth);
  };
  const moves: Record<string, (row: Row) => void> = {
    ArrowDown: () => go(active + 1),
    ArrowUp: () => go(active - 1),
    Home: () => go(0),
    End: () => go(rows.length - 1),
    PageDown: () => go(active + 12),
    PageUp: () => go(active - 12),
    Enter: use,
    " ": use,
    ArrowRight: (row) => (row.kind === "group" && !row.isOpen ? onToggle(row.path) : go(active + 1)),
    ArrowLeft: (row) => (row.kind === "group" && row.isOpen ? onToggle(row.path) : go(Math.max(0, parentOf(active)))),
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (!row || !move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move(row);
  };
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label="Tools"
      tabIndex={0}
      aria-activedescendant={`${id}-${active}`}
      onKeyDown={onKeyDown}
      className="group min-h-0 flex-1 overflow-auto -outline-offset-2"
    >
      <div role="none" style={{ height: virtual.getTotalSize() }} className="relative">
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          return (
            row && (
              <TreeRow
                key={key}
                id={`${id}-${index}`}
                row={row}
                start={start}
                isActive={index === active}
                isSelected={row.path === selected}
                onUse={use}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

/** A group and a tool may have one path. */
const keyOf = (row: Row | undefined): string | undefined => row && `${row.kind} ${row.path}`;

interface TreeRowProps {
  id: string;
  row: Row;
  start: number;
  isActive: boolean;
  isSelected: boolean;
  onUse: (row: Row) => void;
}

function TreeRow({ id, row, start, isActive, isSelected, onUse }: TreeRowProps) {
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-selected={isSelected}
      {...(row.kind === "group" && { "aria-expanded": row.isOpen })}
      onClick={() => onUse(row)}
      style={{ transform: `translateY(${start}px)`, paddingLeft: `${row.depth * 1.1 + 0.5}rem` }}
      className={`absolute inset-x-0 top-0 flex h-8 cursor-pointer items-center gap-2 pr-3 hover:bg-sunken ${isSelected ? "bg-accent-soft text-accent" : ""} ${isActive ? "group-focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]" : ""}`}
    >
      {row.kind === "group" ? (
        <>
          <Icon name={row.isOpen ? "down" : "right"} className="size-3.5 shrink-0 text-muted" />
          <Untrusted text={row.label} className="min-w-0 flex-1 truncate font-medium" />
          <span className="text-xs text-muted tabular-nums">{row.count.toLocaleString("en")}</span>
        </>
      ) : (
        <>
          <span
            aria-hidden="true"
            className={`ml-1 size-1.5 shrink-0 rounded-full ${row.tool.approval === "auto" ? "bg-ok" : "bg-warn"}`}
          />
          <Untrusted text={row.label} className="min-w-0 flex-1 truncate font-mono text-sm" />
          {row.tool.approval === "required" && <span className="text-xs text-muted">asks</span>}
        </>
      )}
    </div>
  );
}
