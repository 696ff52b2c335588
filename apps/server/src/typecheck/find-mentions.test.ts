import { expect, test } from "bun:test";
import { findMentions, withPlainNames } from "./find-mentions.ts";

const chains = (code: string) => findMentions(code).mentions.map(({ chain }) => chain.join("."));

test("chains are found however they are written", () => {
  expect(chains("tools.a.b({}); tools\n  .c\n  ?.d(); tools['e'][\"f\"]; x.tools.g; mytools.h; tools?.i")).toEqual([
    "a.b",
    "c.d",
    "e.f",
    "i",
  ]);
});

test("a `tools` that is handed around, or asked by a computed name, is whole", () => {
  for (const code of ["const t = tools;", "use(tools)", "tools[name]()", "tools.a[name]()", "const { a } = tools"])
    expect([code, findMentions(code).isWhole]).toEqual([code, true]);
  for (const code of ["tools.a.b()", "tools['a'].b()", "const toolset = 1"])
    expect([code, findMentions(code).isWhole]).toEqual([code, false]);
});

test("names in brackets become plain ones, and nothing moves", () => {
  const code = `const x = tools["a"]['b'].c({ "d": tools.e }); // ["z"]`;
  const plain = withPlainNames(code, findMentions(code));
  expect(plain).toBe(`const x = tools.a   .b   .c({ "d": tools.e }); // ["z"]`);
  expect(plain.length).toBe(code.length);
});

test("a program made to be slow is read in no time", () => {
  const startedAt = performance.now();
  for (const code of [
    "tools" + " ".repeat(500_000),
    "tools".repeat(100_000),
    "tools[".repeat(100_000),
    'tools["a"]'.repeat(50_000),
    `tools${".a".repeat(300_000)}`,
    `tools${" .".repeat(300_000)}`,
  ])
    withPlainNames(code, findMentions(code));
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
