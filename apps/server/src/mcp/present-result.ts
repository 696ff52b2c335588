/**
 * A task as the answer of a tool: a short text, and the same as data. Both are bounded; what does not fit is left behind a
 * handle that `resume` takes. Says what it waits for and where a person decides.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { isEnded, type Task } from "@executor/contracts/task";
import type { TypecheckResult } from "@executor/contracts/typecheck";
import type { Bearer } from "../http/authenticate.ts";
import { presentTask } from "../present/present-task.ts";
import { consoleLink } from "./console-link.ts";
import type { McpParts } from "./mcp-parts.ts";
import { shorten, showText } from "./show-text.ts";

const MAX_RESULT_CHARS = 20_000;
const MAX_RESULT_TEXT = 8_000;
const MAX_LOG_LINES = 100;
const MAX_LOG_CHARS = 4_000;
const MAX_CALLS = 30;
const MAX_PENDING = 10;
/** Of a result that is read in parts. */
export const PART_CHARS = 20_000;

export interface Shown {
  task: Task;
  /** What was checked before it ran; null when that was another call. */
  typecheck: TypecheckResult | null;
}

export async function presentResult(
  parts: McpParts,
  caller: Bearer,
  { task, typecheck }: Shown,
): Promise<CallToolResult> {
  const [logs, calls] = await Promise.all([readLogs(parts, task), readCalls(parts, caller, task)]);
  const pending = task.pending.slice(0, MAX_PENDING).map((each) => ({
    interactionId: each.interactionId,
    kind: each.kind,
    title: showText(shorten(each.title, 300)),
    ...(each.toolPath !== undefined && { toolPath: each.toolPath }),
    url: consoleLink(parts.consoleBase, each.interactionId),
  }));
  const unchecked = typecheck !== null && (typecheck.checked === "syntax" || typecheck.notes.length > 0);
  const structured = {
    taskId: task.taskId,
    status: task.status,
    ...boundResult(task),
    ...(task.error && { error: task.error }),
    ...(pending.length > 0 && { waitingFor: pending }),
    ...(logs.lines.length > 0 && { logs }),
    ...(calls.items.length > 0 && { calls: calls.items, callCount: task.counts.calls }),
    ...(unchecked && { typecheck: { checked: typecheck.checked, notes: typecheck.notes } }),
    next: nextStep(task),
  };
  return {
    content: [{ type: "text", text: writeText(task, structured) }],
    structuredContent: structured,
    ...(isFailure(task) && { isError: true }),
  };
}

export async function readForCaller({ deps }: McpParts, caller: Bearer, taskId: string): Promise<Task | null> {
  const read = await deps.store.readTask({ taskId, workspaceId: caller.workspaceId });
  return read && presentTask(read, deps.host.now());
}

const isFailure = ({ status }: Task): boolean => isEnded(status) && status !== "completed";

/** Small results as they are; of a large one the beginning, and how to read on. */
function boundResult(task: Task): Record<string, unknown> {
  if (task.result === undefined) return {};
  const json = JSON.stringify(task.result);
  if (json.length <= MAX_RESULT_CHARS) return { result: task.result };
  return {
    resultPreview: json.slice(0, MAX_RESULT_TEXT),
    more: { taskId: task.taskId, offset: MAX_RESULT_TEXT, totalChars: json.length },
  };
}

function nextStep({ status, taskId }: Task): string {
  if (status === "waiting")
    return `A person must act first. Show them the link, then call resume with taskId "${taskId}". Nothing you send can decide it.`;
  return isEnded(status) ? "Nothing: the task has ended." : `Still ${status}. Call resume with taskId "${taskId}".`;
}

interface Structured {
  resultPreview?: unknown;
  more?: unknown;
  waitingFor?: { kind: string; title: string; url: string }[];
  logs?: { lines: string[]; left: number };
  calls?: { toolPath: string; status: string }[];
  typecheck?: { notes: string[] };
  next: string;
}

function writeText(task: Task, shown: Structured): string {
  const lines = [`Task ${task.taskId}: ${task.status}`];
  if (task.result !== undefined) {
    const json = JSON.stringify(task.result);
    lines.push(`Result: ${json.slice(0, MAX_RESULT_TEXT)}`);
    if (json.length > MAX_RESULT_TEXT)
      lines.push(
        `(${json.length - MAX_RESULT_TEXT} more characters: resume {"taskId": "${task.taskId}", "offset": ${MAX_RESULT_TEXT}}; better: return less)`,
      );
  }
  if (task.error) {
    const where = task.error.line === undefined ? "" : ` (line ${task.error.line})`;
    lines.push(`Error ${task.error.code}${where}: ${shorten(task.error.message, 2_000)}`);
  }
  for (const { kind, title, url } of shown.waitingFor ?? []) lines.push(`Waits for ${kind}: ${title}`, `  ${url}`);
  if (shown.logs) lines.push("Logs:", ...shown.logs.lines.map((line) => `  ${line}`));
  if (shown.logs && shown.logs.left > 0) lines.push(`  (${shown.logs.left} earlier lines left out)`);
  if (shown.calls) lines.push(`Calls: ${shown.calls.map((each) => `${each.toolPath} ${each.status}`).join(", ")}`);
  for (const each of shown.typecheck?.notes ?? []) lines.push(`Not typechecked: ${each}`);
  if (!isEnded(task.status)) lines.push(shown.next);
  return lines.join("\n");
}

/** The last lines: what went wrong is said at the end. */
async function readLogs({ deps: { store } }: McpParts, task: Task): Promise<{ lines: string[]; left: number }> {
  const { taskId } = task;
  if (task.counts.outputLines === 0) return { lines: [], left: 0 };
  const status = await store.readTaskStatus({ taskId });
  // Other events lie between the lines; this many events hold enough of them.
  const afterSeq = Math.max(0, (status?.eventSeq ?? 0) - 4 * MAX_LOG_LINES);
  const events = await store.readTaskEvents({ taskId, afterSeq, limit: 4 * MAX_LOG_LINES });
  const lines = events
    .filter(({ type }) => type === "task.stdout" || type === "task.stderr")
    .map(({ dataJson }) => showText(String((JSON.parse(dataJson) as { text?: unknown }).text ?? "")));
  const kept: string[] = [];
  let length = 0;
  for (const line of lines.toReversed()) {
    const shown = shorten(line, 1_000);
    length += shown.length;
    if (kept.length >= MAX_LOG_LINES || length > MAX_LOG_CHARS) break;
    kept.unshift(shown);
  }
  return { lines: kept, left: Math.max(0, task.counts.outputLines - kept.length) };
}

async function readCalls({ deps: { store } }: McpParts, { workspaceId }: Bearer, task: Task) {
  if (task.counts.calls === 0) return { items: [] };
  const afterOrdinal = Math.max(-1, task.counts.calls - 1 - MAX_CALLS);
  const calls = await store.listCalls({ taskId: task.taskId, workspaceId, afterOrdinal, limit: MAX_CALLS });
  return { items: (calls ?? []).map(({ toolPath, status }) => ({ toolPath, status })) };
}

/** A part of a large result, as text. */
export function presentPart(task: Task, offset: number): CallToolResult {
  const json = task.result === undefined ? "" : JSON.stringify(task.result);
  const text = json.slice(offset, offset + PART_CHARS);
  const end = offset + text.length;
  const more = end < json.length ? { more: { taskId: task.taskId, offset: end, totalChars: json.length } } : {};
  return {
    content: [{ type: "text", text }],
    structuredContent: { taskId: task.taskId, status: task.status, offset, totalChars: json.length, ...more },
  };
}

export function presentRefusal(code: string, message: string, data?: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: "text", text: message }],
    structuredContent: { error: { code, message, ...(data && { data }) } },
    isError: true,
  };
}
