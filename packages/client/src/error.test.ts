import { describe, expect, test } from "bun:test";
import { type ErrorCode, errorTable } from "@executor/contracts/error";
import { ExecutorError, isExecutorError, isOutage } from "./error.ts";

test.each(Object.keys(errorTable) as ErrorCode[])("%s is retryable if contracts says so", (code) => {
  const spec: { retry?: true } = errorTable[code];
  expect(new ExecutorError(code, "x").retryable).toBe(spec.retry === true);
});

describe("isOutage", () => {
  const cases: [error: unknown, expected: boolean][] = [
    [new ExecutorError("client.unreachable", "x"), true],
    [new ExecutorError("client.bad_answer", "x", { status: 502 }), true],
    [new ExecutorError("request.rate_limited", "x", { status: 429 }), true],
    [new ExecutorError("store.unavailable", "x", { status: 503 }), true],
    [new ExecutorError("internal.error", "x", { status: 500 }), false],
    [new ExecutorError("auth.invalid", "x", { status: 401 }), false],
    [new ExecutorError("task.runtime_lost", "x"), false],
    [new ExecutorError("client.aborted", "x"), false],
    [new Error("x"), false],
  ];
  test.each(cases)("%s: %p", (error, expected) => expect(isOutage(error)).toBe(expected));
});

test("isExecutorError asks for codes if it is given any", () => {
  const error = new ExecutorError("policy.denied", "x");
  expect([
    isExecutorError(error),
    isExecutorError(error, "policy.denied"),
    isExecutorError(error, "auth.invalid"),
  ]).toEqual([true, true, false]);
  expect(isExecutorError(new Error("x"))).toBe(false);
});
