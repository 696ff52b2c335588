import { describe, expect, test } from "bun:test";
import type { InteractionRow } from "../store/tables.ts";
import { gateCall, type GateQuestion } from "./gate-call.ts";

const allow = { decision: "allow", policyId: null, why: "default", matched: [] } as const;
const asks = { decision: "require_approval", policyId: "p", why: "policy p", matched: ["p"] } as const;
const deny = { decision: "deny", policyId: "p", why: "policy p", matched: ["p"] } as const;

const question = (over: Partial<GateQuestion> = {}): GateQuestion => ({
  toolPath: "a.b",
  inputDigest: "digest",
  journal: "new",
  tool: { schemaHash: "hash", repeatable: false },
  nearest: [],
  asked: null,
  verdict: { ...allow, matched: [] },
  approvals: [],
  deniedTwin: null,
  pendingApprovals: 0,
  maxPendingApprovals: 100,
  ...over,
});
const approval = (status: string, over: Partial<InteractionRow> = {}): InteractionRow => ({
  interactionId: `approval_${status}`,
  workspaceId: "ws",
  taskId: "task",
  callId: "call",
  kind: "approval",
  status,
  title: "",
  detail: "",
  toolPath: "a.b",
  inputJson: "{}",
  inputDigest: "digest",
  schemaHash: "hash",
  line: null,
  answerSchemaJson: null,
  url: null,
  why: "",
  mayHaveRun: 0,
  createdAt: 1,
  expiresAt: 2,
  resolvedAt: null,
  reviewerId: "actor_r",
  reason: "because",
  answerJson: null,
  usedAt: null,
  stateJson: null,
  ...over,
});
const asking = (over: Partial<GateQuestion> = {}) => gateCall(question({ verdict: { ...asks, matched: [] }, ...over }));
const unknown = (over: Partial<GateQuestion> = {}) => gateCall(question({ journal: "sent", ...over }));

describe("the gate", () => {
  test("a call with an outcome is replayed, whatever the rules say today", () => {
    expect(gateCall(question({ journal: "done", tool: null, verdict: { ...deny, matched: [] } }))).toEqual({
      kind: "replay",
    });
  });
  test("an unknown tool is refused with the nearest names", () => {
    expect(gateCall(question({ tool: null, nearest: ["a.c"] }))).toMatchObject({
      kind: "refuse",
      code: "tool.not_found",
      message: expect.stringContaining("a.c"),
    });
  });
  test("allow executes, deny refuses, require_approval pauses", () => {
    expect(gateCall(question())).toMatchObject({ kind: "execute", approvalId: null });
    expect(gateCall(question({ verdict: { ...deny, matched: [] } }))).toMatchObject({
      kind: "refuse",
      code: "policy.denied",
    });
    expect(asking()).toMatchObject({ kind: "pause", approvalId: null, mayHaveRun: false });
  });
  test("a policy that denies beats an approval given earlier", () => {
    expect(gateCall(question({ verdict: { ...deny, matched: [] }, approvals: [approval("approved")] }))).toMatchObject({
      kind: "refuse",
      code: "policy.denied",
    });
  });
});

describe("an approval", () => {
  test("approved: executes and is named as used", () => {
    expect(asking({ approvals: [approval("approved")] })).toMatchObject({
      kind: "execute",
      approvalId: "approval_approved",
    });
  });
  test("pending: waits on, without asking again", () => {
    expect(asking({ approvals: [approval("pending")] })).toMatchObject({
      kind: "pause",
      approvalId: "approval_pending",
    });
  });
  test("denied and expired: refused with the reason", () => {
    expect(asking({ approvals: [approval("denied")] })).toMatchObject({
      kind: "refuse",
      code: "approval.denied",
      message: expect.stringContaining("because"),
    });
    expect(asking({ approvals: [approval("expired")] })).toMatchObject({ kind: "refuse", code: "approval.expired" });
  });
  test("is used once", () => {
    expect(asking({ approvals: [approval("approved", { usedAt: 5 })] })).toMatchObject({
      kind: "pause",
      approvalId: null,
    });
  });
  test("does not speak for another input, another tool or a changed schema", () => {
    for (const other of [{ inputDigest: "other" }, { toolPath: "a.c" }, { schemaHash: "other" }]) {
      expect(asking({ approvals: [approval("approved", other)] })).toMatchObject({ kind: "pause", approvalId: null });
    }
  });
  test("the same path and input denied once is refused again without asking", () => {
    expect(asking({ deniedTwin: approval("denied") })).toMatchObject({ kind: "refuse", code: "approval.denied" });
  });
  test("past the cap of pending ones nobody is asked", () => {
    expect(asking({ pendingApprovals: 100 })).toMatchObject({ kind: "refuse", code: "approval.limit" });
  });
});

describe("a call whose outcome is unknown", () => {
  test("is sent again when it is repeatable", () => {
    expect(unknown({ tool: { schemaHash: "hash", repeatable: true } })).toMatchObject({ kind: "execute" });
  });
  test("asks a person when it is not, even where policy allows it", () => {
    expect(unknown()).toMatchObject({ kind: "pause", mayHaveRun: true });
  });
  test("needs a yes of its own: the one for the first sending does not count", () => {
    expect(unknown({ verdict: { ...asks, matched: [] }, approvals: [approval("approved")] })).toMatchObject({
      kind: "pause",
      approvalId: null,
      mayHaveRun: true,
    });
    expect(unknown({ approvals: [approval("approved", { mayHaveRun: 1 })] })).toMatchObject({
      kind: "execute",
      approvalId: "approval_approved",
    });
  });
  test("denied, expired or forbidden by policy: the code learns that nobody knows", () => {
    for (const status of ["denied", "expired"]) {
      expect(unknown({ approvals: [approval(status, { mayHaveRun: 1 })] })).toMatchObject({
        kind: "refuse",
        code: "call.outcome_unknown",
      });
    }
    expect(unknown({ verdict: { ...deny, matched: [] } })).toMatchObject({
      kind: "refuse",
      code: "call.outcome_unknown",
    });
  });
});

describe("a call that was asked something in the middle", () => {
  const asked = (status: string) => approval(status, { kind: "elicitation" });
  test("goes on while it is open, without another yes; a rule that denies it leaves it unknown", () => {
    const open = { journal: "open", asked: asked("resolved") } as const;
    expect(asking(open)).toMatchObject({ kind: "execute", approvalId: null });
    expect(gateCall(question({ ...open, verdict: { ...deny, matched: [] } }))).toMatchObject({
      kind: "refuse",
      code: "call.outcome_unknown",
    });
  });
  test("that is gone waits for its question before anyone is asked more", () => {
    expect(unknown({ asked: asked("pending") })).toMatchObject({ kind: "pause", approvalId: "approval_pending" });
    expect(unknown({ asked: asked("resolved") })).toMatchObject({ kind: "pause", approvalId: null, mayHaveRun: true });
  });
  test("that is gone and was not answered is unknown, and nobody is asked", () => {
    for (const status of ["denied", "expired"])
      expect(unknown({ asked: asked(status) })).toMatchObject({ kind: "refuse", code: "call.outcome_unknown" });
  });
});
