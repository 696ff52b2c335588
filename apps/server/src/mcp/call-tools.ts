/**
 * What `execute` and `resume` do, for both revisions: submit, follow for as long as a client waits, ask the person if that can be
 * done here, and tell how it stands. How a question travels is the revision's own business (`Turn`).
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { AppError } from "@executor/contracts/error";
import { isEnded, type Task, type TaskStatus } from "@executor/contracts/task";
import type { TypecheckResult } from "@executor/contracts/typecheck";
import type { InteractionRow } from "@executor/core/store/tables";
import type { z } from "zod";
import { parseWith } from "../http/parse.ts";
import { type SubmittedTask, submitTask } from "../tasks/submit-task.ts";
import { consoleLink } from "./console-link.ts";
import { askAbout, type Question } from "./elicitation.ts";
import type { McpCall, McpParts } from "./mcp-parts.ts";
import { presentPart, presentRefusal, presentResult, readForCaller } from "./present-result.ts";
import { ExecuteInput, ResumeInput, toolNames } from "./tool-list.ts";
import { watchTask } from "./watch-task.ts";

export interface ToAsk {
  row: InteractionRow;
  question: Question;
}

/** What came of asking. `left`: the client carries the questions away, and comes back with a request of its own. */
export type TurnEnd<R> = { kind: "left"; result: R } | { kind: "waited" };

/** How this revision asks a person. */
export interface Turn<R> {
  /** Asked before, in this call or those it goes on from: nobody is asked twice. */
  wasAsked(interactionId: string): boolean;
  /** A person may still answer what was asked. */
  isOpen(): boolean;
  /** Comes back when something changed, at `untilMs`, or when nothing is open any more. */
  ask(taskId: string, questions: ToAsk[], untilMs: number): Promise<TurnEnd<R>>;
  /** The task that this request goes on with; null: it is a new one. */
  taskId: string | null;
  /** A person was sent somewhere in an earlier round, and may be at it now. */
  isPatient: boolean;
}

export async function callTool<R>(
  parts: McpParts,
  call: McpCall,
  turn: Turn<R>,
  { name, input }: { name: string; input: unknown },
): Promise<CallToolResult | R> {
  try {
    if (isOneOf(toolNames.execute, name)) return await execute(parts, call, turn, parseInput(ExecuteInput, input));
    if (isOneOf(toolNames.resume, name)) return await resume(parts, call, turn, parseInput(ResumeInput, input));
    return presentRefusal("tool.not_found", `There is no tool ${name.slice(0, 100)}. There are: execute, resume.`);
  } catch (error) {
    if (error instanceof AppError && error.code !== "internal.error" && error.code !== "store.unavailable")
      return presentRefusal(error.code, error.detail, error.data);
    parts.deps.log.error("mcp.call_failed", { error: error instanceof Error ? error : String(error) });
    return presentRefusal("internal.error", "Something went wrong on our side. Try again in a moment.");
  }
}

async function execute<R>(
  parts: McpParts,
  call: McpCall,
  turn: Turn<R>,
  input: ExecuteInput,
): Promise<CallToolResult | R> {
  const untilMs = parts.deps.host.monotonicMs() + parts.deps.env.mcp.callWaitMs;
  if (turn.taskId !== null)
    return await follow(parts, call, turn, turn.taskId, { untilMs, typecheck: null, isPatient: turn.isPatient });
  const { taskId, typecheck } = await submit(parts, call, input);
  call.onTask(taskId);
  return await follow(parts, call, turn, taskId, { untilMs, typecheck });
}

/** A request that was sent before has a task already; but ids of requests may start anew with a client. */
async function submit(
  { deps }: McpParts,
  { caller, requestKey }: McpCall,
  input: ExecuteInput,
): Promise<SubmittedTask> {
  const task = { ...input, workspaceId: caller.workspaceId, typecheck: true };
  const isTaken =
    requestKey !== null &&
    (await deps.store.findTask({
      workspaceId: caller.workspaceId,
      actorId: caller.actorId,
      idempotencyKey: requestKey,
    })) !== null;
  const idempotencyKey = requestKey !== null && !isTaken ? { idempotencyKey: requestKey } : {};
  return await submitTask(deps, caller, { ...task, ...idempotencyKey });
}

async function resume<R>(
  parts: McpParts,
  call: McpCall,
  turn: Turn<R>,
  { taskId, offset }: ResumeInput,
): Promise<CallToolResult | R> {
  const task = await readForCaller(parts, call.caller, taskId);
  if (!task) throw noTask(taskId);
  if (offset !== undefined && isEnded(task.status)) return presentPart(task, offset);
  const untilMs = parts.deps.host.monotonicMs() + parts.deps.env.mcp.callWaitMs;
  return await follow(parts, call, turn, taskId, { untilMs, typecheck: null, isPatient: true });
}

interface Following {
  untilMs: number;
  typecheck: TypecheckResult | null;
  /** Waits for people too, not only for the code. */
  isPatient?: boolean;
}

async function follow<R>(
  parts: McpParts,
  call: McpCall,
  turn: Turn<R>,
  taskId: string,
  { untilMs, typecheck, isPatient = false }: Following,
): Promise<CallToolResult | R> {
  const { host } = parts.deps;
  for (;;) {
    await watchTask(parts, call, taskId, { untilMs, isEnough: ({ status }) => isSettled(status) });
    const task = await readForCaller(parts, call.caller, taskId);
    if (!task) throw noTask(taskId);
    const isOver = task.status !== "waiting" || host.monotonicMs() >= untilMs || call.signal.aborted;
    if (isOver || parts.deps.shutdown.aborted) return await presentResult(parts, call.caller, { task, typecheck });
    const questions = await findQuestions(parts, call, turn, task);
    if (questions.length > 0 || turn.isOpen()) {
      const end = await turn.ask(taskId, questions, untilMs);
      if (end.kind === "left") return end.result;
      isPatient ||= questions.some(({ question }) => question.mode === "url");
    } else if (isPatient) {
      await watchTask(parts, call, taskId, { untilMs, isEnough: ({ status }) => status !== "waiting" });
    } else {
      return await presentResult(parts, call.caller, { task, typecheck });
    }
  }
}

/** Only for one's own task; a form only where the bearer stands for a person. */
async function findQuestions<R>(parts: McpParts, call: McpCall, turn: Turn<R>, task: Task): Promise<ToAsk[]> {
  const { caller, canShow } = call;
  if (task.actorId !== caller.actorId) return [];
  const can = { form: canShow.form && caller.mayElicit, url: canShow.url };
  if (!can.form && !can.url) return [];
  const questions: ToAsk[] = [];
  for (const { interactionId } of task.pending) {
    if (turn.wasAsked(interactionId)) continue;
    const row = await parts.deps.store.readInteraction({ interactionId, workspaceId: caller.workspaceId });
    const question =
      row?.status === "pending" ? askAbout(row, can, consoleLink(parts.consoleBase, interactionId)) : null;
    if (row && question) questions.push({ row, question });
  }
  return questions;
}

const isSettled = (status: string): boolean => status === "waiting" || isEnded(status as TaskStatus);
const noTask = (taskId: string): AppError =>
  new AppError("task.not_found", `There is no task ${taskId} in this workspace.`);
const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name);

function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  return parseWith(schema, input ?? {}, "arguments");
}
