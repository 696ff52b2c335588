/**
 * The server process: reads the environment, wires the parts, listens until it is told to stop. The only file here that
 * chooses implementations. A configuration that cannot work is one message on stderr and exit code 78.
 */
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { AppError } from "@executor/contracts/error";
import { EnvironmentError } from "@executor/core/installation-env";
import { createLogger } from "@executor/core/log";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { listenForStop } from "@executor/store/listen-for-stop";
import { makePlaces } from "@executor/store/make-places";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTypeChecker } from "@executor/typecheck/type-checker";
import { openRuntimes } from "@executor/worker/open-runtimes";
import { openSources, portFile } from "@executor/worker/open-sources";
import about from "../package.json" with { type: "json" };
import { createSignIns } from "./credentials/sign-ins.ts";
import { readServerEnv } from "./env.ts";
import { offerCallback } from "./funnel/offer-callback.ts";
import { readCallbackEnv } from "./funnel/read-callback-env.ts";
import { lockHome } from "./home-lock.ts";
import { listen } from "./listen.ts";
import { ensureLocalOwner } from "./local-owner.ts";
import { describeRuntimes } from "./runtime-targets.ts";
import { keepSourcesRead } from "./source-reader/keep-sources-read.ts";

/** sysexits: the configuration is wrong, starting again will not help. */
const EXIT_CONFIG = 78;
const STOP_WITHIN_MS = 9_500;

async function main(): Promise<void> {
  const { server: env, installation } = readServerEnv(process.env, process.platform, homedir());
  const host = createSystemHost();
  const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
  // From here on a signal ends it cleanly, however far the start has come.
  const stopAsked = listenForStop(env.parentPid);
  makePlaces(installation);
  const lock = lockHome(installation.home);
  if (!lock.ok)
    throw new EnvironmentError(
      `Another server (process ${lock.pid}) uses ${installation.home}. Stop it, or give this one its own EXECUTOR_HOME.`,
    );

  const store = await openStore(installation, "hub");
  const { limits } = installation;
  const environment = process.env;
  const sources = openSources({ installation, environment, store, host, log, limits, version: about.version });
  const tools = sources.provider;
  const instance = host.newSeed();
  const callbackEnv = readCallbackEnv(environment, env);
  const offered = { host: env.host, instance, runDir: installation.runDir, path: environment["PATH"], log };
  const callback = offerCallback(callbackEnv, offered);
  const vercel = { settings: callbackEnv.vercel, readCallback: callback.read };
  const runtimes = openRuntimes({ installation, environment, store, host, log, vercel, runsTasks: env.autoExecute });
  const typeChecker = createTypeChecker();
  const stopping = new AbortController();
  const owner = await ensureLocalOwner({ store, host, log }, installation.home);
  await sources.service.saveEnv(env.toolSources, {
    workspaceId: owner.workspaceId,
    by: owner,
    sharesAll: env.isLoopback,
  });
  const server = listen({
    store,
    host,
    limits,
    runtimes: { list: () => describeRuntimes(runtimes, { probe: env.autoExecute }) },
    tools,
    sources: {
      ...sources,
      signIns: (redirectBase) =>
        createSignIns({ ...sources, store, host, redirectBase, clientDocumentUrl: env.oauthClientUrl }),
    },
    transpile: transpileTask,
    typeChecker,
    localWorkspaceId: () => owner.workspaceId,
    env,
    log,
    version: about.version,
    instance,
    callbackHosts: callback.hosts,
    webRoot: join(import.meta.dir, "../../web/dist"),
    shutdown: stopping.signal,
  });
  writeFileSync(portFile(installation.runDir), `${server.port}\n`, { mode: 0o600 });
  callback.start(server.port);
  const reader = keepSourcesRead({ store, host, log, environment });
  const worker = env.autoExecute ? await startWorker() : null;
  log.info("server.listening", { host: env.host, port: server.port, store: store.kind, autoExecute: env.autoExecute });

  const reason = await stopAsked;
  log.info("server.stopping", { reason });
  // Whatever still hangs is in the store, or was never promised.
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  stopping.abort();
  await Promise.all([server.stop(), worker?.stop(), reader.stop(), callback.close()]);
  typeChecker.close();
  await sources.close();
  await store.close();
  lock.release();
  log.info("server.stopped", { reason });
  process.exit(0);

  /** Loaded only when asked for: a server that runs no tasks keeps no engine in memory. */
  async function startWorker() {
    const { createWorker } = await import("@executor/worker/worker");
    const { readWorkerEnv } = await import("@executor/worker/env");
    const { mapLine } = await import("@executor/runtimes/guest/map-line");
    const { settings } = readWorkerEnv(process.env, process.platform, homedir()).worker;
    const started = createWorker({ store, runtimes, providers: [tools], host, limits, log, mapLine, settings });
    await started.start();
    return started;
  }
}

await main().catch((error: unknown) => {
  const isConfig = error instanceof EnvironmentError || error instanceof AppError;
  process.stderr.write(`${isConfig ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(isConfig ? EXIT_CONFIG : 1);
});
