/**
 * Collects the events of one verb and writes them with their numbers: gapless within the task and within the workspace.
 * The caller adds `eventSeq` to the task's patch (EventBatch.lastSeq) so that the task row is written once.
 */
import type { EventType } from "@executor/contracts/event";
import type { Row, TaskRow } from "./tables.ts";
import type { Tx } from "./tx.ts";

export class EventBatch {
  readonly #task: Pick<TaskRow, "taskId" | "workspaceId" | "eventSeq">;
  readonly #pending: { type: EventType; dataJson: string; at: number }[] = [];

  constructor(task: Pick<TaskRow, "taskId" | "workspaceId" | "eventSeq">) {
    this.#task = task;
  }

  add(type: EventType, at: number, data: Record<string, unknown> = {}): void {
    this.#pending.push({ type, dataJson: JSON.stringify(data), at });
  }

  /** What `tasks.eventSeq` must be once `write` is done. */
  get lastSeq(): number {
    return this.#task.eventSeq + this.#pending.length;
  }

  async write(tx: Tx): Promise<void> {
    if (this.#pending.length === 0) return;
    const { taskId, workspaceId, eventSeq } = this.#task;
    const workspace = (await tx.get("workspaces", workspaceId)) as Row<"workspaces">;
    for (const [index, event] of this.#pending.entries()) {
      const seq = eventSeq + index + 1;
      await tx.insert("events", {
        eventKey: `${taskId}/${seq}`,
        workspaceId,
        taskId,
        seq,
        workspaceSeq: workspace.eventSeq + index + 1,
        ...event,
      });
    }
    await tx.update("workspaces", workspaceId, { eventSeq: workspace.eventSeq + this.#pending.length });
  }
}
