/** What this worker runs now: one entry a claim, with the way to stop it. */

export interface RunningTask {
  taskId: string;
  workspaceId: string;
  attempt: number;
  controller: AbortController;
  ended: Promise<void>;
}

export class RunningTasks {
  readonly #tasks = new Map<string, RunningTask>();

  get size(): number {
    return this.#tasks.size;
  }

  add(task: RunningTask): void {
    this.#tasks.set(task.taskId, task);
  }

  remove(task: RunningTask): void {
    if (this.#tasks.get(task.taskId) === task) this.#tasks.delete(task.taskId);
  }

  has(taskId: string): boolean {
    return this.#tasks.has(taskId);
  }

  list(): RunningTask[] {
    return [...this.#tasks.values()];
  }

  stop(taskId: string, reason: string): void {
    this.#tasks.get(taskId)?.controller.abort(reason);
  }

  countByWorkspace(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { workspaceId } of this.#tasks.values()) counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + 1);
    return counts;
  }
}
