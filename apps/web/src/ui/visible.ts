/**
 * Splits text that we did not write into what may be shown as it is and what would hide or turn something: control,
 * bidirectional, zero-width and other invisible characters, unpaired surrogates, and padding that pushes text out of sight.
 */
export type Piece = { kind: "text"; text: string } | { kind: "mark"; label: string; title: string };

/** One character that nobody can see, or a run of blanks too long to be meant for people. */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|\u034f|\u180b|\u180c|\u180d|\u180e|\u180f|(?:[\ufe00-\ufe0e])|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\n{5,}|[ \t\u00a0\u2000-\u200a\u3000]{60,}/gu;

const NAMES: Record<string, string> = {
  "\u001b": "escape",
  "\u00ad": "soft hyphen",
  "\u200b": "zero width space",
  "\u200c": "zero width non-joiner",
  "\u200d": "zero width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop directional isolate",
  "\ufeff": "byte order mark",
};

export function toPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > at) pieces.push({ kind: "text", text: text.slice(at, found.index) });
    pieces.push(toMark(found[0]));
    at = found.index + found[0].length;
  }
  if (at < text.length) pieces.push({ kind: "text", text: text.slice(at) });
  return pieces;
}

function toMark(found: string): Piece {
  if (/^\n{2}/.test(found)) return { kind: "mark", label: `${found.length} line breaks`, title: "blank lines, folded" };
  if (found.length > 2) return { kind: "mark", label: `${found.length} blanks`, title: "blanks, folded" };
  const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  return { kind: "mark", label: code, title: NAMES[found] ?? "invisible character" };
}

/** As one line of plain text, for titles, labels and notifications, where nothing can be marked. */
export const toPlainText = (text: string, maxLength = 200): string => {
  const plain = toPieces(text.slice(0, maxLength * 2))
    .map((piece) => (piece.kind === "text" ? piece.text : `[${piece.label}]`))
    .join("")
    .replace(/\s+/g, " ");
  return plain.length > maxLength ? `${plain.slice(0, maxLength)}…` : plain;
};

/** JSON with everything invisible in its escaped form: what is on the screen is what is in the value. */
export const toVisibleJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? "undefined").replace(HIDDEN, (found) =>
    /^[\n \t]/.test(found)
      ? found
      : Array.from(
          { length: found.length },
          (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`,
        ).join(""),
  );
