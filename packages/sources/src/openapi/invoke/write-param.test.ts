import { describe, expect, test } from "bun:test";
import type { ParamStyle } from "../operation.ts";
import { percentEncode, percentEncodeReserved } from "./percent-encode.ts";
import { writePairs, writeText } from "./write-param.ts";

const list = ["blue", "black", "brown"];
const object = { R: 100, G: 200, B: 150 };
type Row = [style: ParamStyle, explode: boolean, value: unknown, written: string | null];

// The tables of the specification ("Style Examples"), row by row.
const texts: Row[] = [
  ["matrix", false, "", ";color"],
  ["matrix", false, "blue", ";color=blue"],
  ["matrix", false, list, ";color=blue,black,brown"],
  ["matrix", false, object, ";color=R,100,G,200,B,150"],
  ["matrix", true, "", ";color"],
  ["matrix", true, "blue", ";color=blue"],
  ["matrix", true, list, ";color=blue;color=black;color=brown"],
  ["matrix", true, object, ";R=100;G=200;B=150"],
  ["label", false, "", "."],
  ["label", false, "blue", ".blue"],
  ["label", false, list, ".blue,black,brown"],
  ["label", false, object, ".R,100,G,200,B,150"],
  ["label", true, "blue", ".blue"],
  ["label", true, list, ".blue.black.brown"],
  ["label", true, object, ".R=100.G=200.B=150"],
  ["simple", false, "", ""],
  ["simple", false, "blue", "blue"],
  ["simple", false, list, "blue,black,brown"],
  ["simple", false, object, "R,100,G,200,B,150"],
  ["simple", true, list, "blue,black,brown"],
  ["simple", true, object, "R=100,G=200,B=150"],
  ["simple", false, null, null],
  ["simple", false, [], null],
  ["simple", false, true, "true"],
  ["simple", false, 0, "0"],
];
const queries: Row[] = [
  ["form", false, "", "color="],
  ["form", false, "blue", "color=blue"],
  ["form", false, list, "color=blue,black,brown"],
  ["form", false, object, "color=R,100,G,200,B,150"],
  ["form", true, "", "color="],
  ["form", true, "blue", "color=blue"],
  ["form", true, list, "color=blue&color=black&color=brown"],
  ["form", true, object, "R=100&G=200&B=150"],
  ["spaceDelimited", false, list, "color=blue%20black%20brown"],
  ["spaceDelimited", false, object, "color=R%20100%20G%20200%20B%20150"],
  ["pipeDelimited", false, list, "color=blue%7Cblack%7Cbrown"],
  ["pipeDelimited", false, object, "color=R%7C100%7CG%7C200%7CB%7C150"],
  ["tabDelimited", false, list, "color=blue%09black%09brown"],
  ["deepObject", true, object, "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"],
  ["deepObject", true, { a: { b: ["x", 1] } }, "color%5Ba%5D%5Bb%5D%5B0%5D=x&color%5Ba%5D%5Bb%5D%5B1%5D=1"],
  ["form", true, [], ""],
  ["form", true, null, ""],
  ["form", false, ["a,b", null, "c"], "color=a%2Cb,c"],
  ["form", true, "a&b=c#d+e f", "color=a%26b%3Dc%23d%2Be%20f"],
];

describe("a parameter is written as the specification's tables say", () => {
  for (const [style, explode, value, written] of texts)
    test(`${style}, explode ${explode}: ${JSON.stringify(value)} is ${written}`, () => {
      expect(writeText({ name: "color", style, explode }, value, percentEncode)).toBe(written);
    });
  for (const [style, explode, value, written] of queries)
    test(`${style}, explode ${explode}: ${JSON.stringify(value)} is ${written}`, () => {
      const pairs = writePairs({ name: "color", style, explode }, value, percentEncode);
      expect(pairs.map((pair) => pair.join("=")).join("&")).toBe(written as string);
    });
});

test("reserved characters stay where allowReserved says so, except those that would end the value", () => {
  expect(percentEncodeReserved("a/b?c:d@e,f;g=h!$'()*")).toBe("a/b?c:d@e,f;g=h!$'()*");
  expect(percentEncodeReserved("a&b#c+d[e]f%20g%h é")).toBe("a%26b%23c%2Bd%5Be%5Df%20g%25h%20%C3%A9");
});
