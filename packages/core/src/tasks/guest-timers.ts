/**
 * The guest's timers, on the run clock: those that are due, in the order of their time, and of setting where that is the
 * same. A heap, because a guest may set very many; cleared ones are dropped when they come up.
 */

interface Timer {
  id: number;
  dueMs: number;
}

export class GuestTimers {
  readonly #heap: Timer[] = [];
  readonly #armed = new Set<number>();

  set(id: number, dueMs: number): void {
    this.#armed.add(id);
    this.#heap.push({ id, dueMs });
    this.#rise(this.#heap.length - 1);
  }

  clear(id: number): void {
    this.#armed.delete(id);
  }

  /** When the next one is due; null when none is armed. */
  nextDueMs(): number | null {
    this.#dropCleared();
    return this.#heap[0]?.dueMs ?? null;
  }

  /** Takes out all that are due, in order. */
  takeDue(nowMs: number): number[] {
    const due: number[] = [];
    for (let next = this.nextDueMs(); next !== null && next <= nowMs; next = this.nextDueMs()) {
      const { id } = this.#heap[0] as Timer;
      this.#armed.delete(id);
      due.push(id);
    }
    return due;
  }

  #dropCleared(): void {
    while (this.#heap[0] && !this.#armed.has(this.#heap[0].id)) this.#removeFirst();
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink(0);
    }
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#isBefore(child, first)) first = child;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a] as Timer, this.#heap[b] as Timer];
    return x.dueMs < y.dueMs || (x.dueMs === y.dueMs && x.id < y.id);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b] as Timer, this.#heap[a] as Timer];
  }
}
