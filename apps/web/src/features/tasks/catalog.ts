/** What the editor completes and explains: the tools this person may use, read a namespace at a time and then kept. */
import type { ToolDetail, ToolSummary } from "@executor/client";
import { queryOptions } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";

const PAGE = 200;
/** More tools of one namespace than anyone completes through. */
const MAX_TOOLS = 5_000;
const KEPT_MS = 60_000;

const namespaceQuery = (namespace: string) =>
  queryOptions({
    queryKey: [...keys.tools, "namespace", namespace],
    staleTime: KEPT_MS,
    queryFn: async ({ signal }): Promise<readonly ToolSummary[]> => {
      const found: ToolSummary[] = [];
      let cursor: string | undefined;
      do {
        const page = await executor().tools.list({ namespace, limit: PAGE, cursor }, { signal });
        found.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== undefined && found.length < MAX_TOOLS);
      return found;
    },
  });

const namespacesQuery = queryOptions({
  queryKey: [...keys.tools, "namespaces"],
  staleTime: KEPT_MS,
  queryFn: async ({ signal }): Promise<readonly string[]> => {
    const [sources, tools] = await Promise.all([
      executor().sources.list({ signal }),
      executor().tools.list({ limit: PAGE }, { signal }),
    ]);
    const first = tools.items.map(({ path }) => path.split(".")[0] ?? "");
    return [...new Set([...sources.items.map(({ namespace }) => namespace), ...first])].sort();
  },
});

export interface Completion {
  /** The next piece of the path. */
  segment: string;
  /** Present when the path is a tool with it. */
  tool?: ToolSummary;
}

/** What may follow `tools.` and these segments. */
export async function completeToolPath(before: readonly string[]): Promise<Completion[]> {
  const [namespace] = before;
  if (namespace === undefined) return (await queryClient.fetchQuery(namespacesQuery)).map((segment) => ({ segment }));
  const prefix = `${before.join(".")}.`;
  const found = new Map<string, Completion>();
  for (const tool of await queryClient.fetchQuery(namespaceQuery(namespace))) {
    if (!tool.path.startsWith(prefix)) continue;
    const [segment = "", ...rest] = tool.path.slice(prefix.length).split(".");
    if (rest.length === 0) found.set(segment, { segment, tool });
    else if (!found.has(segment)) found.set(segment, { segment });
  }
  return [...found.values()];
}

/** Null when there is no such tool that this person may use. */
export async function describeTool(path: string): Promise<ToolDetail | null> {
  try {
    return await queryClient.fetchQuery({
      queryKey: keys.tool(path),
      staleTime: KEPT_MS,
      queryFn: ({ signal }) => executor().tools.describe(path, { signal }),
    });
  } catch {
    return null;
  }
}
