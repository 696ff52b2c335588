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
  const value = parseBounded(text);
  // Without an alias nothing can stand twice: the text itself is the bound.
  if (/[\s[{,:-]\*[^\s*]/.test(text)) countNodes(value, new Map(), new Set(), 0);
  return value;
}

function parseBounded(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw tooMuch("it is nested too deep");
    throw error;
  }
}

/** YAML lets a key stand twice and takes the last one without a word; whole operations would be gone. */
export function repeatedPaths(text: string): string[] {
  const counts = new Map<string, number>();
  const lines = text.matchAll(/^( *)["']?(\/[^"'\n]*?)["']?[ \t]*:[ \t]*(?:[#{&].*)?\r?$/gm);
  let indent: string | undefined;
  for (const [, own, path = ""] of lines) {
    indent ??= own;
    if (own === indent) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return [...counts]
    .filter(([, count]) => count > 1)
    .map(
      ([path, count]) =>
        `The path ${JSON.stringify(path.slice(0, 120))} stands ${count} times in the document; only the last is read.`,
    );
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
