/** The worker process: reads the environment, wires store, runtimes and tools, runs until it is told to stop. */
import { homedir } from "node:os";
import { AppError } from "@executor/contracts/error";
import { EnvironmentError } from "@executor/core/installation-env";
import { createLogger } from "@executor/core/log";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { makePlaces } from "@executor/store/make-places";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import { readWorkerEnv } from "./env.ts";
import { createWorker } from "./worker.ts";

/** sysexits: the configuration is wrong, starting again will not help. */
const EXIT_CONFIG = 78;
const PARENT_CHECK_MS = 1_000;

async function main(): Promise<void> {
  const { worker: env, installation } = readWorkerEnv(process.env, process.platform, homedir());
  const host = createSystemHost();
  const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
  // From here on a signal ends it cleanly, however far the start has come.
  const stop = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => stop.resolve(signal));
  if (env.parentPid !== null) watchParent(env.parentPid, () => stop.resolve("parent is gone"));

  makePlaces(installation);
  const store = await openStore(installation, "spoke");
  const worker = createWorker({
    store,
    runtimes: [createInProcessRuntime({ runDir: installation.runDir, maxChildren: env.settings.concurrency + 2 })],
    providers: [],
    host,
    limits: installation.limits,
    log,
    mapLine,
    settings: env.settings,
  });
  await worker.start();
  log.info("worker.stopping", { reason: await stop.promise });
  await worker.stop();
  await store.close();
  process.exit(0);
}

function watchParent(pid: number, onGone: () => void): void {
  const timer = setInterval(() => {
    if (isAlive(pid)) return;
    clearInterval(timer);
    onGone();
  }, PARENT_CHECK_MS);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}

await main().catch((error: unknown) => {
  const isConfig = error instanceof EnvironmentError || error instanceof AppError;
  process.stderr.write(`${isConfig ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(isConfig ? EXIT_CONFIG : 1);
});
