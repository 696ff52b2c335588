/**
 * The search behind `tools.discover`: over the indexes of all sources of a workspace at once, best first. Two passes: the first
 * adds up over the lists of docs by word and touches every doc that has one; the second looks closely at the best of those.
 * The same query over the same segments always gives the same answer. Policy is asked only for what would be shown.
 */
import { agreement, reads, writes } from "./actions.ts";
import { createJudge, EXACT_PATH, type Judge } from "./judge-doc.ts";
import { type Query, readQuery } from "./read-query.ts";
import { resolveQuery, type Segment, type Sought } from "./resolve-query.ts";
import { Field, Flag, type SearchIndex } from "./search-index.ts";

export interface SearchOptions {
  limit: number;
  /** May the caller see it? Called in the order of rank, until there are enough. */
  accept(segment: number, doc: number): boolean;
}

export interface SearchResult {
  segment: number;
  doc: number;
  score: number;
}

export interface SearchAnswer {
  results: SearchResult[];
  /** Docs that match about as much of the query as the best one, before `accept`. */
  total: number;
  /** The first one is clearly ahead of the second. */
  leads: boolean;
}

/** How many of the first pass the second one looks at, and again while too few were accepted. */
const BATCH = 400;
/** A doc that matches less than this share of what the best one does is no answer. */
const RELEVANT = 0.45;
/** By how much the first must be ahead: further where the query did not say what to do, or the name says more than the query. */
const LEAD = 8;
const FAR_LEAD = 20;

export function searchSegments(segments: readonly Segment[], text: string, options: SearchOptions): SearchAnswer {
  const query = readQuery(text);
  const sought = resolveQuery(segments, query);
  if (sought.length === 0) return { results: [], total: 0, leads: false };
  const verbWeight = query.asked === 0 && !query.doing ? 0 : 1.1 * query.sure;
  const scans = segments.map(({ index }, segment) => scanSegment(index, segment, sought, query, verbWeight));
  const best = scans.reduce((most, scan) => Math.max(most, scan.best), 0);
  const ranked = rankScans(scans, best * RELEVANT);
  const judge = createJudge(segments, query, sought, verbWeight);
  const results: SearchResult[] = [];
  // One that leads must be ahead of another, also where only one is asked for.
  const enough = Math.max(2, options.limit);
  for (let from = 0; from < ranked.length && results.length < enough; from += BATCH) {
    const batch = ranked
      .slice(from, from + BATCH)
      .map(({ segment, doc, score }) => {
        const { matched } = scans[segment] as Scan;
        return { segment, doc, score: judge.score(segment, doc, score, matched[doc] as number) };
      })
      .toSorted((a, b) => b.score - a.score || comparePaths(segments, a, b));
    for (const result of batch) {
      if (results.length >= enough) break;
      if (options.accept(result.segment, result.doc)) results.push(result);
    }
  }
  return {
    results: results.slice(0, options.limit),
    total: ranked.length,
    leads: isClear(results, query, sought.length, scans, judge),
  };
}

interface Scan {
  scores: Float32Array;
  /** Which of the sought words each doc has, one bit each. */
  matched: Uint16Array;
  best: number;
}

function scanSegment(
  index: SearchIndex,
  segment: number,
  sought: readonly Sought[],
  query: Query,
  verbWeight: number,
): Scan {
  const scores = new Float32Array(index.size);
  const matched = new Uint16Array(index.size);
  const bestHere = new Float32Array(index.size);
  const touched = new Uint32Array(index.size);
  const { postings, starts } = index;
  const said = new Uint8Array(index.size);
  const fills = new Float32Array(index.size);
  sought.forEach(({ weight, implies, bySegment }, at) => {
    const matches = bySegment[segment] ?? null;
    const bit = 1 << at;
    if (matches === null) {
      for (let doc = 0; doc < index.size; doc++) {
        scores[doc]! += weight;
        matched[doc]! |= bit;
      }
      return;
    }
    let count = 0;
    for (const { word, worth } of matches) {
      const end = starts[word + 1] as number;
      for (let posting = starts[word] as number; posting < end; posting++) {
        const packed = postings[posting] as number;
        const doc = packed >>> 8;
        const value = worth * (fieldWorth[packed & 31] as number);
        const before = bestHere[doc] as number;
        if (before === 0) touched[count++] = doc;
        if (value > before) bestHere[doc] = value;
      }
    }
    for (let each = 0; each < count; each++) {
      const doc = touched[each] as number;
      const value = Math.max(bestHere[doc] as number, implied(implies, index.actions[doc] as number));
      scores[doc]! += weight * value;
      if (value >= 0.28) matched[doc]! |= bit;
      bestHere[doc] = 0;
      if (implies !== 0) said[doc] = 1;
    }
    if (implies !== 0)
      for (let doc = 0; doc < index.size; doc++) {
        if (said[doc] === 0) fills[doc] = weight * implied(implies, index.actions[doc] as number);
      }
  });
  for (let doc = 0; doc < index.size; doc++) if (scores[doc] !== 0) scores[doc]! += fills[doc] as number;
  return { scores, matched, best: addVerb(index, scores, query, verbWeight) };
}

/** What a verb is worth where the tool does not say it: to close an issue is to update it. */
function implied(implies: number, offered: number): number {
  return implies === 0 ? 0 : 0.4 * agreement(implies, offered);
}

/** What the doc does counts for those that have anything else in common with the query. */
function addVerb(
  { actions, flags, size }: SearchIndex,
  scores: Float32Array,
  { asked, doing }: Query,
  weight: number,
): number {
  const worth = Float32Array.from({ length: 64 }, (_, key) => {
    const safe = (key & 32) !== 0;
    const isAgainst = safe ? doing || (asked !== 0 && (asked & reads) === 0) : asked !== 0 && (asked & writes) === 0;
    return weight * (agreement(asked, key & 31) - (isAgainst ? 0.7 : 0));
  });
  let best = 0;
  for (let doc = 0; doc < size; doc++) {
    if (scores[doc] === 0) continue;
    const safe = ((flags[doc] as number) & Flag.safe) !== 0 ? 32 : 0;
    const score = Math.max(0.01, (scores[doc] as number) + (worth[(actions[doc] as number) | safe] as number));
    scores[doc] = score;
    if (score > best) best = score;
  }
  return best;
}

/** A word in the name says more than one in the text; in two places, a little more than in one. */
const fieldWorth = Float32Array.from({ length: 32 }, (_, fields) => {
  const worths = [
    [Field.name, 1],
    [Field.title, 1.05],
    [Field.tag, 0.6],
    [Field.keyword, 0.55],
    [Field.text, 0.4],
  ] as const;
  const held = worths.filter(([field]) => (fields & field) !== 0).map(([, worth]) => worth);
  return Math.min(1.15, Math.max(0, ...held) + 0.05 * Math.max(0, held.length - 1));
});

function rankScans(scans: readonly Scan[], least: number): SearchResult[] {
  const ranked: SearchResult[] = [];
  scans.forEach(({ scores }, segment) => {
    for (let doc = 0; doc < scores.length; doc++) {
      const score = scores[doc] as number;
      if (score > 0 && score >= least) ranked.push({ segment, doc, score });
    }
  });
  return ranked.sort((a, b) => b.score - a.score || a.segment - b.segment || a.doc - b.doc);
}

function comparePaths(segments: readonly Segment[], a: SearchResult, b: SearchResult): number {
  const path = ({ segment, doc }: SearchResult): string => segments[segment]?.index.paths[doc] ?? "";
  const [left, right] = [path(a), path(b)];
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : a.segment - b.segment || a.doc - b.doc);
}

/** A guess that is followed must be good: every word of the query is known and matched, and the next one is well behind. */
function isClear(
  [first, second]: readonly SearchResult[],
  { vague, concepts, verb, doing }: Query,
  sought: number,
  scans: readonly Scan[],
  judge: Judge,
): boolean {
  if (!first) return false;
  if (first.score >= EXACT_PATH) return true;
  const isWhole = ({ segment, doc }: SearchResult): boolean => scans[segment]?.matched[doc] === (1 << sought) - 1;
  if (vague || sought < concepts.length || !isWhole(first)) return false;
  if (second === undefined) return true;
  const isSaid = (verb !== null || doing) && judge.isAllAsked(first.segment, first.doc);
  // A second that lacks a word of the query is no rival.
  return first.score - second.score >= (isSaid ? LEAD : FAR_LEAD) * (isWhole(second) ? 1 : 0.6);
}
