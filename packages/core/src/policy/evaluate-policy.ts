/**
 * What the rules of a workspace say about one call. Deny beats require_approval beats allow, always; among rules that say
 * the same, the more specific one is only named as the reason: actor and client before actor before client before
 * workspace, then the longer literal prefix, then priority, then age.
 */
import { PolicyCondition, type PolicyDecision } from "@executor/contracts/policy";
import type { PolicyRow } from "../store/tables.ts";
import { conditionsHold } from "./check-conditions.ts";
import { literalPrefixLength, matchesPattern } from "./match-pattern.ts";

export interface PolicyCall {
  toolPath: string;
  actorId: string;
  clientId: string;
  input: unknown;
}

export interface PolicyVerdict {
  decision: PolicyDecision;
  /** Null when no rule matched and the tool's default decides. */
  policyId: string | null;
  why: string;
  /** All rules that match, the deciding one first. */
  matched: string[];
  /** The call could not be taken apart, so no rule could be asked: it is refused for its input. */
  unreadable?: true;
}

const strictness: Record<PolicyDecision, number> = { deny: 2, require_approval: 1, allow: 0 };

export function evaluatePolicy(
  policies: readonly PolicyRow[],
  call: PolicyCall,
  fallback: { decision: PolicyDecision; why: string },
): PolicyVerdict {
  const matching = orderPolicies(policies.filter((policy) => matches(policy, call)));
  const [winner] = matching;
  if (!winner) return { decision: fallback.decision, policyId: null, why: fallback.why, matched: [] };
  return {
    decision: decisionOf(winner),
    policyId: winner.policyId,
    why: explain(winner),
    matched: matching.map((policy) => policy.policyId),
  };
}

/** The order in which rules win. */
export function orderPolicies(policies: readonly PolicyRow[]): PolicyRow[] {
  return policies.toSorted(
    (a, b) =>
      strictness[decisionOf(b)] - strictness[decisionOf(a)] ||
      scope(b) - scope(a) ||
      literalPrefixLength(b.pattern) - literalPrefixLength(a.pattern) ||
      b.priority - a.priority ||
      a.createdAt - b.createdAt ||
      (a.policyId < b.policyId ? -1 : 1),
  );
}

function matches(policy: PolicyRow, call: PolicyCall): boolean {
  return (
    (policy.actorId === null || policy.actorId === call.actorId) &&
    (policy.clientId === null || policy.clientId === call.clientId) &&
    matchesPattern(policy.pattern, call.toolPath) &&
    conditionsHold(conditionsOf(policy), call.input)
  );
}

/** A rule that cannot be read must not open the gate: as a deny it always holds, as anything else never. */
function conditionsOf(policy: PolicyRow): PolicyCondition[] {
  if (policy.conditionsJson === "[]") return [];
  const parsed = PolicyCondition.array().safeParse(JSON.parse(policy.conditionsJson));
  if (parsed.success) return parsed.data;
  return policy.decision === "allow" ? [{ path: "\u0000", op: "equals", value: null }] : [];
}

/** An unknown decision is the strictest one. */
const decisionOf = (policy: PolicyRow): PolicyDecision =>
  policy.decision === "allow" || policy.decision === "require_approval" ? policy.decision : "deny";

const scope = (policy: PolicyRow): number => (policy.actorId === null ? 0 : 2) + (policy.clientId === null ? 0 : 1);

function explain(policy: PolicyRow): string {
  const whom = [policy.actorId && `actor ${policy.actorId}`, policy.clientId && `client ${policy.clientId}`]
    .filter(Boolean)
    .join(" and ");
  return `policy ${policy.policyId}: ${decisionOf(policy)} ${policy.pattern}${whom && ` for ${whom}`}`;
}
