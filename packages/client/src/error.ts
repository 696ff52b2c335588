/**
 * Every failure of the SDK is one class with a stable `code`. Nobody may match on its text.
 * The server's codes are those of contracts/error.ts; a code that begins with `client.` was made here and never crossed the wire.
 * Nothing in an error may hold the bearer token.
 */
import type { ErrorCode } from "@executor/contracts/error";
import type { Task } from "@executor/contracts/task";

/**
 * - `client.unreachable`: no answer came: refused, reset, timed out, cut off in the middle.
 * - `client.bad_answer`: something answered, but not as Executor does: a proxy's page, a redirect, broken JSON.
 * - `client.aborted`: the caller's signal; `cause` is its reason.
 * - `client.timed_out`: the caller's `timeoutMs` is over. The task goes on, unless `cancelOnAbort` was set.
 */
export type ClientErrorCode = "client.unreachable" | "client.bad_answer" | "client.aborted" | "client.timed_out";

/** Open-ended: a newer server may have codes that this SDK does not know. */
export type ExecutorErrorCode = ErrorCode | ClientErrorCode | (string & {});

export interface ExecutorErrorOptions {
  /** HTTP status of the answer. Absent when there was none, or when a task failed and not a request. */
  status?: number;
  requestId?: string;
  data?: Record<string, unknown>;
  /** How long the server asks to wait before the next attempt. */
  retryAfterMs?: number;
  /** The task as last seen, where the failure is about one. */
  task?: Task;
  taskId?: string;
  cause?: unknown;
}

export class ExecutorError extends Error {
  override readonly name = "ExecutorError";
  readonly code: ExecutorErrorCode;
  readonly detail: string;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly data: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;
  readonly task: Task | undefined;
  readonly taskId: string | undefined;
  /** The same request may succeed later without a change. */
  readonly retryable: boolean;

  constructor(code: ExecutorErrorCode, detail: string, options: ExecutorErrorOptions = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.status = options.status;
    this.requestId = options.requestId;
    this.data = options.data;
    this.retryAfterMs = options.retryAfterMs;
    this.task = options.task;
    this.taskId = options.taskId ?? options.task?.taskId;
    this.retryable = isRetryable(code, options.status);
  }
}

/** Nobody is there, or somebody in front says so: worth waiting for, however long it takes. */
export function isOutage(error: unknown): error is ExecutorError {
  if (!(error instanceof ExecutorError)) return false;
  return error.code === "client.unreachable" || [429, 502, 503, 504].includes(error.status ?? 0);
}

export function isExecutorError(error: unknown, ...codes: ExecutorErrorCode[]): error is ExecutorError {
  return error instanceof ExecutorError && (codes.length === 0 || codes.includes(error.code));
}

/** Written out, because the table itself would bring zod into every bundle; error.test.ts holds it against the table. */
const RETRYABLE: readonly string[] = [
  "request.rate_limited",
  "task.runtime_lost",
  "policy.unavailable",
  "source.unreadable",
  "egress.timeout",
  "egress.failed",
  "store.unavailable",
  "lease.lost",
  "internal.error",
] satisfies ErrorCode[];

function isRetryable(code: ExecutorErrorCode, status: number | undefined): boolean {
  if (code === "client.unreachable" || RETRYABLE.includes(code)) return true;
  return [429, 502, 503, 504].includes(status ?? 0);
}
