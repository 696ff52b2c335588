/** Sweeps up after others: leases that ran out go back to the queue, interactions nobody answered expire, links of dead guests go. */
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";

const BATCH = 100;
/** Their tokens are dead long before; only the text still lies there. */
const SWEEP_LINKS_MS = 60_000;

export function startSweep(deps: {
  store: Pick<Store, "recoverLeases" | "expireInteractions" | "listExpiredGuestLinks" | "closeGuestLink">;
  host: Host;
  log: Logger;
  everyMs: number;
}): { stop(): void } {
  const { store, host, log, everyMs } = deps;
  let cancel = (): void => undefined;
  let stopped = false;
  let linksSweptMs = Number.NEGATIVE_INFINITY;

  const sweepLinks = async (): Promise<void> => {
    if (host.monotonicMs() - linksSweptMs < SWEEP_LINKS_MS) return;
    linksSweptMs = host.monotonicMs();
    for (const linkId of await store.listExpiredGuestLinks({ now: host.now(), limit: BATCH }))
      while (!(await store.closeGuestLink({ linkId })));
  };
  const sweep = async (): Promise<void> => {
    try {
      const { recovered } = await store.recoverLeases({ now: host.now(), limit: BATCH });
      for (const taskId of recovered) log.info("task.recovered", { taskId });
      const { expired } = await store.expireInteractions({ now: host.now(), limit: BATCH });
      for (const { interactionId, taskId } of expired) log.info("interaction.expired", { interactionId, taskId });
      await sweepLinks();
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
