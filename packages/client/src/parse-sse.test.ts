import { describe, expect, test } from "bun:test";
import { createSseParser, type SseMessage } from "./parse-sse.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const message = (data: string | undefined, id?: string, retryMs?: number): SseMessage => ({ id, data, retryMs });

/** All the text in pieces of so many bytes. */
function parse(text: string, size = Infinity): SseMessage[] {
  const parser = createSseParser();
  const all = bytes(text);
  const messages: SseMessage[] = [];
  for (let at = 0; at < all.length; at += size) messages.push(...parser.push(all.slice(at, at + size)));
  return messages;
}

const cases: [title: string, text: string, expected: SseMessage[]][] = [
  ["a message with an id", "id: 7\nevent: x\ndata: one\n\n", [message("one", "7")]],
  [
    "lines that end with CRLF",
    "id: 1\r\ndata: a\r\n\r\nid: 2\r\ndata: b\r\n\r\n",
    [message("a", "1"), message("b", "2")],
  ],
  ["lines that end with CR", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
  ["a mixture of line endings", "data: a\r\ndata: b\ndata: c\r\n\n", [message("a\nb\nc")]],
  ["data of several lines", "data: a\ndata:\ndata: c\n\n", [message("a\n\nc")]],
  ["comments", ": hello\n\ndata: a\n: in between\n\n:\n\n", [message("a")]],
  ["one blank after the colon, not two", "data:  a\ndata:b\n\n", [message(" a\nb")]],
  ["a field without a colon", "data\n\n", [message("")]],
  ["a field nobody knows", "colour: red\ndata: a\n\n", [message("a")]],
  [
    "an id that stays for the messages after it",
    "id: 3\ndata: a\n\ndata: b\n\n",
    [message("a", "3"), message("b", "3")],
  ],
  ["an id without data", "id: 9\n\ndata: a\n\n", [message(undefined, "9"), message("a", "9")]],
  ["a pause to keep", "retry: 1500\n\nretry: soon\ndata: a\n\n", [message(undefined, undefined, 1500), message("a")]],
  ["an id with NUL, which is none", "id: 4\0\ndata: a\n\n", [message("a")]],
  ["characters of two, three and four bytes", "data: äöü – 漢字 🦊\n\n", [message("äöü – 漢字 🦊")]],
  ["a byte order mark at the start", "\uFEFFdata: a\n\n", [message("a")]],
  ["an unfinished message, which is dropped", "data: a\n\ndata: b\n", [message("a")]],
];

describe.each(cases)("%s", (_, text, expected) => {
  test.each([Infinity, 1, 2, 3, 5, 7])("in pieces of %p bytes", (size) => expect(parse(text, size)).toEqual(expected));
});

test("a line of 8 MB in small pieces takes no more than linear time", () => {
  const parser = createSseParser();
  const piece = bytes("x".repeat(4_096));
  const startedAt = performance.now();
  parser.push(bytes("data: "));
  for (let count = 0; count < 2_048; count++) parser.push(piece);
  expect(parser.push(bytes("\n\n"))[0]?.data?.length).toBe(8_388_608);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});
