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
    const runtimes = new Map<string, Runtime>();
    const runtimeIds: string[] = [];
    const drain = new Drain({
      ...settings,
      store,
      host,
      log,
      workerId,
      runtimeIds,
      running,
      run: (claim, signal) => runClaim({ ...deps, runtimes, workerId }, claim, signal),
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
    );
    // The first runtime that works is enough to begin; the others join when they are known to work.
    const first = Promise.withResolvers<void>();
    const all = deps.runtimes.map(async (runtime) => {
      if (!(await isUsable(runtime, log))) return;
      runtimes.set(runtime.id, runtime);
      runtimeIds.push(runtime.id);
      first.resolve();
      drain.wake();
    });
    await Promise.race([first.promise, Promise.all(all)]);
    log.info("worker.started", { workerId, concurrency: settings.concurrency, runtimes: [...runtimes.keys()] });
  };

  const stop = async (): Promise<void> => {
    const [unwatch, stopDrain, stopSweep, stopHeartbeat] = stops.splice(0);
    for (const each of [unwatch, stopDrain, stopSweep]) each?.();
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

async function isUsable(runtime: Runtime, log: Logger): Promise<boolean> {
  const state = await runtime.availability();
  if (!state.available) log.warn("runtime.unavailable", { runtimeId: runtime.id, reason: state.reason });
  return state.available;
}

async function settleWithin(running: RunningTasks, ms: number, host: Host): Promise<void> {
  if (running.size === 0) return;
  let cancel = (): void => undefined;
  const timeUp = new Promise<void>((resolve) => (cancel = host.setTimer(ms, resolve)));
  await Promise.race([Promise.all(running.list().map((task) => task.ended)), timeUp]);
  cancel();
}
