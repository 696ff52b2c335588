/**
 * The second, closer look at a doc that the first pass found: how much of its name and its first sentence the query explains,
 * whether words stand together as they were said, and whether the whole query was matched. `create a customer` is explained by
 * `create_customer`; of `create_customer_balance_transaction` two words remain that nobody asked for.
 */
import { type ActionMask, actionOf, reads, writes } from "./actions.ts";
import { flatten, type Query } from "./read-query.ts";
import type { Segment, Sought } from "./resolve-query.ts";
import { Flag, isFiller, type SearchIndex } from "./search-index.ts";

export interface Judge {
  score(segment: number, doc: number, firstScore: number, matched: number): number;
  /** The name says nothing but what was asked for. */
  isAllAsked(segment: number, doc: number): boolean;
}

const COVERAGE = 100;
const NAME = 30;
const TITLE = 14;
/** Each word of the name that nobody asked for. */
const UNASKED = -2.5;
const ALL_MATCHED = 10;
const PHRASE = 8;
const LITERAL_VERB = 6;
const OUTDATED = -18;
const ALL = 3;
const AGAINST = 0.85;
const ELSEWHERE = 0.7;
export const EXACT_PATH = 1_000;

export function createJudge(
  segments: readonly Segment[],
  query: Query,
  sought: readonly Sought[],
  verbWeight: number,
): Judge {
  const readers = segments.map(({ index }, segment) => createReader(index, explainedBy(sought, segment), query.verb));
  const whole = sought.reduce((sum, { weight }) => sum + weight, verbWeight);
  const all = (1 << sought.length) - 1;
  const isAllAsked: Judge["isAllAsked"] = (segment, doc) =>
    (readers[segment] as Reader).read((segments[segment] as Segment).index.names, doc).unasked === 0;
  const score: Judge["score"] = (segment, doc, firstScore, matched) => {
    const { index, namespace } = segments[segment] as Segment;
    const reader = readers[segment] as Reader;
    const coverage = firstScore / whole;
    const name = reader.read(index.names, doc);
    const title = reader.read(index.titles, doc);
    const said = Math.max(name.phrase, title.phrase);
    const path = flatten(index.paths[doc] as string);
    const against = isAgainst(query, index.actions[doc] as number, ((index.flags[doc] as number) & Flag.safe) !== 0);
    const isPath = query.flat === path || query.flat === flatten(namespace) + path;
    return (
      (against ? AGAINST : 1) *
        (isElsewhere(sought, segment) ? ELSEWHERE : 1) *
        (coverage * (COVERAGE + NAME * name.explained + TITLE * title.explained) +
          (matched === all ? ALL_MATCHED : 0) +
          (sought.length > 1 ? (PHRASE * said) / (sought.length - 1) : 0) +
          UNASKED * name.unasked +
          (name.hasVerb || title.hasVerb ? LITERAL_VERB : 0) +
          (reader.saysAll(doc) ? (query.all ? ALL : -ALL) : 0) +
          (((index.flags[doc] as number) & Flag.outdated) !== 0 ? OUTDATED : 0)) +
      (isPath ? EXACT_PATH : 0)
    );
  };
  return { score, isAllAsked };
}

/** It reads where something is to be done, or does where something is to be read. */
function isAgainst({ asked, doing }: Query, offered: ActionMask, safe: boolean): boolean {
  if (asked === 0) return doing && safe;
  const [wantsRead, wantsWrite] = [(asked & reads) !== 0, (asked & writes) !== 0];
  if (wantsRead && !wantsWrite) return !safe && (offered & reads) === 0;
  return wantsWrite && !wantsRead && safe && (offered & writes) === 0;
}

/** Another source was named. */
const isElsewhere = (sought: readonly Sought[], segment: number): boolean =>
  sought.some(({ bySegment, isNamed }) => isNamed && bySegment[segment] !== null);

/** Word number to which of the sought it is, and how well. */
function explainedBy(sought: readonly Sought[], segment: number): Map<number, { at: number; worth: number }> {
  const explained = new Map<number, { at: number; worth: number }>();
  sought.forEach(({ bySegment }, at) => {
    for (const { word, worth } of bySegment[segment] ?? []) {
      if (worth > (explained.get(word)?.worth ?? 0)) explained.set(word, { at, worth });
    }
  });
  return explained;
}

interface Reading {
  /** Share of what the words say that the query explains. */
  explained: number;
  /** How many neighbours of the query are neighbours here. */
  phrase: number;
  hasVerb: boolean;
  /** Words that the query does not explain. */
  unasked: number;
}
interface Reader {
  read(sequences: SearchIndex["names"], doc: number): Reading;
  saysAll(doc: number): boolean;
}

function createReader(
  index: SearchIndex,
  explained: ReadonlyMap<number, { at: number; worth: number }>,
  verb: string | null,
): Reader {
  const verbNumber = verb === null ? -1 : (index.numbers.get(verb) ?? -1);
  /** Words come again and again; -1: does not count. */
  const rarities = new Map<number, number>();
  const rarityOf = (word: number): number => {
    let rarity = rarities.get(word);
    if (rarity === undefined) {
      const text = index.words[word] as string;
      const isVerb = (actionOf(text)?.sure ?? 0) >= 0.8;
      rarity = isVerb || isFiller(text) ? -1 : Math.log(1 + index.size / (1 + (index.heads[word] as number)));
      rarities.set(word, rarity);
    }
    return rarity;
  };
  const allNumber = index.numbers.get("all") ?? -1;
  return {
    saysAll: (doc) =>
      allNumber >= 0 &&
      index.names.items.subarray(index.names.starts[doc], index.names.starts[doc + 1]).includes(allNumber),
    read({ starts, items, tags }, doc) {
      const from = starts[doc] as number;
      const tagEnd = from + (tags[doc] ?? 0);
      let [total, known, phrase, last, hasVerb, unasked] = [0, 0, 0, -2, false, 0];
      for (let at = from; at < (starts[doc + 1] as number); at++) {
        const word = items[at] as number;
        if (word === verbNumber) hasVerb = true;
        const found = explained.get(word);
        if (found && found.at === last + 1) phrase++;
        const rarity = found ? Math.abs(rarityOf(word)) : rarityOf(word);
        if (found) last = found.at;
        else if (rarity >= 0) {
          last = -2;
          unasked++;
        }
        if (rarity < 0) continue;
        const part = rarity * (at < tagEnd ? 0.9 : 1);
        total += part;
        if (found) known += part * found.worth;
      }
      return { explained: total === 0 ? 0.5 : known / total, phrase, hasVerb, unasked };
    },
  };
}
