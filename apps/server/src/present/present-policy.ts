/** A policy as callers see it. */
import type { Policy, PolicyCondition, PolicyDecision } from "@executor/contracts/policy";
import type { PolicyRow } from "@executor/core/store/tables";
import { parseJson, present, toTime } from "./json.ts";

export function presentPolicy(row: PolicyRow): Policy {
  const conditions = parseJson(row.conditionsJson) as PolicyCondition[];
  return {
    policyId: row.policyId,
    workspaceId: row.workspaceId,
    toolPathPattern: row.pattern,
    decision: row.decision as PolicyDecision,
    ...present({ actorId: row.actorId, clientId: row.clientId }),
    ...(conditions.length > 0 && { conditions }),
    priority: row.priority,
    createdAt: toTime(row.createdAt),
    createdBy: row.createdBy,
  };
}
