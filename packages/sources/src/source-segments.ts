/**
 * Opened sources, kept while they are used. What depends on the document alone (tools, search index, details) is kept once per
 * digest and shared by all workspaces; what depends on the source (paths, approvals, sessions) once per source and state.
 */
import type { Host } from "@executor/core/ports/host";
import type { SourceKind, SourceTools } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { ToolSegment } from "@executor/core/ports/tools";
import type { SourceRow } from "@executor/core/store/tables";
import { createSearchIndex, type SearchIndex } from "@executor/core/tools/search/search-index";
import type { Tool } from "@executor/core/tools/tool";
import { specOf } from "./read-due-sources.ts";
import { createSourceTool, type CallParts } from "./source-tool.ts";
import { type IndexHead, loadDetails, loadHead } from "./stored-index.ts";

/** Details are the bulk; an unused one is loaded again in milliseconds. */
const KEEP_DETAILS_CHARS = 64_000_000;
const KEEP_SEGMENTS = 500;
const KEEP_UNUSED_MS = 10 * 60_000;
/** How long processes and sessions of a source may outlive it. */
const LOOK_EVERY_MS = 2_000;

interface Shared {
  head: IndexHead;
  index(): SearchIndex;
  details(): Promise<string>;
}

interface Opened {
  row: Pick<SourceRow, "sourceId" | "workspaceId" | "revision">;
  segment: ToolSegment;
  tools: SourceTools;
  usedAt: number;
}

export interface SegmentDeps extends CallParts {
  store: Store;
  host: Host;
  kinds: readonly SourceKind[];
}

export function createSourceSegments(deps: SegmentDeps) {
  const shared = new Map<string, Promise<Shared>>();
  const details = createDetailsCache(deps.store);
  const opened = new Map<string, Promise<Opened>>();
  let looker: ReturnType<typeof setInterval> | null = null;

  return {
    /** Null when it was never read, or not by a kind this version knows. */
    async open(row: SourceRow): Promise<ToolSegment | null> {
      if (row.artifact === null) return null;
      const key = `${row.sourceId}/${row.revision}/${row.artifact}`;
      let known = opened.get(key);
      if (!known) {
        looker ??= setInterval(
          () => void closeRemoved(deps.store, opened).catch(() => undefined),
          LOOK_EVERY_MS,
        ).unref();
        known = openSource(row, row.artifact);
        opened.set(key, known);
        known.catch(() => opened.delete(key));
        await forgetOthers(row.sourceId, key);
      }
      const source = await known;
      source.usedAt = deps.host.monotonicMs();
      return source.segment;
    },
    async close(): Promise<void> {
      if (looker) clearInterval(looker);
      looker = null;
      const all = [...opened.values()];
      opened.clear();
      await Promise.allSettled(all.map(async (source) => (await source).tools.close?.()));
    },
  };

  async function openSource(row: SourceRow, digest: string): Promise<Opened> {
    const kind = deps.kinds.find(({ type }) => type === row.type);
    if (!kind) throw new Error(`no kind ${row.type}`);
    const { head, index } = await openShared(digest);
    const hosts = await kind.hosts?.(head.metaJson, specOf(row).definition);
    const spec = { ...specOf(row), ...(hosts && { hosts }) };
    const tools = await kind.open({
      source: spec,
      metaJson: head.metaJson,
      details: () => details.load(digest),
      onListChanged: () =>
        void deps.store
          .requestIndexing({ sourceId: row.sourceId, workspaceId: row.workspaceId, now: deps.host.now() })
          .catch(() => undefined),
    });
    const made = head.tools.map((tool) => createSourceTool(deps, spec, tool, tools));
    return { row, segment: createSourceSegment(row.namespace, made, index), tools, usedAt: deps.host.monotonicMs() };
  }

  function openShared(digest: string): Promise<Shared> {
    let known = shared.get(digest);
    if (!known) {
      known = loadHead(deps.store, digest).then((head) => {
        let index: SearchIndex | null = null;
        return {
          head,
          index: () => (index ??= createSearchIndex(head.tools.map(searchDoc))),
          details: () => details.load(digest),
        };
      });
      shared.set(digest, known);
      known.catch(() => shared.delete(digest));
    }
    return known;
  }

  /** Earlier states of the same source, and what nobody has used for long. */
  async function forgetOthers(sourceId: string, keep: string): Promise<void> {
    const now = deps.host.monotonicMs();
    for (const [key, source] of opened) {
      if (key === keep) continue;
      const isOld = key.startsWith(`${sourceId}/`);
      const isUnused = opened.size > KEEP_SEGMENTS && now - (await source).usedAt > KEEP_UNUSED_MS;
      if (!isOld && !isUnused) continue;
      opened.delete(key);
      void source.then(({ tools }) => tools.close?.()).catch(() => undefined);
    }
    const used = new Set([...opened.keys()].map((key) => key.slice(key.lastIndexOf("/") + 1)));
    for (const digest of shared.keys()) if (!used.has(digest)) shared.delete(digest);
  }
}

/** A source that was removed or set up differently elsewhere must not leave its processes behind here. */
async function closeRemoved(store: Store, opened: Map<string, Promise<Opened>>): Promise<void> {
  for (const [key, opening] of opened) {
    const { row, tools } = await opening;
    if (!tools.isHolding?.()) continue;
    const now = await store.readSource(row);
    if (now?.revision === row.revision) continue;
    opened.delete(key);
    await tools.close?.();
  }
}

function createSourceSegment(namespace: string, tools: readonly Tool[], index: () => SearchIndex): ToolSegment {
  let byPath: Map<string, Tool> | null = null;
  return {
    namespace,
    tools,
    find: (path) => (byPath ??= new Map(tools.map((tool) => [tool.path, tool]))).get(path) ?? null,
    index,
  };
}

const searchDoc = ({ name, description, keywords, effect }: IndexHead["tools"][number]) => ({
  path: name,
  description,
  keywords,
  safe: effect === "safe",
});

/** The least recently used are dropped when all together are too long. */
function createDetailsCache(store: Store) {
  const loaded = new Map<string, Promise<string>>();
  const lengths = new Map<string, number>();
  return {
    load(digest: string): Promise<string> {
      const known = loaded.get(digest);
      if (known) {
        loaded.delete(digest);
        loaded.set(digest, known);
        return known;
      }
      const loading = loadDetails(store, digest);
      loaded.set(digest, loading);
      loading.then(
        (text) => {
          lengths.set(digest, text.length);
          trim(digest);
        },
        () => loaded.delete(digest),
      );
      return loading;
    },
  };

  function trim(keep: string): void {
    let total = [...lengths.values()].reduce((sum, length) => sum + length, 0);
    for (const digest of loaded.keys()) {
      if (total <= KEEP_DETAILS_CHARS) return;
      if (digest === keep) continue;
      total -= lengths.get(digest) ?? 0;
      loaded.delete(digest);
      lengths.delete(digest);
    }
  }
}
