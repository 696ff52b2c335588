/** Reads of tasks, calls, interactions, events and audit. Each is bounded, and each asks for the workspace it is for. */
import { isChunked, loadText, textLength } from "../large-text.ts";
import type { CallRow, InteractionRow, Row, TaskRow } from "../tables.ts";
import type { Tx } from "../tx.ts";
import { readTaskInteractions } from "./interactions.ts";

export interface TaskRead {
  task: TaskRow;
  pending: InteractionRow[];
}

export async function readTask(tx: Tx, args: { taskId: string; workspaceId: string }): Promise<TaskRead | null> {
  const task = await tx.get("tasks", args.taskId);
  if (!task || task.workspaceId !== args.workspaceId) return null;
  return await wholeTask(tx, task);
}

/** Just enough to see that something changed. */
export async function readTaskStatus(
  tx: Tx,
  args: { taskId: string },
): Promise<{ workspaceId: string; status: string; eventSeq: number; attempt: number } | null> {
  const task = await tx.get("tasks", args.taskId);
  return task && { workspaceId: task.workspaceId, status: task.status, eventSeq: task.eventSeq, attempt: task.attempt };
}

/** Newest first; `before` is the `createdAt` (and taskId) of the last one seen. */
export async function listTasks(
  tx: Tx,
  args: {
    workspaceId: string;
    status: string | null;
    actorId: string | null;
    before: { createdAt: number; taskId: string } | null;
    limit: number;
  },
): Promise<TaskRead[]> {
  const at = args.before ? { before: args.before.createdAt + 1 } : {};
  const where =
    args.status !== null && args.actorId !== null
      ? ({ index: "byActorStatus", eq: [args.workspaceId, args.actorId, args.status] } as const)
      : args.status !== null
        ? ({ index: "byWorkspaceStatus", eq: [args.workspaceId, args.status] } as const)
        : args.actorId !== null
          ? ({ index: "byWorkspaceActor", eq: [args.workspaceId, args.actorId] } as const)
          : ({ index: "byWorkspace", eq: [args.workspaceId] } as const);
  const found: TaskRead[] = [];
  // Several tasks may share a millisecond: read on until those already shown are behind us.
  for (let limit = args.limit + 50; ; limit *= 4) {
    const rows = await tx.find("tasks", { ...where, ...at, order: "desc", limit });
    const sorted = rows.toSorted((a, b) => b.createdAt - a.createdAt || (a.taskId < b.taskId ? 1 : -1));
    const fresh = sorted.filter((task) => isBefore(task, args.before));
    if (fresh.length > args.limit || rows.length < limit || limit > 5_000) {
      for (const task of fresh.slice(0, args.limit)) found.push(await shortTask(tx, task));
      return found;
    }
  }
}

const isBefore = (task: TaskRow, mark: { createdAt: number; taskId: string } | null) =>
  mark === null || task.createdAt < mark.createdAt || (task.createdAt === mark.createdAt && task.taskId < mark.taskId);

async function wholeTask(tx: Tx, task: TaskRow): Promise<TaskRead> {
  const { taskId } = task;
  const code = await loadText(tx, `${taskId}/code`, task.code);
  const resultJson = task.resultJson === null ? null : await loadText(tx, `${taskId}/result`, task.resultJson);
  return { task: { ...task, code, script: "", resultJson }, pending: await pendingOf(tx, task) };
}

/** For lists: long code and long results stay out, or a page of them would not fit anywhere. */
async function shortTask(tx: Tx, task: TaskRow): Promise<TaskRead> {
  const short = (stored: string): string => (isChunked(stored) ? "" : stored);
  return {
    task: {
      ...task,
      code: short(task.code),
      script: "",
      resultJson: task.resultJson === null ? null : short(task.resultJson) || null,
    },
    pending: await pendingOf(tx, task),
  };
}

async function pendingOf(tx: Tx, task: TaskRow): Promise<InteractionRow[]> {
  if (task.pendingCount === 0) return [];
  return (await readTaskInteractions(tx, task.taskId)).filter((interaction) => interaction.status === "pending");
}

/** Lengths are in UTF-16 units. */
export interface CallRead extends CallRow {
  inputLength: number;
  outcomeLength: number;
}

/** For people: values too long to show stay out, their lengths do not. */
export async function listCalls(
  tx: Tx,
  args: { taskId: string; workspaceId: string; afterOrdinal: number; limit: number },
): Promise<CallRead[] | null> {
  const task = await tx.get("tasks", args.taskId);
  if (!task || task.workspaceId !== args.workspaceId) return null;
  const calls = await tx.find("calls", {
    index: "byTask",
    eq: [args.taskId],
    after: args.afterOrdinal,
    limit: args.limit,
  });
  return calls.map((call) => ({
    ...call,
    inputJson: isChunked(call.inputJson) ? "" : call.inputJson,
    inputLength: textLength(call.inputJson),
    outcomeJson: call.outcomeJson !== null && isChunked(call.outcomeJson) ? "" : call.outcomeJson,
    outcomeLength: textLength(call.outcomeJson ?? ""),
  }));
}

export interface JournalPage {
  calls: Omit<CallRow, "inputJson">[];
  timers: Row<"timers">[];
  /** Where to go on; null on the last page. */
  next: { afterOrdinal: number; afterTimer: number } | null;
}

const AUDIT_PAGE = 500;

/** Bytes of outcomes on one page: Convex reads at most 16 MiB in a query. */
const JOURNAL_PAGE_LENGTH = 2_000_000;

/** What earlier runs did, page by page. Starts after ordinal -1 and timer -1. */
export async function readJournal(
  tx: Tx,
  args: { taskId: string; afterOrdinal: number; afterTimer: number; limit: number },
): Promise<JournalPage> {
  const timers = await tx.find("timers", {
    index: "byTask",
    eq: [args.taskId],
    after: args.afterTimer,
    limit: args.limit,
  });
  const rows = await tx.find("calls", {
    index: "byTask",
    eq: [args.taskId],
    after: args.afterOrdinal,
    limit: args.limit,
  });
  const calls: JournalPage["calls"] = [];
  let length = 0;
  for (const { inputJson: _, ...call } of rows) {
    if (length > JOURNAL_PAGE_LENGTH) break;
    const outcomeJson =
      call.outcomeJson === null ? null : await loadText(tx, `${call.callId}/outcome`, call.outcomeJson);
    length += outcomeJson?.length ?? 0;
    calls.push({ ...call, outcomeJson });
  }
  const isLast = calls.length === rows.length && rows.length < args.limit && timers.length < args.limit;
  return {
    calls,
    timers,
    next: isLast
      ? null
      : {
          afterOrdinal: calls.at(-1)?.ordinal ?? args.afterOrdinal,
          afterTimer: timers.at(-1)?.deliverySeq ?? args.afterTimer,
        },
  };
}

export async function readInteraction(
  tx: Tx,
  args: { interactionId: string; workspaceId: string },
): Promise<InteractionRow | null> {
  const found = await tx.get("interactions", args.interactionId);
  return found && found.workspaceId === args.workspaceId ? await wholeInteraction(tx, found) : null;
}

export interface InteractionRead {
  interaction: InteractionRow;
  task: TaskRow;
}

/** Oldest first. `after` is the `createdAt` and id of the last one seen. */
export async function listInteractions(
  tx: Tx,
  args: {
    workspaceId: string;
    status: string | null;
    approvalsOnly: boolean;
    taskId: string | null;
    after: { createdAt: number; interactionId: string } | null;
    limit: number;
  },
): Promise<InteractionRead[]> {
  const where =
    args.taskId !== null
      ? ({ index: "byTask", eq: [args.taskId] } as const)
      : args.status !== null
        ? ({ index: "byWorkspaceStatus", eq: [args.workspaceId, args.status] } as const)
        : ({ index: "byWorkspace", eq: [args.workspaceId] } as const);
  const from = args.after ? { after: args.after.createdAt - 1 } : {};
  const fits = (row: InteractionRow) =>
    row.workspaceId === args.workspaceId &&
    (args.status === null || row.status === args.status) &&
    (!args.approvalsOnly || row.kind === "approval") &&
    isAfter(row, args.after);
  for (let limit = args.limit + 50; ; limit *= 4) {
    const rows = await tx.find("interactions", { ...where, ...from, limit });
    const fresh = rows
      .filter(fits)
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.interactionId < b.interactionId ? -1 : 1));
    if (fresh.length <= args.limit && rows.length === limit && limit <= 5_000) continue;
    const found: InteractionRead[] = [];
    for (const row of fresh.slice(0, args.limit)) {
      const task = await tx.get("tasks", row.taskId);
      if (task)
        found.push({
          interaction: await wholeInteraction(tx, row),
          task: { ...task, code: "", script: "", resultJson: null },
        });
    }
    return found;
  }
}

const isAfter = (row: InteractionRow, mark: { createdAt: number; interactionId: string } | null) =>
  mark === null ||
  row.createdAt > mark.createdAt ||
  (row.createdAt === mark.createdAt && row.interactionId > mark.interactionId);

async function wholeInteraction(tx: Tx, row: InteractionRow): Promise<InteractionRow> {
  return { ...row, inputJson: await loadText(tx, `${row.interactionId}/input`, row.inputJson) };
}

export async function readTaskEvents(
  tx: Tx,
  args: { taskId: string; afterSeq: number; limit: number },
): Promise<Row<"events">[]> {
  return await tx.find("events", { index: "byTask", eq: [args.taskId], after: args.afterSeq, limit: args.limit });
}

export async function readWorkspaceEvents(
  tx: Tx,
  args: { workspaceId: string; afterSeq: number; limit: number },
): Promise<Row<"events">[]> {
  return await tx.find("events", {
    index: "byWorkspace",
    eq: [args.workspaceId],
    after: args.afterSeq,
    limit: args.limit,
  });
}

export async function readWorkspace(tx: Tx, args: { workspaceId: string }): Promise<Row<"workspaces"> | null> {
  return await tx.get("workspaces", args.workspaceId);
}

/** Newest first. */
export async function listAudit(
  tx: Tx,
  args: {
    workspaceId: string;
    action: string | null;
    actorId: string | null;
    since: number | null;
    beforeSeq: number | null;
    limit: number;
  },
): Promise<Row<"audit">[]> {
  const { workspaceId, action, actorId, since } = args;
  const where =
    action !== null
      ? ({ index: "byAction", eq: [workspaceId, action] } as const)
      : actorId !== null
        ? ({ index: "byActor", eq: [workspaceId, actorId] } as const)
        : ({ index: "byWorkspace", eq: [workspaceId] } as const);
  const found: Row<"audit">[] = [];
  for (let before = args.beforeSeq; ;) {
    const rows = await tx.find("audit", {
      ...where,
      ...(before === null ? {} : { before }),
      order: "desc",
      limit: AUDIT_PAGE,
    });
    for (const row of rows) {
      if (since !== null && row.at < since) return found;
      if (actorId === null || row.actorId === actorId) found.push(row);
      if (found.length === args.limit) return found;
    }
    if (rows.length < AUDIT_PAGE) return found;
    before = rows.at(-1)?.seq ?? null;
  }
}

export async function countWorkers(tx: Tx, args: { seenSince: number }): Promise<number> {
  return (await tx.find("workers", { index: "bySeen", after: args.seenSince, limit: 1_000 })).length;
}
