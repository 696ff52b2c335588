import { expect, test } from "bun:test";
import { LineReader } from "./line-reader.ts";

const text = '{"a":"ä😀日本"}\n\n{"b":2}\n{"c":"' + "x".repeat(500) + '"}\n';

function readIn(size: number, maxBytes = 10_000) {
  const lines: string[] = [];
  let tooLong = 0;
  const reader = new LineReader(maxBytes, { line: (line) => lines.push(line), tooLong: () => (tooLong += 1) });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = bytes.slice(at, at + size);
    reader.push(chunk);
    // A socket uses the memory again.
    chunk.fill(0);
  }
  return { lines, tooLong };
}

test.each([1, 2, 3, 5, 7, 64, 100_000])(
  "multi-byte characters survive chunks of %d bytes; many lines may be in one",
  (size) => {
    expect(readIn(size)).toEqual({ lines: text.split("\n").filter(Boolean), tooLong: 0 });
  },
);

test.each([1, 7, 100_000])("a line over the limit ends the reader once, in chunks of %d bytes", (size) => {
  const { lines, tooLong } = readIn(size, 100);
  expect(lines).toEqual(text.split("\n").filter(Boolean).slice(0, 2));
  expect(tooLong).toBe(1);
});
