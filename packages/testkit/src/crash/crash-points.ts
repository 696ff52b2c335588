/**
 * Points at which a worker process is killed: around each write of a run and around each effect. The process counts them
 * as it comes by and sends itself SIGKILL at the one it was told: nothing gets a chance to clean up.
 */
import type { Store } from "@executor/core/ports/store";
import type { ToolOutcome } from "@executor/core/tools/tool";

const writesOfARun = new Set(["claimTask", "recordProgress", "pauseTask", "settleTask"]);

export class CrashPoints {
  readonly #deadly: number;
  #passed = 0;

  /** `deadly` 0: survives. */
  constructor(deadly: number) {
    this.#deadly = deadly;
  }

  async pass(): Promise<void> {
    if (++this.#passed !== this.#deadly) return;
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  }

  /** The store, with a point before and after each write of a run. */
  around(store: Store): Store {
    return new Proxy(store, {
      get: (target, verb: keyof Store) => {
        const value = target[verb];
        if (!writesOfARun.has(verb)) return value;
        return async (args: never) => {
          await this.pass();
          const result = await (value as (args: never) => Promise<unknown>)(args);
          // A claim that got nothing is no write: how many of them there are depends on time.
          if (result !== null) await this.pass();
          return result;
        };
      },
    });
  }

  /** An effect, with a point before it leaves and after it came back. */
  async aroundEffect(effect: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    await this.pass();
    const outcome = await effect();
    await this.pass();
    return outcome;
  }
}
