/**
 * Thousands of tool paths as a tree of rows: groups by the pieces of their paths.
 * Pure: which groups are open is given.
 */
import type { ToolName } from "@executor/client";

export type Row =
  | { kind: "group"; path: string; label: string; depth: number; count: number; isOpen: boolean }
  | { kind: "tool"; path: string; label: string; depth: number; tool: ToolName };

interface Group {
  groups: Map<string, Group>;
  tools: { label: string; tool: ToolName }[];
  count: number;
}

const newGroup = (): Group => ({ groups: new Map(), tools: [], count: 0 });

/** `filter`: only paths that hold all of its words; every group is then open. */
export function buildTree(tools: readonly ToolName[], isOpen: (path: string) => boolean, filter = ""): Row[] {
  const words = filter
    .toLowerCase()
    .split(/[\s.]+/)
    .filter((word) => word !== "");
  const root = newGroup();
  for (const tool of tools) {
    const [, ...pieces] = tool.path.split(".");
    const path = tool.path.toLowerCase();
    if (!words.every((word) => path.includes(word))) continue;
    let group = root;
    group.count++;
    for (const piece of pieces.slice(0, -1)) {
      let next = group.groups.get(piece);
      if (!next) group.groups.set(piece, (next = newGroup()));
      group = next;
      group.count++;
    }
    group.tools.push({ label: pieces.at(-1) ?? tool.path, tool });
  }
  const rows: Row[] = [];
  addRows(root, "", 0, words.length > 0 ? () => true : isOpen, rows);
  return rows;
}

function addRows(group: Group, prefix: string, depth: number, isOpen: (path: string) => boolean, rows: Row[]): void {
  for (const [label, inner] of [...group.groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const path = `${prefix}${label}`;
    const open = isOpen(path);
    rows.push({ kind: "group", path, label, depth, count: inner.count, isOpen: open });
    if (open) addRows(inner, `${path}.`, depth + 1, isOpen, rows);
  }
  for (const { label, tool } of group.tools.toSorted((a, b) => (a.label < b.label ? -1 : 1)))
    rows.push({ kind: "tool", path: tool.path, label, depth, tool });
}
