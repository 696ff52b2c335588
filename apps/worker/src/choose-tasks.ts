/**
 * Which queued tasks to claim next, fairly: workspaces take turns, the one with the fewest running first, and none gets
 * more than its share of the slots, so that a newcomer finds one free. Pure.
 */
import type { QueuedTask } from "@executor/core/store/verbs/claim-task";

export interface Choice {
  queued: readonly QueuedTask[];
  /** How many tasks of each workspace this worker runs now. */
  running: ReadonlyMap<string, number>;
  freeSlots: number;
  /** Most slots one workspace may hold. */
  share: number;
}

export function chooseTasks({ queued, running, freeSlots, share }: Choice): QueuedTask[] {
  const lines = new Map<string, QueuedTask[]>();
  for (const task of queued) {
    const line = lines.get(task.workspaceId);
    if (line) line.push(task);
    else lines.set(task.workspaceId, [task]);
  }
  const held = new Map(running);
  const chosen: QueuedTask[] = [];
  while (chosen.length < freeSlots) {
    const next = nextWorkspace(lines, held, share);
    if (next === null) break;
    const task = lines.get(next)?.shift();
    if (task) chosen.push(task);
    held.set(next, (held.get(next) ?? 0) + 1);
  }
  return chosen;
}

/** The one with the fewest running; among those, the one whose oldest task waits longest. */
function nextWorkspace(lines: Map<string, QueuedTask[]>, held: Map<string, number>, share: number): string | null {
  let best: { workspaceId: string; count: number; queuedAt: number } | null = null;
  for (const [workspaceId, [head]] of lines) {
    const count = held.get(workspaceId) ?? 0;
    if (!head || count >= share) continue;
    if (!best || count < best.count || (count === best.count && head.queuedAt < best.queuedAt))
      best = { workspaceId, count, queuedAt: head.queuedAt };
  }
  return best?.workspaceId ?? null;
}

/** A quarter of the slots always stays for others. */
export const workspaceShare = (concurrency: number): number => Math.max(1, Math.ceil(concurrency * 0.75));
