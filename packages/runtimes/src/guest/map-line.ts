/**
 * Tells which line of a task's source a line of its transpiled script came from. Bun's transpiler keeps no lines and makes no source map,
 * so the words of both are aligned: the script has the source's words in the source's order, without types and with a few of its own.
 * Runs only when an error is shown. A guess by construction: it may be off by a line, it must never be slow.
 */
export function mapLine(code: string, script: string, scriptLine: number): number | undefined {
  if (code.length > maxChars || script.length > maxChars) return undefined;
  const source = readWords(code);
  const output = readWords(script);
  const first = output.findIndex((word) => word.line >= scriptLine);
  if (first < 0 || output[first] === undefined) return undefined;
  const matches = alignWords(source, output);
  for (let at = first; output[at]?.line === scriptLine; at += 1) {
    const found = source[matches[at] ?? -1];
    if (found !== undefined) return found.line;
  }
  // Nothing on the line has a counterpart (an enum's body, a lone brace): what came before it does.
  for (let at = first - 1; at >= 0; at -= 1) {
    const found = source[matches[at] ?? -1];
    if (found !== undefined) return found.line;
  }
  return undefined;
}

interface Word {
  text: string;
  line: number;
}

const maxChars = 300_000;
const maxTableCells = 1_000_000;
const gramWords = 3;

/**
 * For each word of the output the index of its source word, or -1. Runs of three words that occur once on both sides are fixed points;
 * between two of them the gap is small and aligned exactly.
 */
function alignWords(source: readonly Word[], output: readonly Word[]): Int32Array {
  const matches = new Int32Array(output.length).fill(-1);
  let fromSource = 0;
  let fromOutput = 0;
  const close = (toSource: number, toOutput: number) =>
    fillGap(source, output, matches, fromSource, toSource, fromOutput, toOutput);
  for (const [atSource, atOutput] of findFixedPoints(source, output)) {
    if (atSource < fromSource || atOutput < fromOutput) continue;
    close(atSource, atOutput);
    for (let step = 0; step < gramWords; step += 1) matches[atOutput + step] = atSource + step;
    fromSource = atSource + gramWords;
    fromOutput = atOutput + gramWords;
  }
  close(source.length, output.length);
  return matches;
}

function findFixedPoints(source: readonly Word[], output: readonly Word[]): [number, number][] {
  const inSource = findUniqueGrams(source);
  const pairs: [number, number][] = [];
  for (const [gram, atOutput] of findUniqueGrams(output)) {
    const atSource = inSource.get(gram);
    if (atSource !== undefined && atSource >= 0 && atOutput >= 0) pairs.push([atSource, atOutput]);
  }
  pairs.sort((a, b) => a[1] - b[1]);
  return longestRising(pairs);
}

/** Where each run of words starts; -1 when it occurs twice. */
function findUniqueGrams(words: readonly Word[]): Map<string, number> {
  const grams = new Map<string, number>();
  for (let at = 0; at + gramWords <= words.length; at += 1) {
    const gram = words
      .slice(at, at + gramWords)
      .map((word) => word.text)
      .join(" ");
    grams.set(gram, grams.has(gram) ? -1 : at);
  }
  return grams;
}

/** The longest choice of pairs whose source positions rise. */
function longestRising(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before: number[] = [];
  for (const [index, pair] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[0] ?? 0) < pair[0]) low = middle + 1;
      else high = middle;
    }
    before[index] = low === 0 ? -1 : (tails[low - 1] ?? -1);
    tails[low] = index;
  }
  const chosen: [number, number][] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) chosen.push(pair);
  }
  return chosen.reverse();
}

/** Longest common subsequence inside one gap; a gap too large for its table stays open. */
function fillGap(
  source: readonly Word[],
  output: readonly Word[],
  matches: Int32Array,
  fromSource: number,
  toSource: number,
  fromOutput: number,
  toOutput: number,
): void {
  const rows = toOutput - fromOutput;
  const columns = toSource - fromSource;
  if (rows <= 0 || columns <= 0 || rows * columns > maxTableCells) return;
  const width = columns + 1;
  const table = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const same = output[fromOutput + row]?.text === source[fromSource + column]?.text;
      const skip = Math.max(table[(row + 1) * width + column] ?? 0, table[row * width + column + 1] ?? 0);
      table[row * width + column] = same ? Math.max((table[(row + 1) * width + column + 1] ?? 0) + 1, skip) : skip;
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns;) {
    const here = table[row * width + column] ?? 0;
    const same = output[fromOutput + row]?.text === source[fromSource + column]?.text;
    if (same && here === (table[(row + 1) * width + column + 1] ?? 0) + 1)
      matches[fromOutput + row++] = fromSource + column++;
    else if (here === (table[(row + 1) * width + column] ?? 0)) row += 1;
    else column += 1;
  }
}

/**
 * Identifiers, numbers and what strings say, each with its line. Comments and punctuation are left out: the transpiler drops or changes them.
 * Words inside strings, templates and expressions of templates are treated alike, so quotes need no exact reading.
 */
function readWords(text: string): Word[] {
  const words: Word[] = [];
  let line = 1;
  let quote = "";
  for (const [token] of text.matchAll(tokenPattern)) {
    if (token === "\n") {
      line += 1;
      if (quote !== "`") quote = "";
    } else if (quote === "" && (token.startsWith("//") || token.startsWith("/*"))) line += countLines(token);
    else if (token.startsWith("//")) words.push(...readInside(token, line));
    else if (token.startsWith("/*")) {
      words.push(...readInside(token, line));
      line += countLines(token);
    } else if (token === '"' || token === "'" || token === "`") {
      if (quote === "") quote = token;
      else if (quote === token) quote = "";
    } else if (!token.startsWith("\\")) words.push({ text: token, line });
  }
  return words;
}

const tokenPattern =
  /\n|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[^\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/|["'`]|[A-Za-z0-9_$]+/g;

function readInside(token: string, line: number): Word[] {
  return Array.from(token.matchAll(/[A-Za-z0-9_$]+/g), ([text]) => ({ text, line }));
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
