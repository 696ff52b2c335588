/**
 * What parent and child say to each other: frames of [length u32][header length u32][header JSON][blobs], little endian.
 * Large strings (inputs, results, output) travel as blobs of raw UTF-8, so they are never escaped into JSON a second time.
 * A reader checks sizes only; what a child says is data from an untrusted side, and the parent treats it so.
 */
import type { GuestLimits } from "@executor/core/ports/runtime";
import type { DeliveryKind, WireEnd } from "../guest/turn-parts.ts";

/** Deliveries are [kind, id, atMs]; results and errors have one blob each, in order. An error's blob is a JSON object. */
export type ToChild =
  | { t: "open"; s: number; seed: string; startMs: number; limits: GuestLimits }
  | { t: "advance"; s: number; d: [kind: DeliveryKind, id: number, atMs: number][] }
  | { t: "close"; s: number };

/** Blobs of a turn: the input of each call, the text of each output, then the result if it returned. `totalMs`: CPU time of the process. */
export type ToParent =
  | { t: "hello"; token: string; pid: number; totalMs: number }
  | {
      t: "turn";
      s: number;
      calls: [id: number, path: string, after: number, line: number][];
      timers: [id: number, delayMs: number, after: number][];
      cleared: number[];
      out: (1 | 2)[];
      cpuMs: number;
      totalMs: number;
      end?: WireEnd;
    }
  | { t: "lost"; s: number; message: string };

export interface Frame<Header> {
  header: Header;
  blobs: Uint8Array[];
}

const maxFrameBytes = 1_500_000_000;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeFrame(header: ToChild | ToParent, blobs: readonly Uint8Array[] = []): Uint8Array {
  const head = encoder.encode(
    blobs.length === 0 ? JSON.stringify(header) : JSON.stringify({ ...header, b: blobs.map((blob) => blob.length) }),
  );
  let size = 8 + head.length;
  for (const blob of blobs) size += blob.length;
  const frame = Buffer.allocUnsafe(size);
  frame.writeUInt32LE(size - 4, 0);
  frame.writeUInt32LE(head.length, 4);
  frame.set(head, 8);
  let at = 8 + head.length;
  for (const blob of blobs) {
    frame.set(blob, at);
    at += blob.length;
  }
  return frame;
}

/** Collects chunks and hands out whole frames. Keeps no more than one frame and the chunk behind it. */
export class FrameReader<Header> {
  readonly #take: (frame: Frame<Header>) => void;
  #chunks: Uint8Array[] = [];
  #have = 0;
  #need = 4;

  constructor(take: (frame: Frame<Header>) => void) {
    this.#take = take;
  }

  push(chunk: Uint8Array): void {
    // The socket may use the chunk's memory again once we return, so what is not consumed now is copied.
    let rest: Uint8Array = chunk;
    if (this.#have > 0) {
      this.#chunks.push(chunk.slice());
      this.#have += chunk.length;
      if (this.#have < this.#need) return;
      rest = this.#chunks.length === 1 ? (this.#chunks[0] ?? chunk) : Buffer.concat(this.#chunks);
      this.#chunks = [];
      this.#have = 0;
    }
    for (;;) {
      const size = rest.length < 4 ? 0 : readU32(rest, 0);
      if (size > maxFrameBytes) throw new Error(`a frame of ${size} bytes is over the limit`);
      this.#need = rest.length < 4 ? 4 : size + 4;
      if (rest.length < this.#need || rest.length < 4) break;
      this.#take(decodeFrame<Header>(rest.subarray(4, this.#need)));
      rest = rest.subarray(this.#need);
      this.#need = 4;
      if (rest.length === 0) return;
    }
    this.#chunks = [rest === chunk || rest.buffer === chunk.buffer ? rest.slice() : rest];
    this.#have = rest.length;
  }
}

function decodeFrame<Header>(body: Uint8Array): Frame<Header> {
  const headLength = readU32(body, 0);
  const header = JSON.parse(decoder.decode(body.subarray(4, 4 + headLength))) as Header & { b?: number[] };
  const blobs: Uint8Array[] = [];
  let at = 4 + headLength;
  for (const length of header.b ?? []) {
    if (!Number.isInteger(length) || length < 0 || at + length > body.length)
      throw new Error("a blob is longer than its frame");
    blobs.push(body.subarray(at, at + length));
    at += length;
  }
  return { header, blobs };
}

function readU32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
