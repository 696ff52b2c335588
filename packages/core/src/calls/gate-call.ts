/**
 * Decides the fate of one tool call: answer from the journal, run it, refuse it, or stop for a person.
 * Pure: it looks only at its arguments; the run acts on the answer.
 * Must give the same answer on every replay, so it may not look at the time.
 */
import type { ErrorCode } from "@executor/contracts/error";
import type { PolicyVerdict } from "../policy/evaluate-policy.ts";
import type { InteractionRow } from "../store/tables.ts";

export interface GateQuestion {
  toolPath: string;
  inputDigest: string;
  /**
   * What the journal knows of this call. "sent" by an earlier run and without outcome: nobody knows whether it happened.
   * "open": sent too, but it waits in this process for a person's answer, and can go on.
   */
  journal: "new" | "sent" | "open" | "done";
  /** Null: no such tool in today's catalog. */
  tool: { schemaHash: string; repeatable: boolean } | null;
  /** Names to offer when there is no such tool. */
  nearest: readonly string[];
  verdict: PolicyVerdict;
  /** What was asked last in the middle of this call, if anything was. */
  asked: InteractionRow | null;
  /** Approvals of this very call, oldest first. */
  approvals: readonly InteractionRow[];
  /** A person denied the same path and input earlier in this task. */
  deniedTwin: InteractionRow | null;
  pendingApprovals: number;
  maxPendingApprovals: number;
}

export type GateDecision =
  | { kind: "replay" }
  | { kind: "execute"; approvalId: string | null; why: string }
  | { kind: "refuse"; code: ErrorCode; message: string; why: string }
  /** `approvalId` null: ask; else that (or a question of the call) has been asked and nobody has answered. */
  | { kind: "pause"; approvalId: string | null; why: string; mayHaveRun: boolean };

export function gateCall(question: GateQuestion): GateDecision {
  const { tool, verdict } = question;
  if (question.journal === "done") return { kind: "replay" };
  if (!tool) {
    if (question.journal === "sent") return outcomeUnknown(question, "the tool is gone");
    return refuse("tool.not_found", missing(question), "no such tool");
  }

  const unknown = question.journal === "sent" && !tool.repeatable;
  if (verdict.unreadable && !unknown && question.journal !== "open")
    return refuse("call.input_invalid", verdict.why, "the gate cannot read the call");
  if (verdict.decision === "deny") {
    return unknown || question.journal === "open"
      ? outcomeUnknown(question, verdict.why)
      : refuse("policy.denied", `${question.toolPath} is denied by ${verdict.why}.`, verdict.why);
  }
  // Sent with whatever it needed: it only goes on.
  if (question.journal === "open") return { kind: "execute", approvalId: null, why: "the answer to what it asked" };
  if (unknown && question.asked && question.asked.status !== "resolved") return unanswered(question, question.asked);
  if (!unknown && verdict.decision === "allow") return { kind: "execute", approvalId: null, why: verdict.why };
  return gateByPerson(question, tool, unknown);
}

function gateByPerson(question: GateQuestion, tool: { schemaHash: string }, unknown: boolean): GateDecision {
  const why = unknown ? "an earlier run was cut off after sending this call" : question.verdict.why;
  const latest = question.approvals.findLast((approval) => fits(approval, question, tool, unknown));
  switch (latest?.status) {
    case "approved":
      return { kind: "execute", approvalId: latest.interactionId, why: `approved by ${latest.reviewerId}` };
    case "pending":
      return { kind: "pause", approvalId: latest.interactionId, why, mayHaveRun: unknown };
    case "denied":
      return unknown ? outcomeUnknown(question, `denied by ${latest.reviewerId}`) : denied(question, latest);
    case "expired":
      return unknown
        ? outcomeUnknown(question, "nobody decided in time")
        : refuse("approval.expired", `Nobody decided on ${question.toolPath} in time.`, "expired");
  }
  if (question.deniedTwin && !unknown) return denied(question, question.deniedTwin);
  if (question.pendingApprovals >= question.maxPendingApprovals) {
    return refuse(
      "approval.limit",
      `The task already waits for ${question.pendingApprovals} approvals, and ${question.maxPendingApprovals} is the limit. Await some before asking for more.`,
      "too many pending approvals",
    );
  }
  return { kind: "pause", approvalId: null, why, mayHaveRun: unknown };
}

/** An approval speaks for exactly one sending of exactly this input to exactly this tool as it was shown. */
function fits(
  approval: InteractionRow,
  question: GateQuestion,
  tool: { schemaHash: string },
  unknown: boolean,
): boolean {
  return (
    approval.usedAt === null &&
    approval.toolPath === question.toolPath &&
    approval.inputDigest === question.inputDigest &&
    approval.schemaHash === tool.schemaHash &&
    // A yes given before the crash was for the first sending; sending again needs its own.
    (approval.mayHaveRun === 1) === unknown
  );
}

/** The call in which this was asked is gone. With an answer it could be sent again, if a person says so; without one it is over. */
const unanswered = (question: GateQuestion, asked: InteractionRow): GateDecision =>
  asked.status === "pending"
    ? { kind: "pause", approvalId: asked.interactionId, why: "the question of a call", mayHaveRun: true }
    : outcomeUnknown(question, asked.status === "expired" ? "nobody answered" : `declined by ${asked.reviewerId}`);

const refuse = (code: ErrorCode, message: string, why: string): GateDecision => ({
  kind: "refuse",
  code,
  message,
  why,
});

const denied = (question: GateQuestion, approval: InteractionRow): GateDecision =>
  refuse(
    "approval.denied",
    `${question.toolPath} was denied${approval.reason ? `: ${approval.reason}` : "."}`,
    `denied by ${approval.reviewerId}`,
  );

const outcomeUnknown = (question: GateQuestion, why: string): GateDecision =>
  refuse(
    "call.outcome_unknown",
    `${question.toolPath} was sent, but an interruption hid its outcome: it may or may not have happened. It was not sent again.`,
    why,
  );

function missing({ toolPath, nearest }: GateQuestion): string {
  const hint = nearest.length > 0 ? `Nearest: ${nearest.join(", ")}.` : "Use tools.discover({ query }) to find one.";
  return `There is no tool ${toolPath.slice(0, 200)}. ${hint}`;
}

/** Codes by which a task that does not catch them ends `denied`. */
export const denialCodes: ReadonlySet<string> = new Set<ErrorCode>([
  "policy.denied",
  "approval.denied",
  "approval.expired",
]);
