/**
 * One sample of figures/sources.ts, in a process of its own: read, store, open again; or, with `parse`, nothing but the floor,
 * in a process that has parsed nothing before either. Prints one line of JSON.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSearchIndex } from "@executor/core/tools/search/search-index";
import { openapiKind } from "@executor/sources/openapi/openapi-kind";
import { loadHead, saveIndex } from "@executor/sources/stored-index";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";

const bytes = await Bun.file(Bun.argv[2] ?? "").bytes();
if (Bun.argv[3] === "parse") {
  const [coldParseMs] = await timed(async () => JSON.parse(new TextDecoder().decode(bytes)) as unknown);
  console.log(JSON.stringify({ coldParseMs }));
  process.exit(0);
}
const source = {
  sourceId: "source_bench",
  workspaceId: "ws_bench",
  namespace: "github",
  definition: { type: "openapi" as const, name: "GitHub", spec: "http://127.0.0.1/openapi.json" },
};
// What comes over the wire is there already: making an answer of it is not what is measured.
const response = new Response(bytes);
const io = {
  fetch: async () => response,
  auth: { parts: [], secrets: [] },
  mayReachMachine: false,
  signal: AbortSignal.timeout(120_000),
  onProgress: () => undefined,
};
const doc = ({
  name,
  description,
  keywords,
  effect,
}: {
  name: string;
  description: string;
  keywords: string;
  effect: string;
}) => ({
  path: name,
  description,
  keywords,
  safe: effect === "safe",
});

const before = process.memoryUsage.rss();
const [readMs, index] = await timed(async () => {
  const read = await openapiKind.read(source, io);
  createSearchIndex(read.tools.map(doc));
  return read;
});
const extraBytes = peakRss() - before;
const folder = mkdtempSync(join(tmpdir(), "executor-bench-"));
const store = await openSqliteStore({ path: join(folder, "executor.db") });
const digest = await saveIndex(store, index, Date.now());
const [reopenMs] = await timed(async () => createSearchIndex((await loadHead(store, digest)).tools.map(doc)));
const [parseMs] = await timed(async () => JSON.parse(new TextDecoder().decode(bytes)) as unknown);
await store.close();
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify({ parseMs, readMs, reopenMs, extraBytes, tools: index.tools.length }));

async function timed<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const startedAt = performance.now();
  const result = await work();
  return [performance.now() - startedAt, result];
}

function peakRss(): number {
  return process.resourceUsage().maxRSS * 1_024;
}
