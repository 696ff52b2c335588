/** What the product cannot do and why: findings of our own judge that do not fail a run, each named in the report. */
import type { Failure } from "../../packages/testkit/src/openapi-corpus/run-document.ts";

interface Limit {
  reason: string;
  matches(document: string, failure: Failure): boolean;
}

export const LIMITS: Limit[] = [
  {
    reason:
      "A path that begins with two slashes (`//openapi` of clever-cloud) is sent with one: Bun's fetch takes the second away, and such a path cannot be written otherwise.",
    matches: (_document, { text }) => /^path \/\S+ is not of \/\/\S+$/.test(text),
  },
];

export const isLimit = (document: string, failure: Failure): boolean =>
  LIMITS.some((limit) => limit.matches(document, failure));
