/**
 * Which tools a program speaks of, read off its text: every `tools.…` with what follows it. It need not be exact: too much costs
 * a declaration that nobody uses. A `tools` that is handed around as a whole is told apart, for then anything may be meant.
 */
export interface Mention {
  /** The names after `tools`. */
  chain: string[];
  /** In the code. */
  start: number;
  end: number;
}

export interface Mentions {
  mentions: Mention[];
  /** `tools` itself is used as a value, or by a computed name. */
  isWhole: boolean;
}

/** Far more than any program names; then it is as if it named all. */
const MAX_MENTIONS = 2_000;
const MAX_CHAIN = 12;

const mention =
  /(?<![.\w$])tools\b((?:\s*(?:\?\.|\.)\s*[A-Za-z_$][\w$]*|\s*(?:\?\.)?\[\s*(?:"[^"\\\n]*"|'[^'\\\n]*')\s*\])*)/g;
const step = /[A-Za-z_$][\w$]*|"[^"]*"|'[^']*'/g;

const quotedStep = /(\?\.)? *\[ *(["'])([A-Za-z_$][\w$]*)\2 *\]/g;

/** `tools["a"]` as `tools.a`, each character in its place: a name that is not there is an error only when it is written so. */
export function withPlainNames(code: string, { mentions }: Mentions): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of mentions) {
    const text = code.slice(start, end);
    if (!text.includes("[")) continue;
    const renamed = text.replace(quotedStep, (whole: string, optional: string | undefined, _quote, name: string) =>
      `${optional ?? "."}${name}`.padEnd(whole.length),
    );
    parts.push(code.slice(from, start), renamed);
    from = end;
  }
  parts.push(code.slice(from));
  return parts.join("");
}

export function findMentions(code: string): Mentions {
  const mentions: Mention[] = [];
  let isWhole = false;
  for (const match of code.matchAll(mention)) {
    const [text, steps = ""] = match;
    const end = match.index + text.length;
    const chain = [...steps.matchAll(step)].map(([name]) => name.replace(/^["']|["']$/g, ""));
    if (/^\s*(\?\.)?\[/.test(code.slice(end, end + 20)) || chain.length === 0) isWhole = true;
    if (chain.length > 0) mentions.push({ chain: chain.slice(0, MAX_CHAIN), start: match.index, end });
    if (mentions.length >= MAX_MENTIONS) return { mentions, isWhole: true };
  }
  return { mentions, isWhole };
}
