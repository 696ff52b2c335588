/** Patterns of tool paths and of text in conditions: `*` matches any characters, dots included; all else is literal. */

export function matchesPattern(pattern: string, text: string): boolean {
  const pieces = pattern.split("*");
  const [first = "", ...rest] = pieces;
  if (!text.startsWith(first)) return false;
  if (rest.length === 0) return text.length === first.length;
  const last = rest.pop() ?? "";
  // Leftmost matches of the middle pieces leave the most room for the last one, so no backtracking is needed.
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** How much of a pattern is certain: the part before its first `*`. */
export const literalPrefixLength = (pattern: string): number =>
  pattern.includes("*") ? pattern.indexOf("*") : pattern.length;
