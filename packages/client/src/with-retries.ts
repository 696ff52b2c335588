/** Repeats an attempt a few times while nobody is there to answer it. Whether it may be repeated at all, the caller knows. */
import { isOutage } from "./error.ts";
import { sleep } from "./scope.ts";
import { backoffMs, type Timing } from "./timing.ts";

export async function withRetries<T>(
  timing: Timing,
  retries: number,
  signal: AbortSignal | undefined,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      // A server that asks for a longer pause than we would make is not asked again early: its answer goes to the caller.
      const isPatient = isOutage(error) && (error.retryAfterMs ?? 0) <= timing.retryAfterMaxMs;
      if (!isPatient || failures > retries) throw error;
      await sleep(backoffMs(timing, failures, error), signal);
    }
  }
}
