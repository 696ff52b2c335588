/**
 * Collects what one verb tells of a task, events and audit entries, and writes it with its numbers: gapless within the
 * task and within the workspace. One read and one write of the workspace's row, however much there is to tell.
 * The caller adds `eventSeq` to the task's patch (`lastSeq`) so that the task row is written once, too.
 */
import type { EventType } from "@executor/contracts/event";
import { auditRow, type AuditWho } from "./append-audit.ts";
import type { Row, TaskRow } from "./tables.ts";
import type { Tx } from "./tx.ts";

type Told = Pick<TaskRow, "taskId" | "workspaceId" | "actorId" | "clientId" | "eventSeq">;

export class TaskLog {
  readonly #task: Told;
  readonly #events: { type: EventType; dataJson: string; at: number }[] = [];
  readonly #audit: { who: AuditWho; at: number; action: string; subject: string; detail: Record<string, unknown> }[] =
    [];

  constructor(task: Told) {
    this.#task = task;
  }

  event(type: EventType, at: number, data: Record<string, unknown> = {}): void {
    this.#events.push({ type, dataJson: JSON.stringify(data), at });
  }

  /** `by` is left out when the task's own actor did it. */
  audit(
    at: number,
    action: string,
    subject: string,
    detail: Record<string, unknown> = {},
    by: { actorId: string; clientId: string } = this.#task,
  ): void {
    const who = { workspaceId: this.#task.workspaceId, actorId: by.actorId, clientId: by.clientId };
    this.#audit.push({ who, at, action, subject, detail });
  }

  /** What `tasks.eventSeq` must be once `write` is done. */
  get lastSeq(): number {
    return this.#task.eventSeq + this.#events.length;
  }

  async write(tx: Tx): Promise<void> {
    if (this.#events.length === 0 && this.#audit.length === 0) return;
    const { taskId, workspaceId, eventSeq } = this.#task;
    const workspace = (await tx.get("workspaces", workspaceId)) as Row<"workspaces">;
    let [seq, workspaceSeq, auditSeq] = [eventSeq, workspace.eventSeq, workspace.auditSeq];
    for (const event of this.#events) {
      seq++;
      workspaceSeq++;
      await tx.insert("events", { eventKey: `${taskId}/${seq}`, workspaceId, taskId, seq, workspaceSeq, ...event });
    }
    for (const { who, at, action, subject, detail } of this.#audit)
      await tx.insert("audit", auditRow(who, ++auditSeq, at, action, subject, detail));
    await tx.update("workspaces", workspaceId, { eventSeq: workspaceSeq, auditSeq });
  }
}
