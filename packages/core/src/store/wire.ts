/**
 * How arguments and results cross between the Convex store and its functions: JSON text, with long strings beside it.
 * JSON, because Convex values may not hold long arrays, undefined or every key; beside it, because a string inside a string
 * is escaped and may double, and Convex counts 16 MiB. The reasons are in docs/decisions/0003-convex-values.md.
 * Both ends use this file; the conformance suite runs through both.
 */
export type Packed = { json: string; texts: string[] };

/** So long that 16 MiB of them cannot be 8,192, which is as many as an array of Convex may hold. */
const LONG = 2_100;

/** A string that begins with NUL is a mark: "\0=" and the string itself, or "\0" and its place in `texts`. */
export function pack(value: unknown): Packed {
  const texts: string[] = [];
  const json = JSON.stringify(value ?? null, (_, part: unknown) => {
    if (typeof part !== "string") return part;
    if (part.length >= LONG) return `\0${texts.push(part) - 1}`;
    return part.startsWith("\0") ? `\0=${part}` : part;
  });
  return { json, texts };
}

export function unpack({ json, texts }: Packed): unknown {
  return JSON.parse(json, (_, part: unknown) => {
    if (typeof part !== "string" || !part.startsWith("\0")) return part;
    return part.startsWith("\0=") ? part.slice(2) : texts[Number(part.slice(1))];
  });
}
