/**
 * Finds the words of a query in the indexes: as they are, as relatives (invite, invitation), joined (web hook, webhook),
 * and, only when nothing of that is known anywhere, as beginnings, compounds and misspellings of words that are.
 * Says how much each counts: what is rare over all segments together counts more, so scores compare between them.
 */
import { editDistance } from "./edit-distance.ts";
import type { Concept, Query } from "./read-query.ts";
import { lettersOf, type SearchIndex } from "./search-index.ts";
import { wordsOf } from "./split-words.ts";
import { rootOf, singular } from "./word-forms.ts";

export interface Segment {
  namespace: string;
  index: SearchIndex;
}

export interface Sought {
  weight: number;
  /** As of the concept: what a tool may do instead of saying the word. */
  implies: number;
  /** It is the name of a source and hardly a word of the others: who says it means that source. */
  isNamed: boolean;
  /** By segment: numbers of words and what each is worth, or null when the namespace itself is meant. */
  bySegment: (Match[] | null)[];
}

export interface Match {
  word: number;
  worth: number;
}

const RELATIVE = 0.75;
const JOINED = 0.95;
const APART = 0.8;
const MAX_GUESSES = 12;

/** What nothing is known of is left out. */
export function resolveQuery(segments: readonly Segment[], { concepts }: Query): Sought[] {
  const total = segments.reduce((sum, { index }) => sum + index.size, 0);
  const spoken = segments.map(({ namespace }) =>
    new Set(wordsOf(namespace).map(singular)).add(namespace.toLowerCase()),
  );
  const found = concepts.map((concept, at) => {
    const spellings = new Map([[concept.word, 1], ...concept.others]);
    for (const [joined, worth] of joinedWith(concepts, at)) spellings.set(joined, worth);
    const isNamespace = spoken.map((words) => concept.mayBeNamespace && words.has(concept.word));
    const matches = segments.map(({ index }) => matchWords(index, spellings));
    if (!isNamespace.includes(true) && matches.every((each) => each.length === 0))
      guess(segments, concept.word, matches);
    return { concept, isNamespace, matches };
  });
  return found
    .filter(({ isNamespace, matches }) => isNamespace.includes(true) || matches.some((each) => each.length > 0))
    .map(({ concept, isNamespace, matches }) => ({
      implies: concept.implies,
      isNamed: isNamespace.includes(true) && isRareIn(segments, matches, isNamespace),
      weight: isNamespace.includes(true) ? 1 : concept.share * weigh(segments, matches, total),
      bySegment: matches.map((each, segment) => (isNamespace[segment] ? null : each)),
    }));
}

/** With its neighbours, as one word; with any other, a little less: the `item` of an `invoice` is an invoiceitem. */
function joinedWith(concepts: readonly Concept[], at: number): [string, number][] {
  const word = (offset: number): string | null => concepts[at + offset]?.word ?? null;
  const [two, one, self, next, after] = [word(-2), word(-1), word(0) ?? "", word(1), word(2)];
  const joined: [string, number][] = [];
  for (const [index, other] of concepts.entries()) {
    if (index !== at) joined.push([other.word + self, APART], [self + other.word, APART]);
  }
  if (one !== null) joined.push([one + self, JOINED]);
  if (next !== null) joined.push([self + next, JOINED]);
  if (two !== null && one !== null) joined.push([two + one + self, JOINED]);
  if (one !== null && next !== null) joined.push([one + self + next, JOINED]);
  if (next !== null && after !== null) joined.push([self + next + after, JOINED]);
  return joined;
}

function matchWords(index: SearchIndex, spellings: ReadonlyMap<string, number>): Match[] {
  const worths = new Map<number, number>();
  const add = (word: number | undefined, worth: number): void => {
    if (word !== undefined && worth > (worths.get(word) ?? 0)) worths.set(word, worth);
  };
  for (const [spelling, worth] of spellings) {
    add(index.numbers.get(spelling), worth);
    for (const relative of index.families.get(rootOf(spelling)) ?? []) add(relative, worth * RELATIVE);
  }
  return Array.from(worths, ([word, worth]) => ({ word, worth })).toSorted((a, b) => b.worth - a.worth);
}

function guess(segments: readonly Segment[], word: string, into: Match[][]): void {
  if (word.length < 2) return;
  const most = word.length >= 8 ? 2 : word.length >= 5 ? 1 : 0;
  const letters = lettersOf(word);
  segments.forEach(({ index }, segment) => {
    const guesses: Match[] = splitCompound(index, word);
    for (let number = 0; number < index.words.length; number++) {
      const known = index.words[number] as string;
      if (known.startsWith(word)) guesses.push({ word: number, worth: 0.5 + (0.4 * word.length) / known.length });
      else if (most > 0 && Math.abs(known.length - word.length) <= most && known.length >= 4) {
        if (countBits((index.letters[number] as number) ^ letters) > 2 * most) continue;
        const distance = editDistance(word, known, most);
        if (distance <= most) guesses.push({ word: number, worth: distance === 1 ? 0.85 : 0.6 });
      }
    }
    into[segment] = guesses.toSorted((a, b) => b.worth - a.worth || a.word - b.word).slice(0, MAX_GUESSES);
  });
}

/** `pullrequest` where only pull and request are known. */
function splitCompound(index: SearchIndex, word: string): Match[] {
  for (let at = 3; at <= word.length - 3; at++) {
    const left = index.numbers.get(word.slice(0, at));
    const right = index.numbers.get(word.slice(at));
    if (left !== undefined && right !== undefined)
      return [
        { word: left, worth: 0.8 },
        { word: right, worth: 0.8 },
      ];
  }
  return [];
}

function isRareIn(segments: readonly Segment[], matches: readonly Match[][], except: readonly boolean[]): boolean {
  return segments.every(({ index }, segment) => {
    const docs = (matches[segment] ?? []).reduce((sum, { word }) => sum + (index.heads[word] as number), 0);
    return except[segment] === true || docs <= index.size / 100;
  });
}

/** Between 0.7 for what is everywhere and 1.7 for what is nearly nowhere. */
function weigh(segments: readonly Segment[], matches: readonly Match[][], total: number): number {
  let docs = 0;
  matches.forEach((each, segment) => {
    const { heads, starts } = (segments[segment] as Segment).index;
    for (const { word, worth } of each) {
      const all = (starts[word + 1] as number) - (starts[word] as number);
      docs += worth * ((heads[word] as number) * 0.8 + all * 0.2);
    }
  });
  return 0.7 + Math.log(1 + total / (1 + Math.min(docs, total))) / Math.log(2 + total);
}

function countBits(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
