/** A call as people read it: values too long to show are left out, and the call says so. */
import type { Call, CallStatus } from "@executor/contracts/call";
import type { CallRead } from "@executor/core/store/verbs/reads";
import { MAX_SHOWN_BYTES, parseJson, present, timeOrNull, toTime } from "./json.ts";

export function presentCall(row: CallRead): Call {
  const input = show(row.inputJson, row.inputLength);
  const outcome = row.outcomeJson === null ? null : show(row.outcomeJson, row.outcomeLength);
  const error =
    row.outcomeKind === "error" && outcome?.value ? (outcome.value as { code: string; message: string }) : null;
  return {
    callId: row.callId,
    taskId: row.taskId,
    ordinal: row.ordinal,
    toolPath: row.toolPath,
    input: input.value,
    inputBytes: input.bytes,
    status: row.status as CallStatus,
    ...(outcome && row.outcomeKind === "result" && { output: outcome.value, outputBytes: outcome.bytes }),
    ...(error && { error: { code: error.code, message: error.message } }),
    truncated: input.isTooLong || outcome?.isTooLong === true,
    sends: row.sends,
    requestedAt: toTime(row.requestedAt),
    ...present({ approvalId: row.approvalId, sentAt: timeOrNull(row.sentAt), finishedAt: timeOrNull(row.finishedAt) }),
  };
}

/** The store gives an empty text for what it keeps in parts. */
function show(json: string, length: number): { value: unknown; bytes: number; isTooLong: boolean } {
  const bytes = json === "" ? length : Buffer.byteLength(json);
  const isTooLong = json === "" || bytes > MAX_SHOWN_BYTES;
  return { value: isTooLong ? undefined : parseJson(json), bytes, isTooLong };
}
