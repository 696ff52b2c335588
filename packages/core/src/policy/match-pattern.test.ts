import { expect, test } from "bun:test";
import { literalPrefixLength, matchesPattern } from "./match-pattern.ts";

const cases: [pattern: string, text: string, matches: boolean][] = [
  ["executor.echo", "executor.echo", true],
  ["executor.echo", "executor.echo2", false],
  ["executor.echo", "xexecutor.echo", false],
  ["*", "", true],
  ["*", "anything.at.all", true],
  ["github.*", "github.issues.list", true],
  ["github.*", "github", false],
  ["*.delete*", "github.repos.delete_repo", true],
  ["*.delete*", "github.repos.list", false],
  ["a*b*c", "abc", true],
  ["a*b*c", "a.b.b.c", true],
  ["a*b*c", "acb", false],
  ["a*a", "a", false],
  ["a**b", "ab", true],
  ["a.c", "abc", false],
  ["(.+)+$", "aaaa", false],
];

for (const [pattern, text, matches] of cases) {
  test(`"${pattern}" ${matches ? "matches" : "does not match"} "${text}"`, () => {
    expect(matchesPattern(pattern, text)).toBe(matches);
  });
}

test("a pattern with many stars takes no time on a text that almost matches", () => {
  const started = performance.now();
  expect(matchesPattern(`${"a*".repeat(200)}b`, "a".repeat(100_000))).toBe(false);
  expect(performance.now() - started).toBeLessThan(500);
});

test("the literal prefix ends at the first star", () => {
  expect(literalPrefixLength("github.*")).toBe(7);
  expect(literalPrefixLength("github.x")).toBe(8);
});
