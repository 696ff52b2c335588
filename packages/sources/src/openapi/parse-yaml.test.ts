import { expect, test } from "bun:test";
import { AppError } from "@executor/contracts/error";
import { parseYaml } from "./parse-yaml.ts";

const laughs = (levels: number): string =>
  Array.from({ length: levels }, (_, n) =>
    n === 0 ? "a0: &a0 [x,x,x,x,x,x,x,x,x]" : `a${n}: &a${n} [${`*a${n - 1},`.repeat(9).slice(0, -1)}]`,
  ).join("\n");

test("S15: aliases are followed where they stay small", () => {
  expect(parseYaml("a: &x {b: 1}\nc: *x")).toEqual({ a: { b: 1 }, c: { b: 1 } });
  expect(parseYaml("200: ok\ndate: 2026-01-01\non: yes")).toMatchObject({ 200: "ok" });
});

test.each([8, 12, 30])("a billion laughs of %d levels are refused at once", (levels) => {
  const startedAt = performance.now();
  expect(() => parseYaml(laughs(levels))).toThrow();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test("S15: a part inside itself, and merges without end, are refused", () => {
  expect(() => parseYaml("a: &a\n  b: *a")).toThrow(AppError);
  expect(() => parseYaml("x:\n" + "  - <<: {a: 1}\n".repeat(3_000))).toThrow(AppError);
});
