/** How often the right operation comes first, and among the first five, over all sources together. */
import { createSearchIndex } from "@executor/core/tools/search/search-index";
import { searchSegments } from "@executor/core/tools/search/search-segments";
import type { CorpusSource } from "./load-corpus.ts";
import type { IntentQuery } from "./parse-queries.ts";

export interface SearchQuality {
  queries: number;
  first: number;
  firstFive: number;
  /** How often one was said to lead, and how often that was a right one. */
  led: number;
  ledRight: number;
  /** Where the right one did not come first: its place (0: not among fifty) and what came instead. */
  misses: { query: string; place: number; instead: string[]; leads: boolean }[];
}

export function measureSearchQuality(sources: readonly CorpusSource[], queries: readonly IntentQuery[]): SearchQuality {
  const segments = sources.map(({ namespace, docs }) => ({ namespace, index: createSearchIndex(docs) }));
  const known = new Set(sources.flatMap(({ namespace, docs }) => docs.map((doc) => `${namespace}:${doc.operationId}`)));
  const quality: SearchQuality = { queries: queries.length, first: 0, firstFive: 0, led: 0, ledRight: 0, misses: [] };
  for (const { query, right } of queries) {
    if (!right.some((each) => known.has(each))) throw new Error(`no right answer of "${query}" is in the documents`);
    const { results, leads } = searchSegments(segments, query, { limit: 50, accept: () => true });
    const ids = results.map(({ segment, doc }) => {
      const source = sources[segment] as CorpusSource;
      return `${source.namespace}:${source.docs[doc]?.operationId}`;
    });
    const place = ids.findIndex((id) => right.includes(id)) + 1;
    if (place === 1) quality.first++;
    else quality.misses.push({ query, place, instead: ids.slice(0, 3), leads });
    if (leads) quality.led++;
    if (leads && place === 1) quality.ledRight++;
    if (place >= 1 && place <= 5) quality.firstFive++;
  }
  return quality;
}
