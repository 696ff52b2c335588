/**
 * Text that may be longer than a row may be (Convex: 1 MiB): short text stays in its column, long text goes into chunks.
 * A column then holds a marker that no JSON text and no program can be: it starts with a NUL.
 */
import type { Tx } from "./tx.ts";

/** In UTF-16 units; at most three times as many bytes. A row holds several texts and a page many rows, so little stays inline. */
const INLINE_LENGTH = 16_000;
/** A chunk is a row of its own: it stays under 1 MiB. */
const CHUNK_LENGTH = 250_000;
const MARKER = "\u0000chunks:";

export async function storeText(tx: Tx, owner: string, text: string): Promise<string> {
  if (text.length <= INLINE_LENGTH && !text.startsWith("\u0000")) return text;
  const bodies = splitText(text);
  for (const [part, body] of bodies.entries())
    await tx.insert("chunks", { chunkKey: `${owner}/${part}`, owner, part, body });
  return `${MARKER}${bodies.length}:${text.length}`;
}

/** Pieces that each fit into a row. */
export function splitText(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = endOfChunk(text, start);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

export async function loadText(tx: Tx, owner: string, stored: string): Promise<string> {
  if (!stored.startsWith(MARKER)) return stored;
  const count = readMarker(stored).parts;
  const chunks = await tx.find("chunks", { index: "byOwner", eq: [owner], limit: count });
  if (chunks.length !== count) throw new Error(`${owner} has ${chunks.length} of ${count} chunks`);
  return chunks.map((chunk) => chunk.body).join("");
}

/** Of the whole text, also where only its marker is at hand. */
export const textLength = (stored: string): number => (isChunked(stored) ? readMarker(stored).length : stored.length);

function readMarker(stored: string): { parts: number; length: number } {
  const [parts = 0, length = 0] = stored.slice(MARKER.length).split(":").map(Number);
  return { parts, length };
}

/** Long text is not loaded where only a part of it would be shown. */
export const isChunked = (stored: string): boolean => stored.startsWith(MARKER);

/** Never between the two halves of one character: a lone half would not survive UTF-8. */
function endOfChunk(text: string, start: number): number {
  const end = Math.min(start + CHUNK_LENGTH, text.length);
  const last = text.charCodeAt(end - 1);
  const splitsPair = end < text.length && last >= 0xd800 && last <= 0xdbff;
  return splitsPair ? end - 1 : end;
}
