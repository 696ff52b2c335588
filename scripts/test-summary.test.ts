import { expect, test } from "bun:test";
import { readTestSummary } from "./test-summary.ts";

test("the summary at the end is read", () => {
  const output =
    "(pass) a\n\n 2 pass\n 1 skip\n 1 todo\n 3 fail\n 1 error\n 7 expect() calls\nRan 7 tests across 2 files. [1.51s]\n";
  expect(readTestSummary(output)).toEqual({ passed: 2, failed: 3 });
});

test("a single test is read", () => {
  expect(readTestSummary("\n 1 pass\n 0 fail\nRan 1 test across 1 file. [9.00ms]\n")).toEqual({ passed: 1, failed: 0 });
});

test("what tests print is not taken for the summary", () => {
  const output = " 99 pass\n(pass) a\n\n 1 pass\n 0 fail\nRan 1 test across 1 file. [9.00ms]\n";
  expect(readTestSummary(output)).toEqual({ passed: 1, failed: 0 });
});

test("no summary is nothing passed", () => {
  expect(readTestSummary("bun test v1.4.4\n 5 pass\nSegmentation fault")).toEqual({ passed: 0, failed: 0 });
});
