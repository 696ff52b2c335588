/** What a task waits for, as callers see it: an approval with the exact call it is about, anything else as a question. */
import type { Approval, ApprovalStatus } from "@executor/contracts/approval";
import type { Interaction, InteractionKind, InteractionStatus } from "@executor/contracts/interaction";
import type { InteractionRow, TaskRow } from "@executor/core/store/tables";
import { parseJson, present, timeOrNull, toTime } from "./json.ts";
import { summariseTask } from "./summarise-task.ts";

export function presentApproval(row: InteractionRow, task: TaskRow | null): Approval {
  return {
    approvalId: row.interactionId,
    taskId: row.taskId,
    callId: row.callId,
    toolPath: row.toolPath,
    input: parseJson(row.inputJson),
    inputDigest: row.inputDigest,
    status: row.status as ApprovalStatus,
    why: row.why,
    mayHaveRun: row.mayHaveRun === 1,
    createdAt: toTime(row.createdAt),
    expiresAt: toTime(row.expiresAt),
    ...present({
      line: row.line,
      reason: row.reason,
      reviewerId: row.reviewerId,
      resolvedAt: timeOrNull(row.resolvedAt),
    }),
    ...(task && { task: summariseTask(task) }),
  };
}

export function presentInteraction(row: InteractionRow): Interaction {
  return {
    interactionId: row.interactionId,
    kind: row.kind as InteractionKind,
    taskId: row.taskId,
    callId: row.callId,
    toolPath: row.toolPath,
    status: row.status as InteractionStatus,
    title: row.title,
    detail: row.detail,
    ...(row.answerSchemaJson !== null && { schema: parseJson(row.answerSchemaJson) as Record<string, unknown> }),
    ...(row.answerJson !== null && { answer: parseJson(row.answerJson) }),
    ...present({
      url: row.url ?? (row.kind === "credential" || row.kind === "oauth" ? `/interactions/${row.interactionId}` : null),
      line: row.line,
      reason: row.reason,
      reviewerId: row.reviewerId,
      resolvedAt: timeOrNull(row.resolvedAt),
    }),
    createdAt: toTime(row.createdAt),
    expiresAt: toTime(row.expiresAt),
  };
}
