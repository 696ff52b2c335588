/** A store for tests of crashes within one process. */
import { AppError } from "@executor/contracts/error";
import type { Store } from "@executor/core/ports/store";

/** Dies before a write goes through, like a worker that is killed there. */
export function dyingStore(store: Store, dies: (verb: string, args: unknown) => boolean): Store {
  return new Proxy(store, {
    get: (target, verb: keyof Store) => {
      const value = target[verb];
      if (typeof value !== "function" || !["recordProgress", "pauseTask", "settleTask"].includes(verb)) return value;
      return async (args: never) => {
        if (dies(verb, args)) throw new AppError("lease.lost", "killed here");
        return await (value as (args: never) => Promise<unknown>)(args);
      };
    },
  });
}
