/** A rule on its way into the store, whoever makes it: written by hand, or left behind by a decision. */
import type { PolicyCondition, PolicyDecision } from "@executor/contracts/policy";
import type { Host } from "@executor/core/ports/host";
import type { PolicyRow } from "@executor/core/store/tables";
import type { Bearer } from "./http/authenticate.ts";

export interface PolicyRule {
  toolPathPattern: string;
  decision: PolicyDecision;
  actorId?: string | undefined;
  clientId?: string | undefined;
  conditions?: PolicyCondition[] | undefined;
  priority?: number | undefined;
}

export function newPolicyRow(host: Host, caller: Bearer, rule: PolicyRule): PolicyRow {
  return {
    policyId: host.newId("policy"),
    workspaceId: caller.workspaceId,
    pattern: rule.toolPathPattern,
    decision: rule.decision,
    actorId: rule.actorId ?? null,
    clientId: rule.clientId ?? null,
    conditionsJson: JSON.stringify(rule.conditions ?? []),
    priority: rule.priority ?? 0,
    createdAt: host.now(),
    createdBy: caller.actorId,
  };
}
