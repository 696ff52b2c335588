/**
 * The time a request has, to the last byte of its body, together with the caller's own wish to stop: one signal for both.
 * `end` must be called on every way out, or the timer and the listener outlive the request.
 */
import { AppError } from "@executor/contracts/error";

export interface Deadline {
  signal: AbortSignal;
  /** What to throw once the signal has fired; null while it has not. */
  failure(): unknown;
  /** Stops the transfer and lets go of timer and listener. */
  end(): void;
}

/** Zero: no limit, the caller's signal alone decides. */
export function startDeadline(
  timeoutMs: number,
  caller: AbortSignal | null | undefined,
  target: () => string,
): Deadline {
  const controller = new AbortController();
  let failure: unknown = null;

  const stop = (why: unknown) => {
    failure ??= why;
    controller.abort(why);
  };
  const onCaller = () =>
    stop(
      isTimeout(caller?.reason)
        ? tooSlow(`${target()} did not answer in the time it was given.`)
        : (caller?.reason ?? new DOMException("Aborted", "AbortError")),
    );
  const timer =
    timeoutMs > 0
      ? setTimeout(
          () =>
            stop(
              tooSlow(`${target()} did not answer in full within ${timeoutMs} ms. Try again later, or ask for less.`),
            ),
          timeoutMs,
        )
      : undefined;
  timer?.unref();
  if (caller?.aborted === true) onCaller();
  else caller?.addEventListener("abort", onCaller, { once: true });

  return {
    signal: controller.signal,
    failure: () => failure,
    end() {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onCaller);
    },
  };
}

const tooSlow = (detail: string): AppError => new AppError("egress.timeout", detail, { data: { sent: true } });

const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === "TimeoutError";
