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
  await tx.insert("audit", {
    auditId: `audit_${who.workspaceId}_${seq}`,
    workspaceId: who.workspaceId,
    seq,
    at,
    actorId: who.actorId,
    clientId: who.clientId,
    action,
    subject,
    detailJson: JSON.stringify(detail),
  });
  await tx.update("workspaces", who.workspaceId, { auditSeq: seq });
}
