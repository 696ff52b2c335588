/**
 * The time within which something may go on: until the caller's signal, a deadline or the end of the work, whichever is first.
 * Whatever waits inside a scope rejects with an ExecutorError that says which of them it was.
 */
import { ExecutorError } from "./error.ts";

export interface Scope {
  signal: AbortSignal;
  /** Ends the scope from inside. */
  stop(reason: unknown): void;
  /** Takes the timer and the listener away; the scope itself is left as it is. */
  close(): void;
}

interface ScopeOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  /** The reason when the time is over. */
  timeoutError?: () => ExecutorError;
}

/** A longer timer would fire at once. It is over three weeks: as good as none. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function openScope({ signal, timeoutMs, timeoutError }: ScopeOptions): Scope {
  const controller = new AbortController();
  const stop = (reason: unknown) => controller.abort(reason);
  const onAbort = () => stop(abortError(signal));
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const hasTimer = timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS;
  const timer = hasTimer ? setTimeout(() => stop(timeoutError?.()), timeoutMs) : undefined;
  return {
    signal: controller.signal,
    stop,
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

/** What an aborted signal means to our caller: the error of an outer scope goes through unchanged. */
export function abortError(signal: AbortSignal | undefined): ExecutorError {
  const reason: unknown = signal?.reason;
  if (reason instanceof ExecutorError) return reason;
  return new ExecutorError("client.aborted", "the caller's signal was aborted", { cause: reason });
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortError(signal);
}

/** The promise, or the rejection of the signal if that is first. The promise itself goes on unheard. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortError(signal));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await orAborted(over, signal);
  } finally {
    clearTimeout(timer);
  }
}
