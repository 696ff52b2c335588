/**
 * Search over tools: how often it finds the right one on four real documents together, how long it takes over 20,000 and
 * 100,000 tools, and what an index costs. Needs corpus/ (`bun install` there); without it there is nothing to measure.
 */
import { createSearchIndex, type SearchIndex } from "@executor/core/tools/search/search-index";
import { searchSegments } from "@executor/core/tools/search/search-segments";
import { fourthQueries } from "@executor/testkit/search-quality/fourth-queries";
import { heldOutQueries, tuningQueries } from "@executor/testkit/search-quality/intent-queries";
import { type CorpusSource, loadCorpus } from "@executor/testkit/search-quality/load-corpus";
import { measureSearchQuality } from "@executor/testkit/search-quality/measure-search-quality";
import type { IntentQuery } from "@executor/testkit/search-quality/parse-queries";
import { secondQueries } from "@executor/testkit/search-quality/second-queries";
import { thirdQueries } from "@executor/testkit/search-quality/third-queries";
import { type Figure, makeRow, type Row } from "../src/figure.ts";
import { p50, percentile } from "../src/samples.ts";

export const searchFigure: Figure = {
  name: "search",
  means: "tools found by what they do: quality, p95, cost of the index",
  measure({ quick, say }) {
    const sources = loadCorpus();
    if (sources === null) {
      say("search: NOT MEASURED, the documents are missing: run `bun install` in corpus/");
      return Promise.resolve([]);
    }
    return Promise.resolve([
      ...measureQuality(sources, "tuning", tuningQueries),
      ...measureQuality(sources, "held-out", heldOutQueries),
      ...measureQuality(sources, "second", secondQueries),
      ...measureQuality(sources, "third", thirdQueries),
      ...measureQuality(sources, "fourth", fourthQueries),
      measureTimes(sources, 20_000, 10, quick),
      measureTimes(sources, 100_000, 40, quick),
      measureBuild(sources, quick),
    ]);
  },
};

function measureQuality(sources: readonly CorpusSource[], half: string, queries: readonly IntentQuery[]): Row[] {
  const quality = measureSearchQuality(sources, queries);
  const misses = quality.misses.map(({ query, place }) => `${query} (${place === 0 ? "not found" : place})`).join("; ");
  const row = (figure: string, hits: number, least: number): Row =>
    makeRow({
      figure: `search/${half}-${figure}`,
      unit: "%",
      floor: null,
      product: (hits * 100) / quality.queries,
      aim: `>= ${least} %`,
      isMet: ({ product }) => product >= least,
      note: `${quality.queries} queries; not first: ${misses}`,
    });
  const precision = makeRow({
    figure: `search/${half}-best-path`,
    unit: "%",
    floor: null,
    product: (quality.ledRight * 100) / quality.led,
    aim: ">= 95 %",
    isMet: ({ product }) => product >= 95,
    note: `bestPath was given for ${quality.led} of ${quality.queries} queries`,
  });
  return [row("first", quality.first, 75), row("first-five", quality.firstFive, 92), precision];
}

function measureTimes(sources: readonly CorpusSource[], tools: number, limitMs: number, quick: boolean): Row {
  const index = createSearchIndex(manyDocs(sources, tools));
  const segments = [{ namespace: "many", index }];
  const queries = [...tuningQueries, ...heldOutQueries, ...secondQueries].map(({ query }) => query);
  const search = (query: string): number => {
    const from = performance.now();
    searchSegments(segments, query, { limit: 8, accept: () => true });
    return performance.now() - from;
  };
  queries.forEach(search);
  const times = Array.from({ length: quick ? 1 : 5 }, () => queries.map(search)).flat();
  return makeRow({
    figure: `search/${tools}`,
    unit: "ms p95",
    floor: null,
    product: percentile(times, 0.95),
    aim: `< ${limitMs} ms`,
    isMet: ({ product }) => product < limitMs,
    note: `${times.length} searches over ${tools} tools in one index; p50 ${p50(times).toFixed(2)}, worst ${percentile(times, 1).toFixed(1)}; ${bytesPerTool(index)} bytes a tool in arrays, ${index.words.length} words`,
  });
}

/** The real ones again and again, each time under another tag. */
function manyDocs(sources: readonly CorpusSource[], tools: number): CorpusSource["docs"] {
  const all = sources.flatMap(({ docs }) => docs);
  return Array.from({ length: tools }, (_, at) => {
    const doc = all[at % all.length] as CorpusSource["docs"][number];
    return { ...doc, path: `copy${Math.floor(at / all.length)}_${doc.path}` };
  });
}

function measureBuild(sources: readonly CorpusSource[], quick: boolean): Row {
  const docs = sources.find(({ namespace }) => namespace === "github")?.docs ?? [];
  const times = Array.from({ length: quick ? 3 : 10 }, () => {
    const from = performance.now();
    createSearchIndex(docs);
    return performance.now() - from;
  });
  return makeRow({
    figure: "search/build",
    unit: "ms worst",
    floor: null,
    product: percentile(times, 1),
    aim: "< 60 ms",
    isMet: ({ product }) => product < 60,
    note: `${docs.length} tools of GitHub, the cold one included; p50 ${p50(times).toFixed(1)}; ${bytesPerTool(createSearchIndex(docs))} bytes a tool in arrays`,
  });
}

function bytesPerTool({ size, letters, starts, postings, heads, names, titles, actions, flags }: SearchIndex): number {
  const arrays = [
    letters,
    starts,
    postings,
    heads,
    actions,
    flags,
    names.starts,
    names.items,
    names.tags,
    titles.starts,
    titles.items,
  ];
  return Math.round(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0) / size);
}
