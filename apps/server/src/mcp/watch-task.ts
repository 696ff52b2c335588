/**
 * Follows a task for a client that waits: looks when a hint says so, and now and then in any case. Says how it goes, at most
 * twice a second, and shows a sign of life when nothing happens. Never decides and never changes anything.
 */
import { Bell } from "../bell.ts";
import type { McpCall, McpParts } from "./mcp-parts.ts";

export interface TaskLook {
  status: string;
  eventSeq: number;
}

const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 1_000;
const SAY_EVERY_MS = 500;
const SIGN_OF_LIFE_MS = 10_000;

/** Comes back when `isEnough` says so, when the time is over, or when nobody waits any more. */
export async function watchTask(
  { deps: { store, host, shutdown }, hub }: McpParts,
  { signal, progress }: Pick<McpCall, "signal" | "progress">,
  taskId: string,
  {
    untilMs,
    isEnough,
    wake,
  }: { untilMs: number; isEnough(look: TaskLook): boolean; wake?: (ring: () => void) => void },
): Promise<void> {
  const bell = new Bell(host);
  wake?.(bell.ring);
  const stops = [hub.on(`task:${taskId}`, bell.ring), hub.on(`settled:${taskId}`, bell.ring)];
  for (const reason of [signal, shutdown]) reason.addEventListener("abort", bell.ring);
  const speak = createSpeaker(() => host.monotonicMs(), progress);
  try {
    for (let pollMs = FIRST_POLL_MS; !signal.aborted && !shutdown.aborted; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      const task = await store.readTaskStatus({ taskId });
      if (!task || isEnough(task)) return;
      speak(task);
      const restMs = untilMs - host.monotonicMs();
      if (restMs <= 0) return;
      await bell.wait(Math.min(pollMs, restMs));
    }
  } finally {
    for (const stop of stops) stop();
    for (const reason of [signal, shutdown]) reason.removeEventListener("abort", bell.ring);
  }
}

function createSpeaker(nowMs: () => number, progress: McpCall["progress"]): (look: TaskLook) => void {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  let said = -1;
  return ({ status, eventSeq }) => {
    const quietMs = nowMs() - saidAtMs;
    if (!progress || quietMs < SAY_EVERY_MS || (eventSeq === said && quietMs < SIGN_OF_LIFE_MS)) return;
    saidAtMs = nowMs();
    said = eventSeq;
    progress(status === "waiting" ? "waiting for a person" : `${status}, ${eventSeq} events`);
  };
}
