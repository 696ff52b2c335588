/** The worker process: reads the environment, wires store, runtimes and tools, runs until it is told to stop. */
import { homedir } from "node:os";
import { AppError } from "@executor/contracts/error";
import { EnvironmentError } from "@executor/core/installation-env";
import { createLogger } from "@executor/core/log";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { readVercelSettings } from "@executor/runtimes/vercel-sandbox/read-vercel-settings";
import { listenForStop } from "@executor/store/listen-for-stop";
import { makePlaces } from "@executor/store/make-places";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import about from "../package.json" with { type: "json" };
import { createCallbackReader } from "./callback-file.ts";
import { readWorkerEnv } from "./env.ts";
import { openRuntimes } from "./open-runtimes.ts";
import { openSources } from "./open-sources.ts";
import { createWorker } from "./worker.ts";

/** sysexits: the configuration is wrong, starting again will not help. */
const EXIT_CONFIG = 78;

async function main(): Promise<void> {
  const { worker: env, installation } = readWorkerEnv(process.env, process.platform, homedir());
  const host = createSystemHost();
  const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
  // From here on a signal ends it cleanly, however far the start has come.
  const stopAsked = listenForStop(env.parentPid);

  const vercel = readVercelSettings(process.env);
  makePlaces(installation);
  const store = await openStore(installation, "spoke");
  const sources = openSources({
    installation,
    environment: process.env,
    store,
    host,
    log,
    limits: installation.limits,
    version: about.version,
  });
  const worker = createWorker({
    store,
    runtimes: openRuntimes({
      installation,
      environment: process.env,
      store,
      host,
      log,
      vercel: { settings: vercel, readCallback: createCallbackReader(installation.runDir, vercel.baseUrl) },
      runsTasks: true,
      maxChildren: env.settings.concurrency + 2,
    }),
    providers: [sources.provider],
    host,
    limits: installation.limits,
    log,
    mapLine,
    settings: env.settings,
  });
  await worker.start();
  log.info("worker.stopping", { reason: await stopAsked });
  await worker.stop();
  await sources.close();
  await store.close();
  process.exit(0);
}

await main().catch((error: unknown) => {
  const isConfig = error instanceof EnvironmentError || error instanceof AppError;
  process.stderr.write(`${isConfig ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(isConfig ? EXIT_CONFIG : 1);
});
