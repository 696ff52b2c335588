/**
 * The words of a source's tools, ready to be searched: built once for each source and shared between workspaces, so it knows
 * names below the namespace only. Numbers lie in typed arrays; the only strings are the words themselves and the names, which
 * the caller holds anyway. It is never changed after it was built.
 */
import { Action, type ActionMask, actionOf, isMethodWord } from "./actions.ts";
import { GrowingNumbers } from "./growing-numbers.ts";
import { splitWords } from "./split-words.ts";
import { fillerWords, stopWords } from "./synonyms.ts";
import { isPlural, rootOf, singular } from "./word-forms.ts";

export interface SearchDoc {
  /** Below the namespace: `issues.list_for_repo`. */
  path: string;
  description: string;
  /** Tags, the path's words, names of parameters. */
  keywords: string;
  safe: boolean;
}

/** Where a word was found; several may hold at once. */
export const Field = { name: 1, tag: 2, title: 4, keyword: 8, text: 16, pluralName: 32 } as const;
export const Flag = { safe: 1, outdated: 2 } as const;

export interface SearchIndex {
  /** How many docs. */
  readonly size: number;
  readonly paths: readonly string[];
  /** Word to its number; numbers are positions in `words`. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly words: readonly string[];
  /** Words that share a root, where there are several or the root is no word itself. */
  readonly families: ReadonlyMap<string, readonly number[]>;
  /** Which letters a word has, one bit each: rules out most words before their letters are compared. */
  readonly letters: Uint32Array;
  /** Docs of word w: postings[starts[w]] to postings[starts[w + 1]], ascending, each `doc << 8 | fields`. */
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
  /** In how many docs word w stands in name, tag or title: how common it is as a subject, whatever the texts mention. */
  readonly heads: Uint32Array;
  /** Words of the doc's name, tag first, and of its title (the first sentence), in their order. */
  readonly names: Sequences;
  readonly titles: Sequences;
  /** What the doc does, as an ActionMask. */
  readonly actions: Uint8Array;
  readonly flags: Uint8Array;
}

/** Of doc d: items[starts[d]] to items[starts[d + 1]]. `tags[d]` of them come before the last part of the name. */
export interface Sequences {
  readonly starts: Uint32Array;
  readonly items: Uint32Array;
  readonly tags: Uint8Array;
}

/** Sentences after these many words say more about limits and permissions than about what the tool does. */
const MAX_TEXT_WORDS = 40;
/** Enough for as many; matching more would be for nothing. */
const MAX_TEXT_LENGTH = 400;
const MAX_TITLE_WORDS = 16;
const MAX_NAME_WORDS = 32;
const MAX_KEYWORDS = 64;

export function createSearchIndex(docs: readonly SearchDoc[]): SearchIndex {
  const builder = createBuilder(docs.length);
  for (let doc = 0; doc < docs.length; doc++) addDoc(builder, doc, docs[doc] as SearchDoc);
  const { numbers, words } = builder;
  return {
    size: docs.length,
    paths: docs.map(({ path }) => path),
    numbers,
    words,
    families: findFamilies(words),
    letters: Uint32Array.from(words, lettersOf),
    ...sortPostings(builder),
    names: { starts: builder.nameStarts, items: builder.names.trimmed(), tags: builder.tags },
    titles: { starts: builder.titleStarts, items: builder.titles.trimmed(), tags: new Uint8Array(0) },
    actions: builder.actions,
    flags: builder.flags,
  };
}

export function lettersOf(word: string): number {
  let mask = 0;
  for (let at = 0; at < word.length; at++) {
    const unit = word.charCodeAt(at);
    mask |= 1 << (unit >= 97 && unit <= 122 ? unit - 97 : 26 + (unit % 5));
  }
  return mask >>> 0;
}

type Builder = ReturnType<typeof createBuilder>;

function createBuilder(size: number) {
  return {
    numbers: new Map<string, number>(),
    words: [] as string[],
    /** Of every spelling that was seen: its number, or -1 for what is not indexed. */
    spellings: new Map<string, number>(),
    chunks: new Map<string, Chunk>(),
    /** The doc at hand writes words together somewhere. */
    hasJoined: false,
    /** By word: nobody asks for it. */
    silent: [] as boolean[],
    /** Fields of the doc at hand by word, and which words those are. */
    fields: new Uint8Array(1_024),
    touched: [] as number[],
    pairs: new GrowingNumbers(size * 32),
    owners: new GrowingNumbers(size * 32),
    names: new GrowingNumbers(size * 6),
    titles: new GrowingNumbers(size * 10),
    nameStarts: new Uint32Array(size + 1),
    titleStarts: new Uint32Array(size + 1),
    tags: new Uint8Array(size),
    actions: new Uint8Array(size),
    flags: new Uint8Array(size),
  };
}

function addDoc(builder: Builder, doc: number, { path, description, keywords, safe }: SearchDoc): void {
  const cut = path.lastIndexOf(".");
  const tag = cut < 0 ? [] : readWords(builder, path.slice(0, cut), Field.tag, MAX_NAME_WORDS);
  const own = readWords(builder, path.slice(cut + 1), Field.name, MAX_NAME_WORDS);
  const titleEnd = endOfTitle(description);
  const title = readWords(builder, description.slice(0, titleEnd), Field.title, MAX_TITLE_WORDS);
  readWords(builder, description.slice(titleEnd, titleEnd + MAX_TEXT_LENGTH), Field.text, MAX_TEXT_WORDS);
  readWords(builder, keywords, Field.keyword, MAX_KEYWORDS);
  const name = builder.hasJoined ? joinCompounds(builder, own) : own;
  builder.hasJoined = false;
  builder.actions[doc] = actionsOf(builder, name, title, safe);
  builder.flags[doc] = (safe ? Flag.safe : 0) | (isOutdated(path, description) ? Flag.outdated : 0);
  for (const word of tag) builder.names.push(word);
  for (const word of name) builder.names.push(word);
  builder.tags[doc] = tag.length;
  for (const word of title) if (!isSilent(builder, word)) builder.titles.push(word);
  builder.nameStarts[doc + 1] = builder.names.length;
  builder.titleStarts[doc + 1] = builder.titles.length;
  for (const word of builder.touched) {
    builder.owners.push(word);
    builder.pairs.push(((doc << 8) | (builder.fields[word] as number)) >>> 0);
    builder.fields[word] = 0;
  }
  builder.touched.length = 0;
}

function readWords(builder: Builder, text: string, field: number, most: number): number[] {
  const found: number[] = [];
  const withJoined = field !== Field.name && field !== Field.keyword;
  const many = field === Field.name ? field | Field.pluralName : field;
  // One by one: of a long text only its first words are looked at.
  chunks.lastIndex = 0;
  for (let match = chunks.exec(text); match !== null; match = chunks.exec(text)) {
    const chunk = match[0];
    const { words, plurals, joined } = builder.chunks.get(chunk) ?? readChunk(builder, chunk);
    for (let at = 0; at < words.length && found.length < most; at++) {
      const word = words[at] as number;
      found.push(word);
      mark(builder, word, plurals[at] === true ? many : field);
    }
    if (withJoined && joined.length > 0) {
      builder.hasJoined = true;
      for (const word of joined) mark(builder, word, field);
    }
    if (found.length >= most) break;
  }
  return found;
}

/** What no blank or sign parts; an apostrophe does not. */
const chunks = /[^\s!-&(-/:-@[-`{-~]+/g;

/** The same few thousand chunks make up all texts of a source: each is taken apart once. */
interface Chunk {
  words: number[];
  plurals: boolean[];
  /** ConfigMap is also the word configmap, as people write it. */
  joined: number[];
}

function readChunk(builder: Builder, text: string): Chunk {
  const chunk: Chunk = { words: [], plurals: [], joined: [] };
  let whole = "";
  splitWords(text, (spelling, hump) => {
    const word = numberOf(builder, spelling);
    whole = hump ? whole + spelling : spelling;
    if (word >= 0) {
      chunk.words.push(word);
      chunk.plurals.push(isPlural(spelling));
    }
    const joined = hump && whole.length <= 40 ? numberOf(builder, whole) : -1;
    if (joined >= 0) chunk.joined.push(joined);
  });
  builder.chunks.set(text, chunk);
  return chunk;
}

function numberOf(builder: Builder, spelling: string): number {
  const known = builder.spellings.get(spelling);
  if (known !== undefined) return known;
  const word = singular(spelling);
  const isWorthless = (spelling.length === 1 && spelling.charCodeAt(0) < 128) || spelling.length > 40;
  let number = isWorthless ? -1 : builder.numbers.get(word);
  if (number === undefined) {
    number = builder.words.push(word) - 1;
    builder.numbers.set(word, number);
    builder.silent.push(stopWords.has(word));
    if (number >= builder.fields.length) builder.fields = doubled(builder.fields);
  }
  builder.spellings.set(spelling, number);
  return number;
}

function mark(builder: Builder, word: number, fields: number): void {
  const before = builder.fields[word] as number;
  if (before === 0) {
    if (fields === Field.text && isSilent(builder, word)) return;
    builder.touched.push(word);
  }
  builder.fields[word] = before | fields;
}

/** `config_map` is the word configmap where the doc itself uses that word: one word of the name, not two. */
function joinCompounds(builder: Builder, words: readonly number[]): number[] {
  const joined: number[] = [];
  for (let at = 0; at < words.length; at++) {
    let [text, best, bestLength] = [builder.words[words[at] as number] as string, words[at] as number, 1];
    for (let length = 2; length <= 4 && at + length <= words.length; length++) {
      text += builder.words[words[at + length - 1] as number];
      const compound = builder.numbers.get(text);
      if (compound === undefined || builder.fields[compound] === 0) continue;
      [best, bestLength] = [compound, length];
    }
    if (bestLength > 1) mark(builder, best, Field.name);
    joined.push(best);
    at += bestLength - 1;
  }
  return joined;
}

/** The sentence beside a name says what it does; a name made from an HTTP method only helps where there is none. */
function actionsOf(builder: Builder, name: readonly number[], title: readonly number[], safe: boolean): ActionMask {
  const text = (word: number | undefined): string => (word === undefined ? "" : (builder.words[word] as string));
  let told = 0;
  for (let at = 0; at < Math.min(3, title.length) && told === 0; at++) {
    const verb = actionOf(text(title[at]));
    if (verb && verb.sure >= 0.8 && (at === 0 || verb.sure === 1)) told = verb.action;
  }
  if (told === Action.get && title.slice(1, 5).some((word) => text(word) === "list" || text(word) === "all"))
    told = Action.list;
  for (const word of name) {
    const verb = actionOf(text(word));
    if (verb && verb.sure === 1 && !(told !== 0 && isMethodWord(text(word)))) told |= verb.action;
  }
  if (told === 0 && name.some((word) => text(word) === "post")) return Action.create;
  if (told !== 0 || !safe) return told;
  // A noun alone: GraphQL has `issues` and `issue`.
  return readsOf(builder, name.at(-1), text(title[0]));
}

/** Of the doc at hand: several things are a list, one is got. */
function readsOf(builder: Builder, last: number | undefined, firstOfTitle: string): ActionMask {
  if (firstOfTitle === "all") return Action.list;
  const isMany = last !== undefined && ((builder.fields[last] as number) & Field.pluralName) !== 0;
  return isMany ? Action.list : Action.get;
}

function endOfTitle(description: string): number {
  const limit = Math.min(description.length, 240);
  for (let at = 0; at < limit; at++) {
    const unit = description.charCodeAt(at);
    if (unit === 10 && at > 0) return at;
    if (unit === 46 && (at + 1 === description.length || description.charCodeAt(at + 1) <= 32)) return at;
  }
  return limit;
}

/** Says itself that something else should be used. */
const isOutdated = (path: string, description: string): boolean =>
  /\b(?:deprecated|legacy|obsolete|no longer (?:supported|available))\b/i.test(description.slice(0, 160)) ||
  /(?:^|[._])(?:deprecated|legacy)(?:[._]|$)/.test(path);

const isSilent = (builder: Builder, word: number): boolean => builder.silent[word] === true;

function findFamilies(words: readonly string[]): Map<string, number[]> {
  const families = new Map<string, number[]>();
  for (let number = 0; number < words.length; number++) {
    const root = rootOf(words[number] as string);
    const family = families.get(root);
    if (family) family.push(number);
    else families.set(root, [number]);
  }
  for (const [root, [first, second]] of families)
    if (second === undefined && words[first as number] === root) families.delete(root);
  return families;
}

/** By word, and by doc within a word: docs were added in their order, and counting keeps it. */
function sortPostings({ words, pairs, owners }: Builder): Pick<SearchIndex, "starts" | "postings" | "heads"> {
  const starts = new Uint32Array(words.length + 1);
  const [owned, paired] = [owners.items, pairs.items];
  const count = owners.length;
  for (let at = 0; at < count; at++) starts[(owned[at] as number) + 1]!++;
  for (let word = 0; word < words.length; word++) starts[word + 1]! += starts[word] as number;
  const next = starts.slice();
  const postings = new Uint32Array(count);
  const heads = new Uint32Array(words.length);
  for (let at = 0; at < count; at++) {
    const word = owned[at] as number;
    postings[next[word]!++] = paired[at] as number;
    if (((paired[at] as number) & (Field.name | Field.tag | Field.title)) !== 0) heads[word]!++;
  }
  return { starts, postings, heads };
}

function doubled(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}

export const isFiller = (word: string): boolean => fillerWords.has(word) || stopWords.has(word);
