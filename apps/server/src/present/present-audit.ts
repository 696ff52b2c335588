/** An audit entry as callers see it. */
import type { AuditEntry } from "@executor/contracts/identity";
import type { Row } from "@executor/core/store/tables";
import { parseJson, toTime } from "./json.ts";

export function presentAudit(row: Row<"audit">): AuditEntry {
  const { auditId, workspaceId, actorId, clientId, action, subject } = row;
  return {
    auditId,
    sequence: row.seq,
    workspaceId,
    at: toTime(row.at),
    actorId,
    clientId,
    action,
    subject,
    detail: parseJson(row.detailJson) as Record<string, unknown>,
  };
}
