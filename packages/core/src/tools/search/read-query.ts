/**
 * What a query asks for: the words to be found, and what should be done with them. Knows English and APIs, not the tools.
 * Bounded whatever comes in: only the first words of a long query count.
 */
import { Action, type ActionMask, actionOf, isDoing, reads, undone } from "./actions.ts";
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
  /** What it implies as a verb, where a tool does not say the word itself; zero for all others. */
  implies: ActionMask;
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
  /** Less behind a preposition: `from my branch` says where, not what. */
  share: number;
}

const BESIDE = 0.65;
const SELF = 0.35;
const HINT = 0.4;
const UNDONE = 0.5;
/** From here on a verb says nothing but what to do. */
const PLAIN = 0.8;

export function readQuery(text: string): Query {
  const cut = text.slice(0, MAX_LENGTH);
  const said = replacePhrases(sayWords(cut));
  const mine = saysSelf(said);
  const many = said.some(({ word }) => word === "all" || word === "every");
  const isQuestion = asksForFacts(said);
  const { rest, asked, sure, verb, verbAt } = isQuestion ? noVerb(said) : takeVerb(said);
  const meaning = rest.filter(({ word }) => !isSilent(word));
  const words = meaning.length > 0 ? meaning : verb === null ? said : [{ word: verb, plural: false, share: 1 }];
  const verbWord = verbAt === null ? null : (said[verbAt]?.word ?? null);
  const concepts = words
    .slice(0, MAX_CONCEPTS - 1)
    .map(({ word, share }) => makeConcept(word, share, word === verbWord ? asked : (aspects.get(word) ?? 0)));
  for (const word of hinted(said, asked, isQuestion)) concepts.push(makeConcept(word, HINT, 0));
  if (mine) concepts.push(makeConcept("authenticated", SELF, 0));
  const doing = !isQuestion && asked === 0 && !isAboutAspect(said) && isDeed(said);
  const plural = many || meaning.some((each) => each.plural && each.share === 1);
  const wished = doing ? deed(said) : wish(asked, sure, plural);
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

/** A verb nobody knows most likely changes something that is there. */
function deed(said: readonly Said[]): Wish {
  const isKnown = said.some(({ word }) => isDoing(word));
  return { asked: isKnown ? 0 : Action.update, sure: isKnown ? 0.6 : 0.4 };
}

/** Words for what was said without them: who adds a person invites, and `is it merged` wants a check. */
function hinted(said: readonly Said[], asked: ActionMask, isQuestion: boolean): string[] {
  const first = said[0]?.word ?? "";
  if (isQuestion) return first === "who" ? ["user"] : checking.has(first) ? ["check"] : [];
  if (!said.some(({ word, share }) => persons.has(word) && share === 1)) return [];
  if (asked === Action.create) return ["invite"];
  return asked === Action.delete ? ["kick"] : [];
}
const checking: ReadonlySet<string> = new Set("is are was were does did has".split(" "));
const persons: ReadonlySet<string> = new Set(
  "someone somebody everyone user person member teammate colleague guest collaborator participant".split(" "),
);

/** A verb without an action of its own stands first; what an article follows, there, is a verb too, known or not. */
function isDeed(said: readonly Said[]): boolean {
  const first = said.findIndex(({ word }) => !isSilent(word));
  return said.some(({ word, plural }, at) => {
    const next = said[at + 1]?.word ?? "";
    if (plural || isSilent(word)) return false;
    return at === first ? isDoing(word) || determiners.has(next) : isDoing(word) && determiners.has(next);
  });
}
const determiners: ReadonlySet<string> = new Set(["a", "an", "the", "my", "our", "this", "someone", "somebody"]);

function sayWords(text: string): Said[] {
  const said: Said[] = [];
  splitWords(text, (spelling) => {
    if (said.length < MAX_WORDS) said.push({ word: singular(spelling), plural: isPlural(spelling), share: 1 });
  });
  return withShares(said);
}

/** What stands behind the first preposition, once something was said, is beside the point: less, but not nothing. */
function withShares(said: readonly Said[]): Said[] {
  let hasNoun = false;
  let isBeside = false;
  return said.map((each, at) => {
    const next = said[at + 1]?.word ?? "";
    const isInfinitive = each.word === "to" && (actionOf(next) !== null || isDoing(next));
    if (hasNoun && prepositions.has(each.word) && !isInfinitive) isBeside = true;
    else if (!isSilent(each.word) && actionOf(each.word) === null) hasNoun = true;
    return isBeside ? { ...each, share: BESIDE } : each;
  });
}

/** `of` and `in` are not among them: `issues of a repository`, `pods in a namespace`. */
const prepositions: ReadonlySet<string> = new Set(
  `from into onto with without on for by at using via to about under once when while if because so that which after before
  until since during instead`.split(/\s+/),
);

/** `my repos`, `repos I starred`; not `how do I`. */
function saysSelf(said: readonly Said[]): boolean {
  return said.some(({ word }, at) => {
    if (word === "my" || word === "mine" || word === "myself" || word === "me") return word !== "me" || at > 1;
    return word === "i" && at > 0 && !auxiliaries.has(said[at - 1]?.word ?? "");
  });
}
const auxiliaries: ReadonlySet<string> = new Set(
  "do can could should would may must will shall how if am did".split(" "),
);
const askingWords: ReadonlySet<string> = new Set("who what which where when is are was were does did has".split(" "));

/** `who is online`, `how many`, `is it merged`: answers are wanted, whatever verbs come later. `how do I` asks for a deed. */
function asksForFacts(said: readonly Said[]): boolean {
  const [first, second] = said.map(({ word }) => word);
  if (first === undefined || said.length < 3) return false;
  if (first === "how") return second === "many" || second === "much" || second === "often";
  return askingWords.has(first);
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
    const share = said[at]?.share ?? 1;
    replaced.push(...to.map((word) => ({ word, plural, share })));
    at += from.length - 1;
  }
  return replaced;
}

interface Wish {
  asked: ActionMask;
  sure: number;
}

interface Taken extends Wish {
  rest: Said[];
  verb: string | null;
  verbAt: number | null;
}

/** No word of it says what to do; a question is answered by reading. */
const noVerb = (said: readonly Said[]): Taken => ({
  rest: said.filter(({ word, plural }) => plural || (actionOf(word)?.sure ?? 0) < PLAIN),
  asked: reads,
  sure: 0.7,
  verb: null,
  verbAt: null,
});

/** The first word that can only be a verb, or one that may be a noun where it stands like a verb: `file an issue`. */
function takeVerb(said: readonly Said[]): Taken {
  const first = said.findIndex(({ word }) => !isSilent(word) || word === "which");
  const endsInAspect = isAboutAspect(said);
  for (let at = 0; at < said.length; at++) {
    const { word, plural } = said[at] as Said;
    const found = actionOf(word);
    if (!found) continue;
    const next = said[at + 1]?.word ?? "";
    const isPlain = found.sure >= PLAIN;
    const standsLikeVerb =
      at === first &&
      (articles.has(next) ||
        (!plural && directions.has(next)) ||
        (said.length > 1 && !plural && (isPlain || (isDoing(word) && !endsInAspect))));
    if (at > first && isDoing(word) && determiners.has(next) && !plural)
      return taken(said, at, found.action, found.sure);
    if (at === first && word === "open" && said.at(-1)?.plural === true && !articles.has(next)) continue;
    if (!standsLikeVerb && (plural || found.sure < 0.6 || nouns.has(word))) continue;
    let asked = found.action;
    const second = said[at + 2];
    if ((next === "or" || next === "and") && second) asked |= actionOf(second.word)?.action ?? 0;
    return taken(said, at, asked, found.sure);
  }
  return { rest: [...said], asked: 0, sure: 0, verb: null, verbAt: null };
}

/** A plain verb is no word to be looked for; the others are that as well. */
function taken(said: readonly Said[], verbAt: number, asked: ActionMask, sure: number): Taken {
  const rest = said.filter((_, index) => index !== verbAt || sure < PLAIN);
  return { rest, asked, sure, verb: said[verbAt]?.word ?? null, verbAt };
}

/** What one looks at: `refund status` and `workflow run details` do nothing. The value: what a tool does that shows it. */
const aspects: ReadonlyMap<string, ActionMask> = new Map([
  ["detail", Action.get],
  ["information", Action.get],
  ["metadata", Action.get],
  ["status", Action.get],
  ["overview", Action.get],
  ["history", Action.list],
  ["count", reads],
  ["summary", reads],
]);

const isAboutAspect = (said: readonly Said[]): boolean => said.length === 2 && aspects.has(said[1]?.word ?? "");

const articles: ReadonlySet<string> = new Set([
  "a",
  "an",
  "the",
  "my",
  "new",
  "this",
  "that",
  "our",
  "some",
  "all",
  "someone",
  "somebody",
  "everyone",
  "people",
  "user",
  "me",
]);
const directions: ReadonlySet<string> = new Set(["on", "to"]);
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
  if (asked === reads) return { asked: plural ? Action.list : reads, sure };
  if (asked === 0) return plural ? { asked: Action.list, sure: 0.7 } : { asked: reads, sure: 0.3 };
  return { asked, sure };
}

function makeConcept(word: string, share: number, implies: ActionMask): Concept {
  const others = new Map(synonymsOf(word));
  const verb = actionOf(word);
  const opposite = undone(word);
  if (opposite !== null) {
    others.set(opposite, UNDONE);
    for (const [other, worth] of synonymsOf(opposite)) others.set(other, worth * UNDONE);
  }
  return { word, others, share: share * (verb && verb.sure === 0.6 ? 0.7 : 1), implies, mayBeNamespace: true };
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
