/**
 * Which runtimes this worker can use. Those that are not usable are asked again now and then, later and later: a public address may
 * come up minutes after the start. What cannot be used is said once, with its reason, and again when the reason changes.
 */
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";

const LOOK_AGAIN_MS = 5_000;
const LOOK_AGAIN_MAX_MS = 60_000;

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

  /** Resolves when one can be used, or none can for now. `onMore` is told of each that joins. */
  async look(onMore: () => void): Promise<void> {
    const first = Promise.withResolvers<void>();
    const all = this.#askAll(() => {
      first.resolve();
      onMore();
    });
    void all.then(() => this.#lookAgain(onMore, LOOK_AGAIN_MS));
    await Promise.race([first.promise, all]);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async #askAll(onMore: () => void): Promise<void> {
    const unasked = this.#runtimes.filter(({ id }) => !this.usable.has(id));
    await Promise.all(unasked.map(async (runtime) => (await this.#ask(runtime)) && onMore()));
  }

  async #ask(runtime: Runtime): Promise<boolean> {
    const { id: runtimeId } = runtime;
    const state = await runtime.availability();
    if (state.available) {
      this.usable.set(runtimeId, runtime);
      if (this.#reasons.has(runtimeId)) this.#log.info("runtime.available", { runtimeId });
      return true;
    }
    if (this.#reasons.get(runtimeId) === state.reason) return false;
    this.#reasons.set(runtimeId, state.reason);
    this.#log.info("runtime.unavailable", { runtimeId, reason: state.reason });
    return false;
  }

  #lookAgain(onMore: () => void, afterMs: number): void {
    if (this.#isStopped || this.usable.size === this.#runtimes.length) return;
    this.#cancel = this.#host.setTimer(afterMs, () => {
      void this.#askAll(onMore).then(() => this.#lookAgain(onMore, Math.min(LOOK_AGAIN_MAX_MS, afterMs * 2)));
    });
  }
}
