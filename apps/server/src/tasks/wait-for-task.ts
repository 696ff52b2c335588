/**
 * Waits until a task needs nobody's patience any more: it has ended, or it waits for a person. Listens before it looks,
 * so nothing can happen unseen in between; a hint makes it look at once, a slow poll makes sure.
 */
import { isEnded, type TaskStatus } from "@executor/contracts/task";
import { Bell } from "../bell.ts";
import type { AppDeps } from "../deps.ts";
import type { HintHub } from "../hint-hub.ts";

/** Most tasks are over soon; the longer one takes, the less a look more or less matters. */
const FIRST_POLL_MS = 50;
const MAX_POLL_MS = 1_000;

/** Comes back early when the client goes away or the server stops: the caller then reads the task as it stands. */
export async function waitForTask(
  { store, host, shutdown }: AppDeps,
  hub: HintHub,
  { taskId, ms, signal }: { taskId: string; ms: number; signal: AbortSignal },
): Promise<void> {
  const bell = new Bell(host);
  const stopListening = hub.on(`settled:${taskId}`, bell.ring);
  const untilMs = host.monotonicMs() + ms;
  for (const reason of [signal, shutdown]) reason.addEventListener("abort", bell.ring);
  try {
    for (let pollMs = FIRST_POLL_MS; !signal.aborted && !shutdown.aborted; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      const task = await store.readTaskStatus({ taskId });
      if (!task || isSettled(task.status as TaskStatus)) return;
      const restMs = untilMs - host.monotonicMs();
      if (restMs <= 0) return;
      await bell.wait(Math.min(pollMs, restMs));
    }
  } finally {
    stopListening();
    for (const reason of [signal, shutdown]) reason.removeEventListener("abort", bell.ring);
  }
}

const isSettled = (status: TaskStatus): boolean => isEnded(status) || status === "waiting";
