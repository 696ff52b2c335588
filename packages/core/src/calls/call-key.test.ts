import { expect, test } from "bun:test";
import { CallKeys, canonicalJson } from "./call-key.ts";

test("equal values give equal text, in whatever order their keys came", () => {
  expect(canonicalJson({ b: 1, a: [{ d: null, c: "x" }] })).toBe(canonicalJson({ a: [{ c: "x", d: null }], b: 1 }));
});
test("different values give different text", () => {
  const values = [
    {},
    [],
    null,
    0,
    "0",
    "",
    { a: 1 },
    { a: "1" },
    [1, 2],
    [2, 1],
    { a: { b: 1 } },
    { "a.b": 1 },
    JSON.parse('{"__proto__":1}'),
  ];
  expect(new Set(values.map((value) => canonicalJson(value))).size).toBe(values.length);
});
test("a value nested too deeply is refused at the same depth always", () => {
  const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  expect(canonicalJson(nested(200))).toHaveLength(400);
  expect(() => canonicalJson(nested(201))).toThrow("200 levels");
});
test("equal calls are told apart by how many came before, other calls are not counted", () => {
  const keys = new CallKeys();
  const made = [keys.next("a", "1"), keys.next("b", "1"), keys.next("a", "1"), keys.next("a", "2")];
  expect(new Set(made).size).toBe(4);
  const again = new CallKeys();
  expect([again.next("a", "1"), again.next("b", "1"), again.next("a", "1"), again.next("a", "2")]).toEqual(made);
});
