/**
 * A worker: claims tasks and runs them, with leases, a heartbeat, and a sweep for what others left behind.
 * Any number of workers may share a store. It holds no state that matters: kill it, and its tasks go on elsewhere.
 */
import type { Limits } from "@executor/contracts/limits";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";
import type { Store } from "@executor/core/ports/store";
import type { ToolProvider } from "@executor/core/ports/tools";
import { DRAIN } from "@executor/core/tasks/stop-switch";
import { Drain } from "./drain.ts";
import { startHeartbeat } from "./lease.ts";
import { startSweep } from "./recover.ts";
import { runClaim } from "./run-claim.ts";
import { RunningTasks } from "./running-tasks.ts";
import { UsableRuntimes } from "./usable-runtimes.ts";

export interface WorkerDeps {
  store: Store;
  runtimes: readonly Runtime[];
  providers: readonly ToolProvider[];
  host: Host;
  limits: Limits;
  log: Logger;
  mapLine(code: string, script: string, line: number): number | undefined;
  settings: WorkerSettings;
}

export interface WorkerSettings {
  concurrency: number;
  leaseMs: number;
  pollMs: number;
  sweepMs: number;
  /** What running tasks get to end by themselves before they are handed back. */
  drainMs: number;
}

export const defaultWorkerSettings: WorkerSettings = {
  concurrency: 16,
  leaseMs: 10_000,
  pollMs: 500,
  sweepMs: 1_000,
  drainMs: 5_000,
};

export interface Worker {
  readonly workerId: string;
  start(): Promise<void>;
  /** Claims no more, lets running tasks end or hands them back, and closes the runtimes. */
  stop(): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const { store, host, log, settings } = deps;
  const workerId = host.newId("worker");
  const running = new RunningTasks();
  const stops: (() => void)[] = [];

  const start = async (): Promise<void> => {
    const runtimes = new UsableRuntimes(deps.runtimes, host, log);
    const drain = new Drain({
      ...settings,
      store,
      host,
      log,
      workerId,
      runtimeIds: () => runtimes.ids,
      running,
      run: (claim, signal) => runClaim({ ...deps, runtimes: runtimes.usable, workerId }, claim, signal),
    });
    const unwatch = store.watch((hint) => {
      if (hint.kind === "queued") drain.wake();
      else if (hint.kind === "cancelled") running.stop(hint.taskId, "cancelled");
    });
    const heartbeat = startHeartbeat({ store, host, log, workerId, leaseMs: settings.leaseMs, running });
    const sweep = startSweep({ store, host, log, everyMs: settings.sweepMs });
    stops.push(
      unwatch,
      () => drain.stop(),
      () => sweep.stop(),
      () => heartbeat.stop(),
      () => runtimes.stop(),
    );
    // The first runtime that works is enough to begin; the others join when they are known to work.
    await runtimes.look(() => drain.wake());
    drain.wake();
    log.info("worker.started", { workerId, concurrency: settings.concurrency, runtimes: runtimes.ids });
  };

  const stop = async (): Promise<void> => {
    const [unwatch, stopDrain, stopSweep, stopHeartbeat, stopLooking] = stops.splice(0);
    for (const each of [unwatch, stopDrain, stopSweep, stopLooking]) each?.();
    await settleWithin(running, settings.drainMs, host);
    for (const task of running.list()) task.controller.abort(DRAIN);
    await Promise.all(running.list().map((task) => task.ended));
    stopHeartbeat?.();
    await store.removeWorker({ workerId }).catch(() => undefined);
    await Promise.all(deps.runtimes.map((runtime) => runtime.close()));
    log.info("worker.stopped", { workerId });
  };

  return { workerId, start, stop };
}

async function settleWithin(running: RunningTasks, ms: number, host: Host): Promise<void> {
  if (running.size === 0) return;
  let cancel = (): void => undefined;
  const timeUp = new Promise<void>((resolve) => (cancel = host.setTimer(ms, resolve)));
  await Promise.race([Promise.all(running.list().map((task) => task.ended)), timeUp]);
  cancel();
}
