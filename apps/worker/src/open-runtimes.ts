/** Everything that can evaluate code, put together once for server and worker alike. */
import { fileURLToPath } from "node:url";
import type { Environment, Installation } from "@executor/core/installation-env";
import { readIsolateEnv } from "@executor/core/isolate-env";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";
import type { Store } from "@executor/core/ports/store";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { createProcessRuntime } from "@executor/runtimes/process/process-runtime";
import {
  createVercelSandboxRuntime,
  type VercelRuntimeOptions,
} from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";

export interface RuntimesParts {
  installation: Pick<Installation, "runDir" | "limits">;
  environment: Environment;
  store: Store;
  host: Host;
  log: Logger;
  vercel: Pick<VercelRuntimeOptions, "settings" | "readCallback">;
  /** False: no engine is started before one is asked for. */
  runsTasks: boolean;
  /** Of the in-process engine. */
  maxChildren?: number;
}

export function openRuntimes(parts: RuntimesParts): Runtime[] {
  const { installation, environment, store, host, log, runsTasks, maxChildren } = parts;
  const { runDir, limits } = installation;
  const isolate = readIsolateEnv(environment);
  const inProcess = createInProcessRuntime({
    runDir,
    warm: runsTasks,
    maxChildren,
  });
  const isolated = createProcessRuntime({
    isolateEntry: fileURLToPath(new URL("../../isolate/src/main.ts", import.meta.url)),
    runDir,
    maxProcesses: isolate.maxProcesses,
    warm: isolate.warm,
    idleMs: isolate.idleMs,
    user: isolate.user ?? undefined,
    enginePath: isolate.enginePath ?? undefined,
    allowUnconfined: isolate.unsandboxed,
    memoryBytes: limits.memoryBytes,
    cpuMs: limits.cpuMs,
    maxTextBytes: Math.max(limits.callInputBytes, limits.callResultBytes, limits.resultBytes, limits.codeBytes),
    tokens: { lifetimeMs: isolate.tokenLifetimeMs, maxUses: isolate.tokenMaxUses || undefined },
    log: (message) => log.warn("isolate.trouble", { message }),
  });
  const vm = createVercelSandboxRuntime({
    ...parts.vercel,
    store,
    host,
    log: (message) => log.warn("runtime.vercel", { message }),
  });
  return [inProcess, isolated, vm];
}
