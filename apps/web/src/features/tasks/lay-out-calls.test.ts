import { expect, test } from "bun:test";
import type { Call } from "@executor/client";
import { layOutCalls } from "./lay-out-calls.ts";

const at = (ms: number): string => new Date(ms).toISOString();
const call = (callId: string, requested: number, sent: number | null, done: number | null, asked = false): Call => ({
  callId,
  taskId: "task_1",
  ordinal: 0,
  toolPath: "a.b",
  input: {},
  inputBytes: 2,
  status: done === null ? (sent === null ? "waiting" : "sent") : "completed",
  truncated: false,
  sends: 1,
  requestedAt: at(requested),
  ...(sent !== null && { sentAt: at(sent) }),
  ...(done !== null && { finishedAt: at(done) }),
  ...(asked && { approvalId: "approval_1" }),
});

test("work keeps its length, one after the other fills the line", () => {
  const bars = layOutCalls([call("1", 0, 0, 100), call("2", 100, 100, 200)], 500);
  expect(bars.map(({ run }) => run)).toEqual([
    { from: 0, to: 0.5 },
    { from: 0.5, to: 1 },
  ]);
});

test("a day of waiting does not make the work invisible, and both are told exactly", () => {
  const day = 86_400_000;
  const [, second] = layOutCalls([call("1", 0, 0, 100), call("2", 100, 100 + day, 200 + day, true)], day * 2);
  expect(second?.waitedMs).toBe(day);
  expect(second?.ranMs).toBe(100);
  expect((second?.run?.to ?? 0) - (second?.run?.from ?? 0)).toBeGreaterThan(0.3);
});

test("a call that still waits reaches to now, and has not run", () => {
  const [bar] = layOutCalls([call("1", 0, null, null)], 1_000);
  expect(bar).toMatchObject({ waitedMs: 1_000, ranMs: 0, wait: { from: 0, to: 1 } });
  expect(bar?.run).toBeUndefined();
});

test("calls of no length, and no calls, are no division by zero", () => {
  expect(layOutCalls([], 5)).toEqual([]);
  expect(layOutCalls([call("1", 5, 5, 5)], 5)[0]?.run).toEqual({ from: 0, to: 0 });
});
