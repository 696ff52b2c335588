import { expect, test } from "bun:test";
import { findOversized } from "./check-sizes.ts";

const file = (path: string, lines: number) => ({ path, text: "x\n".repeat(lines) });
const exception = (path: string, maxLines: number) => ({ path, maxLines, since: "2026-11-18", reason: "a table" });

test("a source has 400 lines at most, a test or a script 700", () => {
  expect(findOversized([file("apps/a.ts", 400), file("apps/a.test.ts", 700), file("scripts/a.ts", 700)], [])).toEqual(
    [],
  );
  expect(
    findOversized([file("apps/a.ts", 401), file("apps/a.test.ts", 701), file("scripts/a.ts", 701)], []),
  ).toHaveLength(3);
});

test("an exception raises the limit of one file, and must still be needed", () => {
  expect(findOversized([file("apps/a.ts", 500)], [exception("apps/a.ts", 500)])).toEqual([]);
  expect(findOversized([file("apps/a.ts", 501)], [exception("apps/a.ts", 500)])).toHaveLength(1);
  expect(findOversized([file("apps/a.ts", 300)], [exception("apps/a.ts", 500)])).toHaveLength(1);
  expect(findOversized([], [exception("apps/a.ts", 500)])).toHaveLength(1);
});
