/**
 * Token buckets: each key may make `perMinute` requests at once and gets them back evenly over a minute.
 * Only keys that are not full are remembered, so memory follows the traffic and not the number of keys ever seen.
 */
import { AppError } from "@executor/contracts/error";

const MINUTE_MS = 60_000;
/** Full buckets are thrown away whenever this many are kept. */
const SWEEP_AT = 10_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class RateLimit {
  readonly #perMinute: number;
  readonly #nowMs: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, nowMs: () => number) {
    this.#perMinute = perMinute;
    this.#nowMs = nowMs;
  }

  /** Takes one, or as many as come together (a full bucket is enough for any number); or refuses with the time to wait. */
  take(key: string, what: string, together = 1): void {
    const count = Math.min(together, this.#perMinute);
    const atMs = this.#nowMs();
    const tokens = this.#tokens(this.#buckets.get(key), atMs);
    if (tokens < count) {
      const retryAfterSeconds = Math.max(1, Math.ceil(((count - tokens) * MINUTE_MS) / this.#perMinute / 1_000));
      throw new AppError(
        "request.rate_limited",
        `At most ${this.#perMinute} ${what} a minute are served. Try again in ${retryAfterSeconds} s.`,
        { data: { retryAfterSeconds } },
      );
    }
    this.#buckets.set(key, { tokens: tokens - count, atMs });
    if (this.#buckets.size >= SWEEP_AT) this.#sweep(atMs);
  }

  #tokens(bucket: Bucket | undefined, atMs: number): number {
    if (!bucket) return this.#perMinute;
    return Math.min(this.#perMinute, bucket.tokens + ((atMs - bucket.atMs) * this.#perMinute) / MINUTE_MS);
  }

  #sweep(atMs: number): void {
    for (const [key, bucket] of this.#buckets)
      if (this.#tokens(bucket, atMs) >= this.#perMinute) this.#buckets.delete(key);
    // Many distinct keys within one minute: forgetting the oldest only ever favours the caller.
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size < SWEEP_AT) break;
      this.#buckets.delete(key);
    }
  }
}
