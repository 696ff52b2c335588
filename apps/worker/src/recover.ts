/** Sweeps up after others: leases that ran out go back to the queue, interactions nobody answered expire. */
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";

const BATCH = 100;

export function startSweep(deps: {
  store: Pick<Store, "recoverLeases" | "expireInteractions">;
  host: Host;
  log: Logger;
  everyMs: number;
}): { stop(): void } {
  const { store, host, log, everyMs } = deps;
  let cancel = (): void => undefined;
  let stopped = false;

  const sweep = async (): Promise<void> => {
    try {
      const { recovered } = await store.recoverLeases({ now: host.now(), limit: BATCH });
      for (const taskId of recovered) log.info("task.recovered", { taskId });
      const { expired } = await store.expireInteractions({ now: host.now(), limit: BATCH });
      for (const { interactionId, taskId } of expired) log.info("interaction.expired", { interactionId, taskId });
    } catch (error) {
      log.warn("worker.sweep_failed", { error });
    }
    // Several workers sweep the same store: some jitter keeps them apart.
    if (!stopped) cancel = host.setTimer(everyMs * (0.8 + 0.4 * jitter(host)), () => void sweep());
  };
  void sweep();
  return {
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}

const jitter = (host: Host): number => (Math.floor(host.monotonicMs() * 1_000) % 997) / 997;
