/**
 * The body of an answer, decoded and counted: it ends with AppError `egress.too_large` when it goes over its limit and with
 * `egress.timeout` when its time is up. What counts are the bytes after decompression, and they are counted while they come:
 * a bomb is never unpacked further than the limit. Nothing is buffered beyond one piece unless the whole is known to be small.
 */
import { AppError } from "@executor/contracts/error";
import { once } from "node:events";
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from "node:zlib";
import type { Deadline } from "./deadline.ts";
import { egressFailure, failed } from "./egress-failure.ts";

export interface BodyBounds {
  maxBytes: number;
  deadline: Deadline;
  /** The host, for messages. */
  target: string;
}

/** Below this a body of declared length is read at once: one native read costs less than a stream of ours. */
const SMALL_BYTES = 256_000;

type Coding = "gzip" | "deflate" | "br" | "zstd";

/** What to ask for: all that can be unpacked here. */
export const acceptEncoding = "gzip, deflate, br, zstd";

export async function boundBody(
  response: Response,
  bounds: BodyBounds,
): Promise<Uint8Array | ReadableStream<Uint8Array> | null> {
  const coding = readCoding(response.headers.get("content-encoding"), bounds.target);
  const declared = readLength(response.headers.get("content-length"));
  if (response.body === null) return ended(null, bounds);
  // The declared length of a packed body says nothing about what is inside, but more than the limit is too much either way.
  if (declared !== null && declared > bounds.maxBytes) throw tooLarge(bounds);
  if (declared !== null && declared <= SMALL_BYTES) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    return ended(coding === null || bytes.length === 0 ? bytes : unpack(bytes, coding, bounds), bounds);
  }
  const raw = pieces(response.body);
  return boundedStream(coding === null ? raw : unpackPieces(raw, coding), bounds);
}

function ended<T>(body: T, bounds: BodyBounds): T {
  bounds.deadline.end();
  return body;
}

function readCoding(header: string | null, target: string): Coding | null {
  const codings = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((one) => one.trim().replace(/^x-/, ""))
    .filter((one) => one !== "" && one !== "identity");
  if (codings.length === 0) return null;
  const [coding] = codings;
  if (codings.length === 1 && (coding === "gzip" || coding === "deflate" || coding === "br" || coding === "zstd"))
    return coding;
  throw failed(`${target} packed its answer in a way that was not asked for; ${acceptEncoding} are understood.`, true);
}

function readLength(header: string | null): number | null {
  return header !== null && /^\d{1,15}$/.test(header) ? Number(header) : null;
}

function unpack(bytes: Uint8Array, coding: Coding, bounds: BodyBounds): Uint8Array {
  const options = { maxOutputLength: bounds.maxBytes };
  try {
    if (coding === "gzip") return gunzipSync(bytes, options);
    if (coding === "br") return brotliDecompressSync(bytes, options);
    if (coding === "zstd") return zstdDecompressSync(bytes, options);
    return hasZlibHeader(bytes) ? inflateSync(bytes, options) : inflateRawSync(bytes, options);
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(bounds) : damaged(bounds.target);
  }
}

/** Servers disagree on what "deflate" is: most send the zlib format, some the bare stream. */
const hasZlibHeader = (bytes: Uint8Array): boolean =>
  ((bytes[0] as number) & 15) === 8 && (((bytes[0] as number) << 8) | (bytes[1] ?? 0)) % 31 === 0;

async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // Whoever stops early (limit, cancel) must not leave the other side sending.
    reader.cancel().catch(() => undefined);
  }
}

class DamagedBody extends Error {}

async function* unpackPieces(raw: AsyncGenerator<Uint8Array>, coding: Coding): AsyncGenerator<Uint8Array> {
  const first = await raw.next();
  if (first.done === true) return;
  const stream = unpacker(coding, first.value);
  let inputFailure: unknown = null;
  const feed = async () => {
    try {
      for (let next: IteratorResult<Uint8Array> = first; next.done !== true; next = await raw.next()) {
        if (stream.destroyed) return;
        if (!stream.write(next.value)) await Promise.race([once(stream, "drain"), once(stream, "close")]);
      }
      stream.end();
    } catch (error) {
      inputFailure = error;
      stream.destroy();
    }
  };
  const feeding = feed();
  try {
    for await (const piece of stream) yield piece as Uint8Array;
  } catch {
    throw inputFailure ?? new DamagedBody();
  } finally {
    stream.destroy();
    await raw.return(undefined);
    await feeding;
  }
  if (inputFailure !== null) throw inputFailure;
}

function unpacker(coding: Coding, start: Uint8Array) {
  if (coding === "gzip") return createGunzip();
  if (coding === "br") return createBrotliDecompress();
  if (coding === "zstd") return createZstdDecompress();
  return hasZlibHeader(start) ? createInflate() : createInflateRaw();
}

function boundedStream(source: AsyncGenerator<Uint8Array>, bounds: BodyBounds): ReadableStream<Uint8Array> {
  let seen = 0;
  const next = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await source.next();
    if (piece.done === true) {
      bounds.deadline.end();
      return controller.close();
    }
    seen += piece.value.length;
    if (seen > bounds.maxBytes) throw tooLarge(bounds);
    controller.enqueue(piece.value);
  };
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        next(controller).catch((error: unknown) => {
          const failure =
            error instanceof DamagedBody
              ? damaged(bounds.target)
              : egressFailure(error, bounds.target, bounds.deadline);
          bounds.deadline.end();
          source.return(undefined).catch(() => undefined);
          controller.error(failure);
        }),
      async cancel() {
        bounds.deadline.end();
        await source.return(undefined).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

const damaged = (target: string): AppError => failed(`${target} sent a packed answer that cannot be unpacked.`, true);

const tooLarge = (bounds: BodyBounds): AppError =>
  new AppError(
    "egress.too_large",
    `${bounds.target} sent more than ${bounds.maxBytes} bytes, which is the limit here. Ask for less: a filter, a page, fewer fields.`,
    {
      data: { sent: true },
    },
  );
