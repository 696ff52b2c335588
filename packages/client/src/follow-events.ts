/**
 * Reads a task's events in the background and tells when one of them may have changed the task.
 * Level-triggered: a change that nobody waited for is told to the next who does, so none is missed.
 */
import type { TaskEvent } from "@executor/contracts/event";
import { openScope, sleep } from "./scope.ts";

export interface Follower {
  /** Resolves at the next change, or after so long. */
  changed(atMostMs: number, signal: AbortSignal): Promise<void>;
  /** False when there is nothing more to hear, for whatever reason. */
  isAlive(): boolean;
  /** After the last event. Never rejects: a failure goes to `fail`. */
  done: Promise<void>;
}

export function followEvents(
  events: AsyncIterable<TaskEvent>,
  onEvent: ((event: TaskEvent) => void | Promise<void>) | undefined,
  fail: ((error: unknown) => void) | undefined,
): Follower {
  let hasChanged = false;
  let isAlive = true;
  let wake: () => void = () => undefined;
  const note = () => {
    hasChanged = true;
    wake();
  };

  const read = async () => {
    try {
      for await (const event of events) {
        await onEvent?.(event);
        if (mayChangeTask(event)) note();
      }
    } catch (error) {
      fail?.(error);
    } finally {
      isAlive = false;
      note();
    }
  };

  return {
    async changed(atMostMs, signal) {
      if (!hasChanged) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const nap = openScope({ signal });
        try {
          await Promise.race([woken, sleep(atMostMs, nap.signal)]);
        } finally {
          nap.close();
          nap.stop(undefined);
        }
      }
      hasChanged = false;
    },
    isAlive: () => isAlive,
    done: read(),
  };
}

/** Not output and not calls: a task may have thousands of them, and they leave its status as it is. */
function mayChangeTask({ type }: TaskEvent): boolean {
  return /^(task|approval|interaction)\./.test(type) && type !== "task.stdout" && type !== "task.stderr";
}
