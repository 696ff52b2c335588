import { expect, test } from "bun:test";
import { encodeFrame, type Frame, FrameReader, type ToChild } from "./guest-frames.ts";

const frames: [ToChild, string[]][] = [
  [{ t: "close", s: 1 }, []],
  [{ t: "advance", s: 2, d: [[0, 1, 2.5]] }, ["ä😀".repeat(500)]],
  [{ t: "advance", s: 3, d: [] }, ["", "x", "日本"]],
];

test.each([1, 2, 3, 7, 64, 1_000, 1_000_000])("frames survive chunks of %d bytes", (size) => {
  const bytes = Buffer.concat(
    frames.map(([header, blobs]) =>
      encodeFrame(
        header,
        blobs.map((blob) => new TextEncoder().encode(blob)),
      ),
    ),
  );
  const got: [unknown, string[]][] = [];
  const reader = new FrameReader<ToChild>(({ header, blobs }: Frame<ToChild>) => {
    const { b: _sizes, ...plain } = header as ToChild & { b?: number[] };
    got.push([plain, blobs.map((blob) => new TextDecoder().decode(blob))]);
  });
  const scratch = new Uint8Array(size);
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    scratch.set(part);
    reader.push(scratch.subarray(0, part.length));
    scratch.fill(0xee);
  }
  expect(got).toEqual(frames);
});

test("a frame that lies about its size is refused", () => {
  const reader = new FrameReader<ToChild>(() => {});
  expect(() => reader.push(new Uint8Array([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]))).toThrow();
  const lying = encodeFrame({ t: "close", s: 1 }, [new Uint8Array(10)]);
  expect(() =>
    new FrameReader<ToChild>(() => {}).push(
      Buffer.from(Buffer.from(lying).toString("latin1").replace("[10]", "[99]"), "latin1"),
    ),
  ).toThrow();
});
