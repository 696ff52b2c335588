/** Tasks, interactions and events as the server would send them, checked against contracts so that tests cannot drift from it. */
import { TaskEvent } from "@executor/contracts/event";
import { Interaction } from "@executor/contracts/interaction";
import { Task } from "@executor/contracts/task";

const at = "2026-11-18T08:00:00.000Z";

export function sampleTask(changes: Partial<Task> = {}): Task {
  return Task.parse({
    taskId: "task_1",
    workspaceId: "ws_1",
    actorId: "actor_1",
    clientId: "client_1",
    runtimeId: "in-process",
    status: "queued",
    createdAt: at,
    metadata: {},
    code: "return 1",
    pending: [],
    counts: { calls: 0, pending: 0, runs: 1, outputLines: 0 },
    runMs: 1,
    waitMs: 0,
    timeoutMs: 300_000,
    ...changes,
  });
}

export function sampleInteraction(interactionId: string): Interaction {
  return Interaction.parse({
    interactionId,
    kind: "approval",
    taskId: "task_1",
    status: "pending",
    title: "github.issues.create",
    detail: "asks",
    createdAt: at,
    expiresAt: at,
  });
}

export function sampleEvent(sequence: number, type: TaskEvent["type"], data: Record<string, unknown> = {}): TaskEvent {
  return TaskEvent.parse({ sequence, workspaceSequence: sequence + 100, taskId: "task_1", type, at, data });
}

export const caller = {
  workspaceId: "ws_1",
  actorId: "actor_1",
  clientId: "client_1",
  role: "admin",
  installationAdmin: false,
};

export function sseOf(event: TaskEvent, id = event.sequence): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
