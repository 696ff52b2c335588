/** What must always be found, on the real documents where they are installed (corpus/), and on the invented catalog everywhere. */
import { expect, test } from "bun:test";
import { createSearchIndex } from "@executor/core/tools/search/search-index";
import { searchSegments } from "@executor/core/tools/search/search-segments";
import { smallCatalog } from "@executor/core/tools/search/small-catalog.fixture";
import { fourthQueries } from "./fourth-queries.ts";
import { heldOutQueries, tuningQueries } from "./intent-queries.ts";
import { loadCorpus } from "./load-corpus.ts";
import { measureSearchQuality } from "./measure-search-quality.ts";
import { secondQueries } from "./second-queries.ts";
import { thirdQueries } from "./third-queries.ts";

const corpus = loadCorpus();

function firstOf(catalog: typeof smallCatalog, query: string): string {
  const segments = catalog.map(({ namespace, docs }) => ({ namespace, index: createSearchIndex(docs) }));
  const { results, leads } = searchSegments(segments, query, { limit: 1, accept: () => true });
  const [first] = results;
  return first && leads
    ? `${segments[first.segment]?.namespace}.${segments[first.segment]?.index.paths[first.doc]}`
    : "";
}

const mustHit = [
  ["create a customer", "till.customers.post_customers", "stripe.customers.post_customers"],
  ["merge a pull request", "forge.pulls.merge", "github.pulls.merge"],
  ["invite a user to an organization", "forge.orgs.create_invitation", "github.orgs.create_invitation"],
] as const;

for (const [query, invented, real] of mustHit) {
  test(`"${query}" finds the right tool and says so`, () => {
    expect(firstOf(smallCatalog, query)).toBe(invented);
    if (corpus) expect(firstOf(corpus, query)).toBe(real);
  });
}

// Without the documents the ranking is held by the invented catalog, here and in core's search-segments.test.ts.
if (corpus) {
  test("on GitHub, Stripe, Slack and Kubernetes together, all sets of queries keep their aims", () => {
    const all = [...tuningQueries, ...heldOutQueries, ...secondQueries, ...thirdQueries, ...fourthQueries];
    const { queries, first, firstFive, led, ledRight } = measureSearchQuality(corpus, all);
    expect(first / queries).toBeGreaterThan(0.8);
    expect(firstFive / queries).toBeGreaterThan(0.92);
    expect(ledRight / led).toBeGreaterThan(0.95);
    expect(led / queries).toBeGreaterThan(0.4);
  });
}
