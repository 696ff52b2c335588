/** Rules of a workspace. Reading them is part of every claim and of every live call. */
import { AppError } from "@executor/contracts/error";
import { appendAudit } from "../append-audit.ts";
import type { PolicyRow } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** A workspace with more rules than this cannot be read whole, and a gate that sees only some of them must not open. */
const MAX_POLICIES = 2_000;

export async function listPolicies(tx: Tx, args: { workspaceId: string }): Promise<PolicyRow[]> {
  return await tx.find("policies", { index: "byWorkspace", eq: [args.workspaceId], limit: MAX_POLICIES });
}

export async function createPolicy(
  tx: Tx,
  args: { policy: PolicyRow; by: { actorId: string; clientId: string } },
): Promise<PolicyRow> {
  await insertPolicy(tx, args.policy, args.by);
  return args.policy;
}

export async function deletePolicy(
  tx: Tx,
  args: { policyId: string; workspaceId: string; by: { actorId: string; clientId: string }; now: number },
): Promise<void> {
  const policy = await tx.get("policies", args.policyId);
  if (!policy || policy.workspaceId !== args.workspaceId)
    throw new AppError("policy.not_found", `There is no policy ${args.policyId} in this workspace.`);
  await tx.remove("policies", args.policyId);
  await appendAudit(tx, { workspaceId: args.workspaceId, ...args.by }, args.now, "policy.deleted", args.policyId, {
    pattern: policy.pattern,
    decision: policy.decision,
  });
}

export async function insertPolicy(
  tx: Tx,
  policy: PolicyRow,
  by: { actorId: string; clientId: string },
): Promise<void> {
  const existing = await listPolicies(tx, { workspaceId: policy.workspaceId });
  if (existing.length >= MAX_POLICIES)
    throw new AppError(
      "request.invalid",
      `A workspace holds at most ${MAX_POLICIES} policies. Delete some, or use a pattern that covers several.`,
    );
  await tx.insert("policies", policy);
  await appendAudit(
    tx,
    { workspaceId: policy.workspaceId, ...by },
    policy.createdAt,
    "policy.created",
    policy.policyId,
    { pattern: policy.pattern, decision: policy.decision, actorId: policy.actorId, clientId: policy.clientId },
  );
}
