/**
 * Writes a batch of progress entries: calls, timers, interactions, output lines, and the events that tell of them.
 * Rows touched by several entries of the batch are written once. The caller has checked the fence.
 */
import type { TaskLog } from "./task-log.ts";
import { storeText } from "./large-text.ts";
import type { ProgressEntry } from "./progress.ts";
import type { CallRow, Patch, Row, TaskRow } from "./tables.ts";
import type { Tx } from "./tx.ts";

export async function applyProgress(
  tx: Tx,
  task: TaskRow,
  entries: readonly ProgressEntry[],
  log: TaskLog,
): Promise<Patch<"tasks">> {
  const calls = new CallBuffer(tx);
  const counts = {
    outputLines: task.outputLines,
    callCount: task.callCount,
    pendingCount: task.pendingCount,
    seenDeliveries: task.seenDeliveries,
  };
  for (const entry of entries) {
    switch (entry.kind) {
      case "output":
        counts.outputLines++;
        log.event(`task.${entry.stream}`, entry.at, { text: entry.text });
        break;
      case "call":
        counts.callCount++;
        calls.add(task.taskId, entry);
        break;
      case "sent":
        await recordSent(tx, calls, entry, log);
        break;
      case "answered":
        await calls.get(entry.callId);
        calls.patch(entry.callId, { status: "sent" });
        break;
      case "done":
        await recordDone(tx, task, calls, entry, log);
        break;
      case "timer":
        await tx.insert("timers", {
          timerKey: `${task.taskId}/${entry.timerId}`,
          taskId: task.taskId,
          timerId: entry.timerId,
          deliverySeq: entry.deliverySeq,
          deliveredAtMs: entry.deliveredAtMs,
          deliveredRunMs: entry.deliveredRunMs,
        });
        break;
      case "seen":
        counts.seenDeliveries = entry.deliveries;
        break;
      case "ask":
        counts.pendingCount++;
        await recordAsk(tx, task, calls, entry, log);
        break;
    }
  }
  await calls.write();
  return counts;
}

type Entry<K extends ProgressEntry["kind"]> = Extract<ProgressEntry, { kind: K }>;

async function recordSent(tx: Tx, calls: CallBuffer, entry: Entry<"sent">, log: TaskLog): Promise<void> {
  const call = await calls.get(entry.callId);
  calls.patch(entry.callId, {
    status: "sent",
    sentAt: entry.at,
    sends: call.sends + 1,
    ...(entry.approvalId && { approvalId: entry.approvalId }),
  });
  if (entry.approvalId) await tx.update("interactions", entry.approvalId, { usedAt: entry.at });
  log.event("tool.call.started", entry.at, {
    callId: entry.callId,
    toolPath: call.toolPath,
    inputDigest: call.inputDigest,
  });
}

async function recordDone(tx: Tx, task: TaskRow, calls: CallBuffer, entry: Entry<"done">, log: TaskLog): Promise<void> {
  const call = await calls.get(entry.callId);
  calls.patch(entry.callId, {
    status: entry.status,
    finishedAt: entry.at,
    deliverySeq: entry.deliverySeq,
    deliveredAtMs: entry.deliveredAtMs,
    deliveredRunMs: entry.deliveredRunMs,
    outcomeKind: entry.outcomeKind,
    outcomeJson: await storeText(tx, `${entry.callId}/outcome`, entry.outcomeJson),
  });
  const tells = {
    callId: entry.callId,
    toolPath: call.toolPath,
    ...(entry.outcomeKind === "error" && { error: errorHead(entry.outcomeJson) }),
  };
  log.event(`tool.call.${entry.status}`, entry.at, tells);
  log.audit(entry.at, `call.${entry.status}`, entry.callId, {
    ...tells,
    taskId: task.taskId,
    inputDigest: call.inputDigest,
    why: entry.why,
    approvalId: call.approvalId,
  });
}

async function recordAsk(
  tx: Tx,
  task: TaskRow,
  calls: CallBuffer,
  { interaction }: Entry<"ask">,
  log: TaskLog,
): Promise<void> {
  const { mayHaveRun, inputJson, putOff, ...rest } = interaction;
  await tx.insert("interactions", {
    ...rest,
    inputJson: await storeText(tx, `${interaction.interactionId}/input`, inputJson),
    workspaceId: task.workspaceId,
    taskId: task.taskId,
    status: "pending",
    mayHaveRun: mayHaveRun ? 1 : 0,
    resolvedAt: null,
    reviewerId: null,
    reason: null,
    answerJson: null,
    usedAt: null,
  });
  const call = await calls.get(interaction.callId);
  if (putOff?.approvalId) await tx.update("interactions", putOff.approvalId, { usedAt: null });
  calls.patch(interaction.callId, {
    status: "waiting",
    ...(putOff && { sends: Math.max(0, call.sends - 1), sentAt: null }),
    ...(interaction.kind === "approval" && { approvalId: interaction.interactionId }),
  });
  const noun = interaction.kind === "approval" ? "approval" : "interaction";
  const tells = {
    interactionId: interaction.interactionId,
    kind: interaction.kind,
    callId: interaction.callId,
    toolPath: interaction.toolPath,
    title: interaction.title,
  };
  log.event(`${noun}.requested`, interaction.createdAt, tells);
  log.audit(interaction.createdAt, `${noun}.requested`, interaction.interactionId, {
    ...tells,
    taskId: task.taskId,
    inputDigest: interaction.inputDigest,
    why: interaction.why,
  });
}

/** Enough of an error for an event; the whole of it stays in the journal. */
function errorHead(outcomeJson: string): { code: string; message: string } {
  const error = JSON.parse(outcomeJson) as { code: string; message: string };
  return { code: error.code, message: error.message.slice(0, 500) };
}

/** The call rows of one batch: new ones are inserted at the end with everything they gathered, old ones patched once. */
class CallBuffer {
  readonly #tx: Tx;
  readonly #fresh = new Map<string, { row: CallRow; inputJson: string }>();
  readonly #patches = new Map<string, Patch<"calls">>();
  readonly #known = new Map<string, CallRow>();

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  add(taskId: string, entry: Entry<"call">): void {
    const { kind: _, at, inputJson, ...rest } = entry;
    const row: CallRow = {
      ...rest,
      taskId,
      inputJson: "",
      status: "requested",
      sends: 0,
      requestedAt: at,
      sentAt: null,
      finishedAt: null,
      approvalId: null,
      deliverySeq: null,
      deliveredAtMs: null,
      deliveredRunMs: null,
      outcomeKind: null,
      outcomeJson: null,
    };
    this.#fresh.set(entry.callId, { row, inputJson });
  }

  async get(callId: string): Promise<CallRow> {
    const known = this.#fresh.get(callId)?.row ?? this.#known.get(callId);
    if (known) return known;
    const row = (await this.#tx.get("calls", callId)) as Row<"calls"> | null;
    if (!row) throw new Error(`call ${callId} is not in the journal`);
    this.#known.set(callId, row);
    return row;
  }

  patch(callId: string, patch: Patch<"calls">): void {
    const fresh = this.#fresh.get(callId);
    if (fresh) Object.assign(fresh.row, patch);
    else this.#patches.set(callId, { ...this.#patches.get(callId), ...patch });
    const known = this.#known.get(callId);
    if (known) Object.assign(known, patch);
  }

  async write(): Promise<void> {
    for (const { row, inputJson } of this.#fresh.values()) {
      await this.#tx.insert("calls", {
        ...row,
        inputJson: await storeText(this.#tx, `${row.callId}/input`, inputJson),
      });
    }
    for (const [callId, patch] of this.#patches) await this.#tx.update("calls", callId, patch);
  }
}
