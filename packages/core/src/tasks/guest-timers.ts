/** The guest's timers, on the run clock: which is due next, and in what order those due at once fire (as they were set). */

export class GuestTimers {
  readonly #dueMs = new Map<number, number>();

  set(id: number, dueMs: number): void {
    this.#dueMs.set(id, dueMs);
  }

  clear(id: number): void {
    this.#dueMs.delete(id);
  }

  next(): { id: number; dueMs: number } | null {
    let next: { id: number; dueMs: number } | null = null;
    for (const [id, dueMs] of this.#dueMs) if (!next || dueMs < next.dueMs) next = { id, dueMs };
    return next;
  }
}
