/**
 * Errors of TypeScript that no run would die of: ordinary JavaScript that people and models write without types. Refusing them would
 * cost an assistant a round for nothing.
 */
import type { CompilerProblem } from "./compiler-process.ts";

/** Arithmetic on dates, comparisons that can never be true. */
const CODES = new Set([2362, 2363, 2365, 2367]);

const MESSAGES = [
  // const out = {}; out.name = 1
  /^Property '[^']*' does not exist on type '\{\}'\./,
  // (await Promise.allSettled(…)).map((each) => each.value)
  /Promise(Settled|Rejected|Fulfilled)Result/,
];

export const isHarmless = ({ code, text }: CompilerProblem): boolean =>
  CODES.has(code) || MESSAGES.some((message) => message.test(text));
