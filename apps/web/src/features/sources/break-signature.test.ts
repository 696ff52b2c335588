import { expect, test } from "bun:test";
import { breakSignature } from "./break-signature.ts";

test("what fits in a line stays in it", () => {
  const short = "(input: { owner: string; repo: string }) => Promise<{ id: number }>";
  expect(breakSignature(short)).toBe(short);
});

test("what does not gets a line for each property, nested ones too", () => {
  const filler = Array.from({ length: 8 }, (_, at) => `property${at}: string`).join("; ");
  const long = `(input: { owner: string; labels?: { ${filler} }[]; kind: "a;b" | "{" }) => Promise<unknown>`;
  const lines = breakSignature(long).split("\n");
  expect(lines[0]).toBe("(input: {");
  expect(lines[1]).toBe("  owner: string;");
  expect(lines[2]).toBe("  labels?: {");
  expect(lines[3]).toBe("    property0: string;");
  expect(lines.slice(-3)).toEqual(["  }[];", '  kind: "a;b" | "{";', "}) => Promise<unknown>"]);
});

test("no letter is lost, whatever the text", () => {
  const bare = (text: string): string => text.replace(/[\s;]/g, "");
  for (const odd of [
    "",
    "{",
    "}}}",
    '"{',
    "(input: { a: '",
    `(input: { ${"x".repeat(300)} `,
    "{ { { } } }".repeat(30),
    "`${`",
    "} a {b} }",
  ])
    expect(bare(breakSignature(odd)).replaceAll("}", "")).toBe(bare(odd).replaceAll("}", ""));
});
