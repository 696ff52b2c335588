/** How a task ends, told from how its guest ended. */
import type { ErrorCode } from "@executor/contracts/error";
import { denialCodes } from "../calls/gate-call.ts";
import type { GuestEnd } from "../ports/runtime.ts";
import type { TaskEnd } from "../store/verbs/end-task.ts";
import type { Run } from "./open-run.ts";

export function endOf({ deps, journal, task }: Run, end: GuestEnd): TaskEnd {
  if (end.kind === "returned") return { status: "completed", resultJson: end.resultJson, error: null };
  if (end.kind === "stopped") return failedBy(end.code, end.message);
  const call = end.callId === undefined ? undefined : journal.call(end.callId);
  const line = end.line === undefined ? undefined : deps.mapLine(task.code, task.script, end.line);
  const error = {
    code: call?.errorCode ?? end.code ?? "task.failed",
    message: call || end.code ? end.message : `${end.name}: ${end.message}`,
    ...(line !== undefined && { line }),
    ...(call && { toolPath: call.toolPath }),
  };
  return { status: denialCodes.has(error.code) ? "denied" : "failed", resultJson: null, error };
}

export const failedBy = (code: ErrorCode, message: string): TaskEnd => ({
  status: "failed",
  resultJson: null,
  error: { code, message },
});

export function timedOut(timeoutMs: number): TaskEnd {
  const message = `The task ran for ${timeoutMs} ms, its limit (waiting for people does not count). Give it a larger timeoutMs, or less to do.`;
  return { status: "timed_out", resultJson: null, error: { code: "task.timed_out", message } };
}
