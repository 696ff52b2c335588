/**
 * YAML without its bombs. An alias stands for a whole part of the document, so a few lines can mean millions of them, or a part
 * inside itself: what the document comes to is counted before anyone walks through it. Merges are copies and are bounded beforehand.
 */
import { AppError } from "@executor/contracts/error";

const MAX_NODES = 5_000_000;
const MAX_DEPTH = 500;
const MAX_MERGES = 2_000;

export function parseYaml(text: string): unknown {
  const merges = text.match(/^\s*(?:- )?<<\s*:/gm)?.length ?? 0;
  if (merges > MAX_MERGES) throw tooMuch(`it merges ${merges} times, and ${MAX_MERGES} is the limit`);
  const value: unknown = Bun.YAML.parse(text);
  // Without an alias nothing can stand twice: the text itself is the bound.
  if (/[\s[{,:-]\*[^\s*]/.test(text)) countNodes(value, new Map(), new Set(), 0);
  return value;
}

/** What it comes to when every alias is written out. A part that was counted is not walked again. */
function countNodes(value: unknown, counted: Map<object, number>, above: Set<object>, depth: number): number {
  if (typeof value !== "object" || value === null) return 1;
  if (above.has(value)) throw tooMuch("a part of it contains itself");
  if (depth > MAX_DEPTH) throw tooMuch(`it is nested more than ${MAX_DEPTH} deep`);
  const known = counted.get(value);
  if (known !== undefined) return known;
  above.add(value);
  let nodes = 1;
  for (const member of Object.values(value)) {
    nodes += countNodes(member, counted, above, depth + 1);
    if (nodes > MAX_NODES) throw tooMuch(`its aliases come to more than ${MAX_NODES} parts`);
  }
  above.delete(value);
  counted.set(value, nodes);
  return nodes;
}

const tooMuch = (why: string): AppError =>
  new AppError("source.unreadable", `The YAML document cannot be used: ${why}. Write it without aliases, or as JSON.`);
