/** How long the SDK waits for what. One table, so that tests can hurry and readers can find every number. */
import type { ExecutorError } from "./error.ts";

export interface Timing {
  /** For one answer, on top of what a `?wait` asks for. */
  requestTimeoutMs: number;
  /** Repeats of one request, beside its first attempt. */
  retries: number;
  /** The first pause before a repeat; it doubles from there. */
  backoffMinMs: number;
  backoffMaxMs: number;
  /** The longest `Retry-After` that is waited for. */
  retryAfterMaxMs: number;
  /** A stream without a byte for so long is taken for dead. The server's heartbeat must be shorter. */
  streamIdleMs: number;
  /** One long poll. Below the 30 s after which many proxies hang up. */
  longPollMs: number;
  /** Polls while a stream tells of changes: the stream is a hint, the poll is the truth. */
  slowPollMs: number;
  /** Polls when there is no stream to tell, and the least time between two polls that answered at once. */
  pollMs: number;
}

export const defaultTiming: Timing = {
  requestTimeoutMs: 30_000,
  retries: 3,
  backoffMinMs: 250,
  backoffMaxMs: 10_000,
  retryAfterMaxMs: 60_000,
  streamIdleMs: 60_000,
  longPollMs: 25_000,
  slowPollMs: 15_000,
  pollMs: 1_000,
};

/** The pause before attempt number `attempt` (from 1). Half of it is chance, lest all clients of a restarted server return at once. */
export function backoffMs(timing: Timing, attempt: number, error?: ExecutorError): number {
  const full = Math.min(timing.backoffMaxMs, timing.backoffMinMs * 2 ** Math.min(attempt - 1, 20));
  const pause = full / 2 + (Math.random() * full) / 2;
  return Math.max(pause, Math.min(error?.retryAfterMs ?? 0, timing.retryAfterMaxMs));
}
