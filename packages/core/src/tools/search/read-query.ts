/**
 * What a query asks for: the words to be found, and what should be done with them. Knows English and APIs, not the tools.
 * Bounded whatever comes in: only the first words of a long query count.
 */
import { Action, type ActionMask, actionOf, isDoing, reads } from "./actions.ts";
import { splitWords } from "./split-words.ts";
import { phrases, stopWords, synonymsOf } from "./synonyms.ts";
import { isPlural, singular } from "./word-forms.ts";

export interface Query {
  concepts: Concept[];
  /** Zero: the query does not say. */
  asked: ActionMask;
  /** How much weight that has, 0 to 1. */
  sure: number;
  /** Something is to be done, even where no action says what. */
  doing: boolean;
  /** All of them were asked for. */
  all: boolean;
  /** Says nothing but what to do, not with what. */
  vague: boolean;
  /** The verb as it was said; null when there was none. */
  verb: string | null;
  /** Letters and digits only: to be compared with a path. */
  flat: string;
}

/** One thing that was said, and the other words for it. */
export interface Concept {
  word: string;
  /** Share of the weight a word of its kind has. */
  share: number;
  /** Words that count as this one, with their worth below 1. */
  others: Map<string, number>;
  /** The name of a namespace may be meant. */
  mayBeNamespace: boolean;
}

const MAX_LENGTH = 400;
const MAX_WORDS = 24;
/** 32 would not fit into the signs of a whole number. */
const MAX_CONCEPTS = 12;

interface Said {
  word: string;
  plural: boolean;
}

export function readQuery(text: string): Query {
  const cut = text.slice(0, MAX_LENGTH);
  const said = replacePhrases(sayWords(cut));
  const mine = said.some(({ word }) => word === "my" || word === "mine" || word === "myself");
  const many = said.some(({ word }) => word === "all" || word === "every");
  const { rest, asked, sure, verb } = takeVerb(said);
  const meaning = rest.filter(({ word }) => !isSilent(word));
  const words = meaning.length > 0 ? meaning : verb === null ? said : [{ word: verb, plural: false }];
  const concepts = words.slice(0, MAX_CONCEPTS - 1).map(({ word }) => makeConcept(word));
  if (mine) concepts.push({ ...makeConcept("authenticated"), share: 0.35 });
  const doing = asked === 0 && isDoing(said.find(({ word }) => !isSilent(word))?.word ?? "");
  const plural = many || meaning.some((each) => each.plural);
  const wished = doing ? { asked: 0, sure: 0.6 } : wish(asked, sure, plural);
  return {
    concepts: dropTwins(concepts),
    ...wished,
    doing,
    all: many,
    vague: meaning.length === 0,
    verb,
    flat: flatten(cut),
  };
}

export const flatten = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

function sayWords(text: string): Said[] {
  const said: Said[] = [];
  splitWords(text, (spelling) => {
    if (said.length < MAX_WORDS) said.push({ word: singular(spelling), plural: isPlural(spelling) });
  });
  return said;
}

function replacePhrases(said: readonly Said[]): Said[] {
  const replaced: Said[] = [];
  for (let at = 0; at < said.length; at++) {
    const phrase = phrases.find(([from]) => from.every((word, offset) => said[at + offset]?.word === word));
    if (!phrase) {
      replaced.push(said[at] as Said);
      continue;
    }
    const [from, to] = phrase;
    const plural = said[at + from.length - 1]?.plural ?? false;
    replaced.push(...to.map((word) => ({ word, plural })));
    at += from.length - 1;
  }
  return replaced;
}

interface Wish {
  asked: ActionMask;
  sure: number;
}

/** The first word that can only be a verb, or one that may be a noun where it stands like a verb: `file an issue`. */
function takeVerb(said: readonly Said[]): Wish & { rest: Said[]; verb: string | null } {
  const first = said.findIndex(({ word }) => !isSilent(word) || word === "which");
  for (let at = 0; at < said.length; at++) {
    const { word, plural } = said[at] as Said;
    const found = actionOf(word);
    if (!found) continue;
    const next = said[at + 1]?.word ?? "";
    const isPlain = found.sure >= 0.8;
    const standsLikeVerb = at === first && (articles.has(next) || (said.length > 1 && (isPlain || isDoing(word))));
    if (!standsLikeVerb && (plural || found.sure < 0.6 || nouns.has(word))) continue;
    let asked = found.action;
    const second = said[at + 2];
    if ((next === "or" || next === "and") && second) asked |= actionOf(second.word)?.action ?? 0;
    const rest = said.filter((_, index) => index !== at || !isPlain);
    return { rest, asked, sure: found.sure, verb: word };
  }
  return { rest: [...said], asked: 0, sure: 0, verb: null };
}

const articles: ReadonlySet<string> = new Set(["a", "an", "the", "my", "new", "this", "that", "our", "some", "all"]);
/** They are in the table of verbs, and more often things when they come later. */
const nouns: ReadonlySet<string> = new Set([
  "post",
  "set",
  "view",
  "change",
  "patch",
  "update",
  "read",
  "index",
  "load",
]);

/** Who gets several things wants a list; who names several and says nothing else most likely does, too. */
function wish(asked: ActionMask, sure: number, plural: boolean): Wish {
  if (asked === Action.get && plural) return { asked: Action.list, sure };
  if (asked === reads) return { asked: plural ? Action.list | Action.get : reads, sure };
  if (asked === 0 && plural) return { asked: Action.list, sure: 0.4 };
  return { asked, sure };
}

function makeConcept(word: string): Concept {
  const others = new Map(synonymsOf(word));
  const verb = actionOf(word);
  return { word, others, share: verb && verb.sure === 0.6 ? 0.7 : 1, mayBeNamespace: true };
}

function dropTwins(concepts: readonly Concept[]): Concept[] {
  const seen = new Set<string>();
  const single = concepts.filter(({ word }) => !seen.has(word) && seen.add(word));
  // One word of a tool must not stand for two of the query.
  for (const { others } of single) for (const word of seen) others.delete(word);
  return single;
}

const quantities: ReadonlySet<string> = new Set(["my", "mine", "myself", "all", "every"]);
const isSilent = (word: string): boolean => stopWords.has(word) || quantities.has(word);
