/**
 * The limits of an installation, each with the code of the refusal it causes. One table: docs, env and code read it.
 * An environment variable EXECUTOR_LIMIT_<NAME IN CAPITALS> overrides the value, between min and max.
 */
import type { ErrorCode } from "./error.ts";

interface LimitSpec {
  value: number;
  min: number;
  max: number;
  code: ErrorCode;
  means: string;
}

const MB = 1_000_000;
const HOUR_MS = 3_600_000;

export const limitTable = {
  runMs: {
    value: 300_000,
    min: 100,
    max: 3_600_000,
    code: "task.timed_out",
    means: "run time of a task; waiting for people and replay do not count",
  },
  cpuMs: { value: 30_000, min: 50, max: 600_000, code: "task.cpu_limit", means: "CPU time of a guest in one run" },
  memoryBytes: { value: 64 * MB, min: 4 * MB, max: 1_000 * MB, code: "task.memory_limit", means: "memory of a guest" },
  codeBytes: { value: 1 * MB, min: 1_000, max: 8 * MB, code: "task.code_too_large", means: "source code of a task" },
  calls: { value: 10_000, min: 1, max: 100_000, code: "task.call_limit", means: "tool calls of a task" },
  parallelCalls: {
    value: 64,
    min: 1,
    max: 1_000,
    code: "task.call_limit",
    means: "tool calls under way at once; more wait their turn",
  },
  callInputBytes: {
    value: 10 * MB,
    min: 1_000,
    max: 12 * MB,
    code: "call.input_too_large",
    means: "input of one call",
  },
  callResultBytes: {
    value: 10 * MB,
    min: 1_000,
    max: 12 * MB,
    code: "call.result_too_large",
    means: "result of one call",
  },
  journalBytes: {
    value: 100 * MB,
    min: 10_000,
    max: 2_000 * MB,
    code: "task.journal_limit",
    means: "inputs and results of all calls of a task together",
  },
  resultBytes: { value: 10 * MB, min: 1_000, max: 12 * MB, code: "task.result_too_large", means: "result of a task" },
  outputBytes: {
    value: 1 * MB,
    min: 1_000,
    max: 10 * MB,
    code: "task.failed",
    means: "console output of a task; the rest is dropped and said so once",
  },
  pendingApprovals: {
    value: 100,
    min: 1,
    max: 1_000,
    code: "approval.limit",
    means: "approvals a task may have pending",
  },
  approvalExpiryMs: {
    value: 24 * HOUR_MS,
    min: 100,
    max: 90 * 24 * HOUR_MS,
    code: "approval.expired",
    means: "time a person has to decide",
  },
  bodyBytes: { value: 12 * MB, min: 10_000, max: 16 * MB, code: "request.too_large", means: "body of an HTTP request" },
  requestsPerMinute: {
    value: 6_000,
    min: 1,
    max: 10_000_000,
    code: "request.rate_limited",
    means: "requests with one key",
  },
  bootstrapsPerMinute: {
    value: 60,
    min: 1,
    max: 10_000_000,
    code: "request.rate_limited",
    means: "new anonymous sessions from one address",
  },
  sessionIdleMs: {
    value: 30 * 24 * HOUR_MS,
    min: 1_000,
    max: 365 * 24 * HOUR_MS,
    code: "auth.invalid",
    means: "idle time after which an anonymous session ends",
  },
} satisfies Record<string, LimitSpec>;

export type LimitName = keyof typeof limitTable;
export type Limits = Record<LimitName, number>;

export const defaultLimits = Object.fromEntries(
  Object.entries(limitTable).map(([name, limit]) => [name, limit.value]),
) as Limits;

/** What a caller may ask for with `?wait`. */
export const maxWaitMs = 60_000;
