/**
 * The few names that look most like a given one, for an error that helps. Most names are ruled out by which pairs of letters
 * they share with it, which needs one look at each; only the best of the rest are compared letter by letter.
 */
import { editDistance } from "./search/edit-distance.ts";

const MAX_LENGTH = 80;
/** Names compared letter by letter. */
const MAX_COMPARED = 200;
const PAIRS = 4_096;

export function nearestNames(wanted: string, names: readonly string[], count = 3): string[] {
  return createNameFinder(names)(wanted, count);
}

export type NameFinder = (wanted: string, count?: number) => string[];

/** Keeps nothing but the names: a miss is rare, and an index over 100,000 names would not pay for itself. */
export function createNameFinder(names: readonly string[]): NameFinder {
  return (wanted, count = 3) => {
    const target = wanted.slice(0, MAX_LENGTH).toLowerCase();
    const most = Math.max(3, Math.floor(target.length / 2));
    return mostAlike(target, names)
      .map((name) => ({ name, distance: compare(target, name, most) }))
      .filter(({ distance }) => distance <= most)
      .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .slice(0, count)
      .map(({ name }) => name);
  };
}

/** A name that holds the other whole is near, however much longer it is. */
function compare(target: string, name: string, most: number): number {
  const own = name.slice(0, MAX_LENGTH).toLowerCase();
  const distance = editDistance(target, own, most);
  const holds = own !== "" && target !== "" && (own.includes(target) || target.includes(own));
  return distance > most && holds ? most : distance;
}

/** By the share of letter pairs in common, best first. Ties keep the order of the names. */
function mostAlike(target: string, names: readonly string[]): string[] {
  const pairs = new Uint8Array(PAIRS);
  for (let at = 0; at + 1 < target.length; at++) pairs[pairAt(target, at)] = 1;
  const scores = new Float32Array(names.length);
  const buckets = new Uint32Array(101);
  for (let index = 0; index < names.length; index++) {
    const score = likeness(pairs, target.length, names[index] as string);
    scores[index] = score;
    buckets[Math.floor(score * 100)]!++;
  }
  let least = 100;
  for (let sum = buckets[100] as number; least > 0 && sum < MAX_COMPARED; sum += buckets[least] as number) least--;
  const kept: number[] = [];
  for (let index = 0; index < names.length; index++) if ((scores[index] as number) * 100 >= least) kept.push(index);
  return kept
    .sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b)
    .slice(0, MAX_COMPARED)
    .map((index) => names[index] as string);
}

/** Zero to one: pairs in common to all pairs, as Dice has it. */
function likeness(pairs: Uint8Array, targetLength: number, name: string): number {
  const length = Math.min(name.length, MAX_LENGTH);
  if (length < 2 || targetLength < 2) return 0;
  let shared = 0;
  for (let at = 0; at + 1 < length; at++) shared += pairs[pairAt(name, at)] as number;
  return Math.min(1, (2 * shared) / (length + targetLength - 2));
}

/** `| 32` makes ASCII letters lower case; what it does to other characters it does to all of them alike. */
const pairAt = (text: string, at: number): number =>
  (((text.charCodeAt(at) | 32) * 67) ^ (text.charCodeAt(at + 1) | 32)) & (PAIRS - 1);
