import { expect, test } from "bun:test";
import { pack, unpack } from "./wire.ts";

const values: unknown[] = [
  null,
  true,
  -0.5,
  "",
  [],
  { a: null, $b: ["\u0000", "\u00000", "\u0000=", "\u0000=x"] },
  { long: "x".repeat(3_000), longer: ["😀".repeat(2_000), `\u0000${"y".repeat(5_000)}`] },
  Array.from({ length: 10_000 }, (_, index) => ({ index })),
];

test("what is packed at one end is the same at the other", () => {
  for (const value of values) {
    expect(unpack(pack(value))).toEqual(value);
  }
});

test("nothing at all comes out as null", () => {
  expect(unpack(pack(undefined))).toBeNull();
});

test("long text is not escaped, so it does not grow", () => {
  const text = '"\\'.repeat(500_000);
  const { json, texts } = pack({ text });
  expect(texts).toEqual([text]);
  expect(json.length).toBeLessThan(50);
});
