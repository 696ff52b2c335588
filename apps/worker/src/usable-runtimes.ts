/**
 * Which runtimes this worker can use. Those that are not usable are asked again now and then: a public address may come up
 * minutes after the start. What cannot be used is said once, with its reason, and again when the reason changes.
 */
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";

const LOOK_AGAIN_MS = 5_000;

export class UsableRuntimes {
  readonly usable = new Map<string, Runtime>();
  readonly #runtimes: readonly Runtime[];
  readonly #host: Pick<Host, "setTimer">;
  readonly #log: Logger;
  readonly #reasons = new Map<string, string>();
  #cancel = (): void => undefined;
  #isStopped = false;

  constructor(runtimes: readonly Runtime[], host: Pick<Host, "setTimer">, log: Logger) {
    this.#runtimes = runtimes;
    this.#host = host;
    this.#log = log;
  }

  get ids(): string[] {
    return [...this.usable.keys()];
  }

  /** True when there is one more than before. */
  async look(): Promise<boolean> {
    const before = this.usable.size;
    for (const runtime of this.#runtimes) {
      if (this.usable.has(runtime.id)) continue;
      const state = await runtime.availability();
      if (state.available) {
        this.usable.set(runtime.id, runtime);
        if (this.#reasons.has(runtime.id)) this.#log.info("runtime.available", { runtimeId: runtime.id });
      } else if (this.#reasons.get(runtime.id) !== state.reason) {
        this.#reasons.set(runtime.id, state.reason);
        this.#log.info("runtime.unavailable", { runtimeId: runtime.id, reason: state.reason });
      }
    }
    return this.usable.size > before;
  }

  keepLooking(onMore: () => void): void {
    if (this.#isStopped || this.usable.size === this.#runtimes.length) return;
    this.#cancel = this.#host.setTimer(LOOK_AGAIN_MS, () => {
      void this.look().then((more) => {
        if (more) onMore();
        this.keepLooking(onMore);
      });
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }
}
