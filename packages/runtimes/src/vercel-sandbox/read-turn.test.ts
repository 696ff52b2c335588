/** What comes from a VM is believed only as far as a guest could have said it. */
import { expect, test } from "bun:test";
import { cutText } from "./guest-messages.ts";
import { readTurn } from "./read-turn.ts";

const limits = {
  cpuMs: 1_000,
  memoryBytes: 1_000_000,
  outputBytes: 1_000,
  calls: 2,
  callInputBytes: 100,
  resultBytes: 100,
};
const nothing = { calls: [], timers: [], cleared: [], cpuMs: 1 };
const read = (...lines: object[]) => readTurn(lines.map((line) => JSON.stringify(line)).join("\n"), limits);

test("a turn is put together from its lines", () => {
  const turn = read(
    { output: [[1, "a"]] },
    { output: [[2, "b\nc"]] },
    { calls: [[0, "x.y", 1, "{}"]], timers: [[0, 5, 0]], cleared: [3], cpuMs: 2.5 },
  );
  expect(turn).toEqual({
    calls: [{ id: 0, path: "x.y", inputJson: "{}", after: 1 }],
    timers: [{ id: 0, delayMs: 5, after: 0 }],
    clearedTimers: [3],
    output: [
      { stream: "stdout", text: "a" },
      { stream: "stderr", text: "b\nc" },
    ],
    cpuMs: 2.5,
  });
  const end = { kind: "returned" };
  expect(read({ ...nothing, end, result: "[1]" }).end).toEqual({ kind: "returned", resultJson: "[1]" });
});

const call = (path: string, input: string) => ({ ...nothing, calls: [[0, path, 0, input]] });
test.each([
  ["no JSON at all", "<html>"],
  ["no turn", "{}"],
  ["null", "null"],
  ["too many calls", { ...nothing, calls: [0, 1, 2].map((id) => [id, "x", 0, "{}"]) }],
  ["a long path", call("x".repeat(2_000), "{}")],
  ["a large input", call("x", "x".repeat(101))],
  ["an id that is no number", { ...nothing, calls: [["0", "x", 0, "{}"]] }],
  ["a time that is no time", { ...nothing, timers: [[0, -1, 0]] }],
  ["a large result", { ...nothing, end: { kind: "returned" }, result: `"${"x".repeat(100)}"` }],
  ["a result that is no JSON", { ...nothing, end: { kind: "returned" }, result: "{" }],
  ["no result", { ...nothing, end: { kind: "returned" } }],
  ["an unknown code", { ...nothing, end: { kind: "stopped", code: "task.fine", message: "" } }],
  ["a long message", { ...nothing, end: { kind: "threw", name: "E", message: "x".repeat(30_000) } }],
])("it is refused: %s", (_, message) => {
  expect(() => readTurn(typeof message === "string" ? message : JSON.stringify(message), limits)).toThrow();
});

test("more output than a guest may print is refused", () => {
  expect(() => read({ output: [[1, "x".repeat(30_000)]] }, nothing)).toThrow("output");
});

test("text is cut between characters and never into nothing", () => {
  const text = `${"x".repeat(999_999)}😀${"y".repeat(10)}`;
  expect(cutText(text).map((piece) => piece.length)).toEqual([999_999, 12]);
  expect(cutText(text).join("")).toBe(text);
  expect(cutText("")).toEqual([""]);
});
