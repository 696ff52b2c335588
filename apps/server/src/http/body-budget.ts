/**
 * What all bodies that are still arriving may hold together. Without it many slow senders, each within its own limit,
 * could fill the memory.
 */
import { AppError } from "@executor/contracts/error";

export class BodyBudget {
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Counts the bytes even when it refuses: the caller gives back all it took. */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#maxBytes)
      throw new AppError(
        "request.rate_limited",
        "Too many large requests are arriving at once. Try again in a moment.",
        {
          data: { retryAfterSeconds: 1 },
        },
      );
  }

  giveBack(bytes: number): void {
    this.#bytes -= bytes;
  }
}
