/** How long a task has run, over all its runs: it stands still during replay and while people think. */
import type { Host } from "../ports/host.ts";

export class RunClock {
  readonly #host: Host;
  #elapsedMs: number;
  #startedAt: number | null = null;

  constructor(host: Host, elapsedMs: number) {
    this.#host = host;
    this.#elapsedMs = elapsedMs;
  }

  nowMs(): number {
    return this.#elapsedMs + (this.#startedAt === null ? 0 : this.#host.monotonicMs() - this.#startedAt);
  }

  start(): void {
    this.#startedAt ??= this.#host.monotonicMs();
  }

  stop(): void {
    this.#elapsedMs = this.nowMs();
    this.#startedAt = null;
  }
}
