/** A segment made from a list of tools: what built-in tools and tests use. Sources make theirs from a stored index. */
import type { ToolCatalog, ToolSegment } from "../ports/tools.ts";
import { createSearchIndex, type SearchIndex } from "./search/search-index.ts";
import type { Tool } from "./tool.ts";

export function createSegment(namespace: string, tools: readonly Tool[]): ToolSegment {
  const byPath = new Map(tools.map((tool) => [tool.path, tool]));
  let index: SearchIndex | null = null;
  return {
    namespace,
    tools,
    find: (path) => byPath.get(path) ?? null,
    index: () => (index ??= createSearchIndex(tools.map(searchDoc))),
  };
}

/** By the first part of their paths. */
export function segmentsOf(tools: readonly Tool[]): ToolSegment[] {
  return [...Map.groupBy(tools, namespaceOf)].map(([namespace, members]) => createSegment(namespace, members));
}

export const namespaceOf = ({ path }: { path: string }): string => path.split(".", 1)[0] ?? path;

/** A namespace may be served by more than one segment: built-in tools share theirs with nobody, but tests may. */
export function findTool({ segments }: ToolCatalog, path: string): Tool | null {
  const namespace = namespaceOf({ path });
  for (const segment of segments) {
    const found = segment.namespace === namespace ? segment.find(path) : null;
    if (found) return found;
  }
  return null;
}

export function* toolsIn({ segments }: ToolCatalog): Generator<Tool> {
  for (const segment of segments) yield* segment.tools;
}

/** The namespace is left out: an index is shared by sources that differ in nothing else. */
export const searchDoc = (tool: Tool) => ({
  path: tool.path.slice(tool.path.indexOf(".") + 1),
  description: tool.description,
  keywords: tool.keywords,
  safe: tool.effect === "safe",
});
