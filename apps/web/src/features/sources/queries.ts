/** Sources, their tools, documents and changes; kept true by the workspace's events. */
import type { Source, TaskEvent } from "@executor/client";
import { queryOptions } from "@tanstack/react-query";
import { executor, keys, queryClient } from "../../api.ts";

export const sourcesQuery = queryOptions({
  queryKey: keys.sources,
  queryFn: async ({ signal }): Promise<readonly Source[]> => (await executor().sources.list({ signal })).items,
});

export const sourceQuery = (sourceId: string) =>
  queryOptions({
    queryKey: keys.source(sourceId),
    queryFn: ({ signal }) => executor().sources.get(sourceId, { signal }),
  });

/** By namespace: a caller sees tools, wherever they come from. */
export const toolNamesQuery = (namespace: string) =>
  queryOptions({
    queryKey: [...keys.tools, "names", namespace],
    queryFn: ({ signal }) => executor().tools.names({ namespace }, { signal }),
  });

export const toolQuery = (path: string) =>
  queryOptions({
    queryKey: keys.tool(path),
    queryFn: ({ signal }) => executor().tools.describe(path, { signal }),
  });

export const foundToolsQuery = (namespace: string, query: string) =>
  queryOptions({
    queryKey: [...keys.tools, "found", namespace, query],
    queryFn: ({ signal }) => executor().tools.search(query, { namespace, limit: 20, signal }),
    enabled: query !== "",
  });

export const documentQuery = (sourceId: string) =>
  queryOptions({
    queryKey: [...keys.source(sourceId), "document"],
    queryFn: ({ signal }) => executor().sources.document(sourceId, { signal }),
    // It may be large, and is looked at once.
    gcTime: 60_000,
  });

export const changesQuery = (sourceId: string) =>
  queryOptions({
    queryKey: [...keys.source(sourceId), "changes"],
    queryFn: ({ signal }) => executor().sources.changes(sourceId, { signal }),
  });

export function takeNews(events: readonly TaskEvent[]): void {
  const about = events.filter(({ type }) => type.startsWith("source."));
  if (about.length === 0) return;
  for (const sourceId of new Set(about.map((event) => event.sourceId))) {
    if (sourceId === undefined) continue;
    const own = about.filter((event) => event.sourceId === sourceId);
    if (own.every(({ type }) => type === "source.indexing")) showProgress(sourceId, own.at(-1) as TaskEvent);
    else void queryClient.invalidateQueries({ queryKey: keys.source(sourceId) });
  }
  if (about.every(({ type }) => type === "source.indexing")) return;
  void queryClient.invalidateQueries({ queryKey: keys.sources });
  void queryClient.invalidateQueries({ queryKey: keys.tools });
  void queryClient.invalidateQueries({ queryKey: ["tool"] });
}

/** How far a reading is stands in the event itself. One that nobody knows yet is read. */
function showProgress(sourceId: string, { data }: TaskEvent): void {
  const progress = data as unknown as NonNullable<Source["progress"]>;
  const withProgress = (source: Source): Source => ({ ...source, progress });
  queryClient.setQueryData(sourceQuery(sourceId).queryKey, (old) => old && withProgress(old));
  const known = queryClient.getQueryData(sourcesQuery.queryKey);
  if (known && !known.some((source) => source.sourceId === sourceId))
    return void queryClient.invalidateQueries({ queryKey: keys.sources });
  queryClient.setQueryData(sourcesQuery.queryKey, (old) =>
    old?.map((source) => (source.sourceId === sourceId ? withProgress(source) : source)),
  );
}
