/**
 * Starts the process that reads sources when one is due, and ends one that no longer turns. Never reads anything itself, and never
 * two processes at once. Whether anything is due is asked of the store, so a hint that was lost costs seconds, not a source.
 */
import { fileURLToPath } from "node:url";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import type { Environment } from "@executor/core/installation-env";

const LOOK_EVERY_MS = 5_000;
/** A document of the largest size takes seconds; who says nothing for this long is caught in one. */
const SILENT_MS = 60_000;
const START_AGAIN_MS = 1_000;
const STOP_WITHIN_MS = 5_000;

export interface ReaderProcessDeps {
  store: Pick<Store, "hasDueSources" | "watch">;
  host: Pick<Host, "now" | "monotonicMs">;
  log: Logger;
  environment: Environment;
  /** Another program and another patience, for tests. */
  command?: string[];
  silentMs?: number;
}

export interface ReaderProcess {
  stop(): Promise<void>;
}

export function keepSourcesRead(deps: ReaderProcessDeps): ReaderProcess {
  const { store, host, log, silentMs = SILENT_MS } = deps;
  let child: ReturnType<typeof spawnReader> | null = null;
  let beatAt = 0;
  let isStopping = false;
  let isLooking = false;

  const look = async (): Promise<void> => {
    if (isStopping || isLooking || child) return;
    isLooking = true;
    const isDue = await store.hasDueSources({ now: host.now() }).catch((error: unknown) => {
      log.error("reader.unasked", { reason: String(error) });
      return false;
    });
    isLooking = false;
    if (isDue && !isStopping && !child) start();
  };

  const start = (): void => {
    beatAt = host.monotonicMs();
    const started = spawnReader(deps, () => (beatAt = host.monotonicMs()));
    child = started;
    void started.exited.then(async (code) => {
      child = null;
      if (code === 0 || isStopping) return void look();
      log.error("reader.ended", { code, signal: started.signalCode });
      await Bun.sleep(START_AGAIN_MS);
      return void look();
    });
  };

  const timer = setInterval(
    () => {
      if (child && host.monotonicMs() - beatAt > silentMs) {
        log.error("reader.stuck", { silentMs });
        child.kill("SIGKILL");
      }
      void look();
    },
    Math.min(LOOK_EVERY_MS, silentMs),
  );
  const unwatch = store.watch((hint) => {
    if (hint.kind === "sources" || hint.kind === "resync") void look();
  });
  void look();

  return {
    async stop() {
      isStopping = true;
      clearInterval(timer);
      unwatch();
      const last = child;
      if (!last) return;
      last.kill("SIGTERM");
      const late = setTimeout(() => last.kill("SIGKILL"), STOP_WITHIN_MS);
      await last.exited;
      clearTimeout(late);
    },
  };
}

function spawnReader({ environment, command = readerCommand() }: ReaderProcessDeps, onBeat: () => void) {
  // Static secrets of the environment were sealed by the server; nobody else needs to see them.
  const { EXECUTOR_TOOL_SOURCES: _, ...env } = environment;
  return Bun.spawn(command, {
    env: { ...env, EXECUTOR_PARENT_PID: String(process.pid) },
    stdio: ["ignore", "inherit", "inherit"],
    ipc: onBeat,
  });
}

const readerCommand = (): string[] => [
  process.execPath,
  "--no-install",
  fileURLToPath(new URL("./main.ts", import.meta.url)),
];
