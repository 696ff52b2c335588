/**
 * Keeps the leases of all running tasks with one heartbeat. A task whose lease is lost (cancelled, taken over) is stopped.
 * When the store cannot be reached until the leases would have run out, everything is stopped: another worker may go on.
 */
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import type { Logger } from "@executor/core/log";
import type { RunningTasks } from "./running-tasks.ts";

export interface LeaseDeps {
  store: Pick<Store, "renewLeases">;
  host: Host;
  log: Logger;
  workerId: string;
  leaseMs: number;
  running: RunningTasks;
}

export function startHeartbeat(deps: LeaseDeps): { stop(): void } {
  const { store, host, log, workerId, leaseMs, running } = deps;
  let lastGood = host.monotonicMs();
  let cancel = (): void => undefined;
  let stopped = false;

  const beat = async (): Promise<void> => {
    const tasks = running.list();
    try {
      const { lost } = await store.renewLeases({
        workerId,
        leases: tasks.map(({ taskId, attempt }) => ({ taskId, attempt })),
        leaseMs,
        now: host.now(),
      });
      lastGood = host.monotonicMs();
      for (const task of tasks) if (lost.includes(task.taskId)) task.controller.abort("lease lost");
    } catch (error) {
      log.warn("worker.heartbeat_failed", { error });
      if (host.monotonicMs() - lastGood > leaseMs) for (const task of tasks) task.controller.abort("store unreachable");
    }
    if (!stopped) cancel = host.setTimer(leaseMs / 3, () => void beat());
  };
  void beat();
  return {
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}
