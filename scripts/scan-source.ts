/**
 * Reads just enough of a TypeScript file for the import rule: which modules it names, and its code without comments and texts.
 * A scanner, not a parser: it knows comments, strings, templates and regular expressions, and nothing else.
 * A mistake (an apostrophe in JSX) ends with its line.
 */
export interface Scan {
  imports: { specifier: string; line: number }[];
  /** The source with every comment, text and regular expression blanked out; offsets and lines stay. */
  code: string;
}

export function scanSource(source: string): Scan {
  const code = blankTexts(source);
  // In `code` a specifier is a quoted run of blanks; what stands there is read from the source.
  const named = /\b(?:from|import)\s*(["'])( *)\1|\b(?:import|require)\s*\(\s*(["'])( *)\3/g;
  const imports = [...code.matchAll(named)].map((match) => {
    const end = match.index + match[0].length - 1;
    const length = (match[2] ?? match[4] ?? "").length;
    return { specifier: source.slice(end - length, end), line: lineAt(code, match.index) };
  });
  return { imports, code };
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Keeps quotes and line breaks, so that offsets stay and strings are still seen as strings. */
function blankTexts(source: string): string {
  let out = "";
  let at = 0;
  /** For each template we are inside of: how many braces are open in its current `${…}`. */
  const templates: number[] = [];

  const blankTo = (end: number) => {
    out += source.slice(at, end).replace(/[^\n]/g, " ");
    at = end;
  };
  const keep = (count = 1) => {
    out += source.slice(at, at + count);
    at += count;
  };
  const readTemplate = () => {
    blankTo(endOfTemplateText(source, at));
    if (source[at] === "$") {
      keep(2);
      templates.push(0);
    } else keep();
  };

  while (at < source.length) {
    const char = source[at] ?? "";
    const open = templates.length - 1;
    if (source.startsWith("//", at)) blankTo(endOfLine(source, at));
    else if (source.startsWith("/*", at)) blankTo(endOfBlock(source, at));
    else if (char === '"' || char === "'") {
      keep();
      blankTo(endOfQuoted(source, at, char));
      if (source[at] === char) keep();
    } else if (char === "`") {
      keep();
      readTemplate();
    } else if (char === "/" && startsRegExp(out)) {
      keep();
      blankTo(endOfRegExp(source, at));
      keep();
    } else if (open >= 0 && char === "}" && templates[open] === 0) {
      templates.pop();
      keep();
      readTemplate();
    } else {
      if (open >= 0) templates[open] = (templates[open] ?? 0) + (char === "{" ? 1 : char === "}" ? -1 : 0);
      keep();
    }
  }
  return out;
}

function endOfLine(source: string, from: number): number {
  const end = source.indexOf("\n", from);
  return end < 0 ? source.length : end;
}

function endOfBlock(source: string, from: number): number {
  const end = source.indexOf("*/", from + 2);
  return end < 0 ? source.length : end + 2;
}

function endOfQuoted(source: string, from: number, quote: string): number {
  let at = from;
  while (at < source.length && source[at] !== quote && source[at] !== "\n") at += source[at] === "\\" ? 2 : 1;
  return Math.min(at, source.length);
}

function endOfTemplateText(source: string, from: number): number {
  let at = from;
  while (at < source.length && source[at] !== "`" && !source.startsWith("${", at)) at += source[at] === "\\" ? 2 : 1;
  return Math.min(at, source.length);
}

function endOfRegExp(source: string, from: number): number {
  let at = from;
  let inClass = false;
  while (at < source.length && source[at] !== "\n" && (inClass || source[at] !== "/")) {
    if (source[at] === "[") inClass = true;
    if (source[at] === "]") inClass = false;
    at += source[at] === "\\" ? 2 : 1;
  }
  return Math.min(at, source.length);
}

/** A slash divides after a value, and starts a regular expression after anything else. */
function startsRegExp(before: string): boolean {
  const tail = before.slice(-40).trimEnd();
  if (tail === "") return true;
  if (/\b(return|typeof|case|in|of|void|delete|await|yield)$/.test(tail)) return true;
  // `</div>` and `<br />` are JSX.
  return /[(,=:[!&|?{};+\-*%~^]$/.test(tail) || tail.endsWith("=>");
}
