/**
 * The gateway process: our MCP endpoint by itself, as many of them as are wanted, beside a server or on machines of their own. It shares the
 * store with server and workers, runs no tasks, reads no sources and makes no owner: all that is theirs.
 */
import { rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { AppError } from "@executor/contracts/error";
import { EnvironmentError } from "@executor/core/installation-env";
import { createLogger } from "@executor/core/log";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { readVercelSettings } from "@executor/runtimes/vercel-sandbox/read-vercel-settings";
import { listenForStop } from "@executor/store/listen-for-stop";
import { makePlaces } from "@executor/store/make-places";
import { openStore } from "@executor/store/open-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTypeChecker } from "@executor/typecheck/type-checker";
import { createCallbackReader } from "@executor/worker/callback-file";
import { openRuntimes } from "@executor/worker/open-runtimes";
import { openSources, portFile } from "@executor/worker/open-sources";
import about from "../../package.json" with { type: "json" };
import { createSignIns } from "../credentials/sign-ins.ts";
import { listen } from "../listen.ts";
import { findLocalWorkspace } from "../local-owner.ts";
import { describeRuntimes } from "../runtime-targets.ts";
import { createGatewayApp } from "./gateway-app.ts";
import { readGatewayEnv } from "./gateway-env.ts";

/** sysexits: the configuration is wrong, starting again will not help. */
const EXIT_CONFIG = 78;
const STOP_WITHIN_MS = 9_500;

async function main(): Promise<void> {
  const { server: env, installation, consoleBase } = readGatewayEnv(process.env, process.platform, homedir());
  const host = createSystemHost();
  const log = createLogger((line) => process.stdout.write(`${line}\n`), host.now);
  const stopAsked = listenForStop(env.parentPid);
  makePlaces(installation);
  const store = await openStore(installation, "spoke");
  const { limits } = installation;
  const sources = openSources({
    installation,
    environment: process.env,
    store,
    host,
    log,
    limits,
    version: about.version,
  });
  const vercel = readVercelSettings(process.env);
  const runtimes = openRuntimes({
    installation,
    environment: process.env,
    store,
    host,
    log,
    vercel: { settings: vercel, readCallback: createCallbackReader(installation.runDir, vercel.baseUrl) },
    runsTasks: false,
  });
  const typeChecker = createTypeChecker();
  const stopping = new AbortController();
  let localWorkspace: string | null = null;
  const gateway = listen(
    {
      store,
      host,
      limits,
      runtimes: { list: () => describeRuntimes(runtimes, { probe: false }) },
      tools: sources.provider,
      sources: {
        ...sources,
        signIns: (redirectBase) =>
          createSignIns({ ...sources, store, host, redirectBase, clientDocumentUrl: env.oauthClientUrl }),
      },
      transpile: transpileTask,
      typeChecker,
      localWorkspaceId: () => (localWorkspace ??= findLocalWorkspace(installation.home, { log })),
      env,
      log,
      version: about.version,
      instance: host.newSeed(),
      callbackHosts: () => [],
      webRoot: null,
      shutdown: stopping.signal,
    },
    (deps) => createGatewayApp(deps, consoleBase),
  );
  const ownPortFile = portFile(installation.runDir, gateway.port);
  writeFileSync(ownPortFile, `${gateway.port}\n`, { mode: 0o600 });
  log.info("gateway.listening", { host: env.host, port: gateway.port, store: store.kind });

  const reason = await stopAsked;
  log.info("gateway.stopping", { reason });
  setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
  stopping.abort();
  await gateway.stop();
  rmSync(ownPortFile, { force: true });
  typeChecker.close();
  await sources.close();
  await store.close();
  log.info("gateway.stopped", { reason });
  process.exit(0);
}

await main().catch((error: unknown) => {
  const isConfig = error instanceof EnvironmentError || error instanceof AppError;
  process.stderr.write(`${isConfig ? error.message : String((error as Error).stack ?? error)}\n`);
  process.exit(isConfig ? EXIT_CONFIG : 1);
});
