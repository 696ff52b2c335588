/** What changed between two readings of a source: for people to look at, and to know that something did. */
import type { SourceChanges } from "@executor/contracts/source";
import type { IndexedTool } from "@executor/core/ports/source";

/** Enough to read; a source that changed more than this is another source. */
const MAX_LISTED = 500;
const MAX_TEXT = 500;

export type IndexChanges = Omit<SourceChanges, "at">;

export function compareIndexes(
  namespace: string,
  before: readonly IndexedTool[],
  after: readonly IndexedTool[],
): IndexChanges & { counts: { added: number; removed: number; changed: number } } {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const now = new Map(after.map((tool) => [tool.name, tool]));
  const path = ({ name }: IndexedTool): string => `${namespace}.${name}`;
  const added = after.filter(({ name }) => !old.has(name));
  const removed = before.filter(({ name }) => !now.has(name));
  const changed = after.filter((tool) => (old.get(tool.name)?.hash ?? tool.hash) !== tool.hash);
  return {
    added: added.slice(0, MAX_LISTED).map(path),
    removed: removed.slice(0, MAX_LISTED).map(path),
    changed: changed.slice(0, MAX_LISTED).map((tool) => ({
      path: path(tool),
      before: (old.get(tool.name)?.description ?? "").slice(0, MAX_TEXT),
      after: tool.description.slice(0, MAX_TEXT),
    })),
    counts: { added: added.length, removed: removed.length, changed: changed.length },
  };
}
