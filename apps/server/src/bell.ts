/** Something to wait at until it rings or the time is over. A ring while nobody waits is kept for the next who does. */
import type { Host } from "@executor/core/ports/host";

export class Bell {
  readonly #host: Pick<Host, "setTimer">;
  #isRung = false;
  #wake: (() => void) | null = null;

  constructor(host: Pick<Host, "setTimer">) {
    this.#host = host;
  }

  /** Bound, to be handed over as a callback. */
  readonly ring = (): void => {
    this.#isRung = true;
    this.#wake?.();
  };

  async wait(ms: number): Promise<void> {
    if (!this.#isRung) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = this.#host.setTimer(Math.max(0, ms), resolve);
      this.#wake = resolve;
      await promise;
      stop();
      this.#wake = null;
    }
    this.#isRung = false;
  }
}
