/** One entry of the audit log, in the transaction of the thing it tells about. Never holds a secret or a whole input. */
import type { Row } from "./tables.ts";
import type { Tx } from "./tx.ts";

export interface AuditWho {
  workspaceId: string;
  actorId: string;
  clientId: string;
}

export async function appendAudit(
  tx: Tx,
  who: AuditWho,
  at: number,
  action: string,
  subject: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  const workspace = (await tx.get("workspaces", who.workspaceId)) as Row<"workspaces">;
  const seq = workspace.auditSeq + 1;
  await tx.insert("audit", auditRow(who, seq, at, action, subject, detail));
  await tx.update("workspaces", who.workspaceId, { auditSeq: seq });
}

export function auditRow(
  who: AuditWho,
  seq: number,
  at: number,
  action: string,
  subject: string,
  detail: Record<string, unknown>,
): Row<"audit"> {
  const { workspaceId, actorId, clientId } = who;
  return {
    auditId: `audit_${workspaceId}_${seq}`,
    workspaceId,
    seq,
    at,
    actorId,
    clientId,
    action,
    subject,
    detailJson: JSON.stringify(detail),
  };
}
