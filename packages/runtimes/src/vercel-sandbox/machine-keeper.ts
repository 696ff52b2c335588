/**
 * Where VMs are when no guest is in them: kept for a moment after a run paused, for a person may answer at once, and then
 * deleted. A kept VM is given to a later run of the same task only, which replays its guest in it; nothing of the old guest counts.
 */
import type { Machine } from "./machine.ts";

const DELETE_TRIES = 3;
/** A VM whose request was given up may be made a moment later: it is looked for again after these. */
const LOOK_AGAIN_MS = [1_000, 2_000, 4_000];
const CLOSE_WITHIN_MS = 8_000;

export class MachineKeeper {
  readonly #graceMs: number;
  readonly #log: (message: string) => void;
  readonly #kept = new Map<string, { machine: Machine; timer: ReturnType<typeof setTimeout> }>();
  readonly #leaving = new Set<Promise<void>>();
  #isClosed = false;

  constructor(graceMs: number, log: (message: string) => void) {
    this.#graceMs = graceMs;
    this.#log = log;
  }

  keep(taskId: string, machine: Machine): void {
    if (this.#isClosed || this.#kept.has(taskId)) return this.remove(machine);
    const timer = setTimeout(() => {
      this.#kept.delete(taskId);
      this.remove(machine);
    }, this.#graceMs);
    this.#kept.set(taskId, { machine, timer });
  }

  take(taskId: string): Machine | null {
    const kept = this.#kept.get(taskId);
    if (!kept) return null;
    clearTimeout(kept.timer);
    this.#kept.delete(taskId);
    return kept.machine;
  }

  /** In the background: no run waits for it. */
  remove(machine: Pick<Machine, "name" | "delete">): void {
    this.#leave(machine, []);
  }

  /** One that may be there, or not yet. */
  removeIfMade(machine: Pick<Machine, "name" | "delete">): void {
    this.#leave(machine, [...LOOK_AGAIN_MS]);
  }

  #leave(machine: Pick<Machine, "name" | "delete">, waitsMs: number[]): void {
    const gone = this.#delete(machine, waitsMs).finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  /** What cannot be deleted in time ends by its own timeout. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const taskId of this.#kept.keys()) {
      const machine = this.take(taskId);
      if (machine) this.remove(machine);
    }
    const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_WITHIN_MS).unref());
    await Promise.race([Promise.all(this.#leaving), late]);
  }

  async #delete(machine: Pick<Machine, "name" | "delete">, waitsMs: number[]): Promise<void> {
    for (let tries = 1; ;) {
      try {
        return await machine.delete();
      } catch (error) {
        const isGone = (error as { response?: { status?: number } } | null)?.response?.status === 404;
        const waitMs = isGone ? waitsMs.shift() : 500 * tries;
        if (waitMs === undefined) return;
        if (!isGone && tries++ === DELETE_TRIES)
          return this.#log(`the VM ${machine.name} could not be deleted and ends by its timeout: ${String(error)}`);
        await Bun.sleep(waitMs);
      }
    }
  }
}
