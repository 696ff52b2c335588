/** Keeps sources read: whenever one may be due, and now and then in case nobody said so. One reading at a time. */
import type { Store } from "@executor/core/ports/store";
import { type ReaderDeps, readDueSources } from "./read-due-sources.ts";

const LOOK_EVERY_MS = 5_000;

export interface SourceReader {
  /** Resolves when what is due now has been read. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

export function startSourceReader(deps: Omit<ReaderDeps, "signal"> & { store: Store }): SourceReader {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let again = false;

  const wake = (): void => {
    if (stopping.signal.aborted) return;
    if (running) again = true;
    else running = run();
  };
  const run = async (): Promise<void> => {
    do {
      again = false;
      await readDueSources({ ...deps, signal: stopping.signal }).catch((error: unknown) =>
        deps.log.error("source.reader_failed", { reason: String(error) }),
      );
    } while (again && !stopping.signal.aborted);
    running = null;
  };
  const unwatch = deps.store.watch((hint) => {
    if (hint.kind === "sources" || hint.kind === "resync") wake();
  });
  const timer = setInterval(wake, LOOK_EVERY_MS);
  wake();
  return {
    async idle() {
      wake();
      while (running) await running;
    },
    async stop() {
      stopping.abort();
      clearInterval(timer);
      unwatch();
      await running;
    },
  };
}
