/** Who may call: workspaces, bearers (sessions and keys) and single-use codes. Only hashes of secrets come here. */
import { AppError } from "@executor/contracts/error";
import { appendAudit } from "../append-audit.ts";
import type { BearerRow, Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

export type NewBearer = Omit<BearerRow, "createdAt" | "lastSeenAt" | "revokedAt">;

/** A workspace and its first bearer. Does nothing to a workspace that exists already. */
export async function createWorkspace(
  tx: Tx,
  args: { workspaceId: string; kind: string; bearer: NewBearer; now: number },
): Promise<BearerRow> {
  if (!(await tx.get("workspaces", args.workspaceId))) {
    await tx.insert("workspaces", {
      workspaceId: args.workspaceId,
      kind: args.kind,
      createdAt: args.now,
      eventSeq: 0,
      auditSeq: 0,
    });
  }
  const known = await tx.get("bearers", args.bearer.bearerId);
  if (known) return known;
  return await insertBearer(tx, args.bearer, args.now, "workspace.created");
}

export async function createBearer(
  tx: Tx,
  args: { bearer: NewBearer; by: { actorId: string; clientId: string }; now: number },
): Promise<BearerRow> {
  return await insertBearer(tx, args.bearer, args.now, "key.created", args.by);
}

/** Null for an unknown, revoked or idle one. */
export async function findBearer(
  tx: Tx,
  args: { hash: string; now: number; sessionIdleMs: number },
): Promise<BearerRow | null> {
  const [bearer] = await tx.find("bearers", { index: "byHash", eq: [args.hash], limit: 1 });
  if (!bearer || bearer.revokedAt !== null) return null;
  const idleMs = args.now - (bearer.lastSeenAt ?? bearer.createdAt);
  return bearer.kind === "session" && bearer.installationAdmin === 0 && idleMs > args.sessionIdleMs ? null : bearer;
}

export async function touchBearer(tx: Tx, args: { bearerId: string; now: number }): Promise<void> {
  await tx.update("bearers", args.bearerId, { lastSeenAt: args.now });
}

export async function listKeys(tx: Tx, args: { workspaceId: string }): Promise<BearerRow[]> {
  const bearers = await tx.find("bearers", {
    index: "byWorkspace",
    eq: [args.workspaceId, "key"],
    order: "desc",
    limit: 1_000,
  });
  return bearers.filter((bearer) => bearer.revokedAt === null);
}

/** False when there is no such bearer in the workspace. */
export async function revokeBearer(
  tx: Tx,
  args: { bearerId: string; workspaceId: string; by: { actorId: string; clientId: string }; now: number },
): Promise<boolean> {
  const bearer = await tx.get("bearers", args.bearerId);
  if (!bearer || bearer.workspaceId !== args.workspaceId || bearer.revokedAt !== null) return false;
  await tx.update("bearers", args.bearerId, { revokedAt: args.now });
  await appendAudit(
    tx,
    { workspaceId: args.workspaceId, ...args.by },
    args.now,
    `${bearer.kind}.revoked`,
    args.bearerId,
    { label: bearer.label },
  );
  return true;
}

export async function createCode(
  tx: Tx,
  args: { code: Omit<Row<"codes">, "usedAt">; by: { actorId: string; clientId: string }; now: number },
): Promise<void> {
  await tx.insert("codes", { ...args.code, usedAt: null });
  await appendAudit(
    tx,
    { workspaceId: args.code.workspaceId, ...args.by },
    args.now,
    `${args.code.kind}.created`,
    args.code.codeId,
    { role: args.code.role },
  );
}

/** Trades a code for a bearer, once. The code decides workspace and role; the bearer's own are not looked at. */
export async function redeemCode(tx: Tx, args: { hash: string; bearer: NewBearer; now: number }): Promise<BearerRow> {
  const [code] = await tx.find("codes", { index: "byHash", eq: [args.hash], limit: 1 });
  if (!code || code.usedAt !== null || code.expiresAt <= args.now)
    throw new AppError(
      "auth.code_invalid",
      "This code is unknown, was used before, or has expired. Ask for a new one.",
    );
  await tx.update("codes", code.codeId, { usedAt: args.now });
  // A login link is its maker coming back; an invite is somebody new.
  const actorId = code.kind === "login" ? code.createdBy : args.bearer.actorId;
  const bearer = {
    ...args.bearer,
    actorId,
    workspaceId: code.workspaceId,
    role: code.role,
    installationAdmin: code.installationAdmin,
  };
  return await insertBearer(tx, bearer, args.now, `${code.kind}.redeemed`);
}

async function insertBearer(
  tx: Tx,
  bearer: NewBearer,
  now: number,
  action: string,
  by?: { actorId: string; clientId: string },
): Promise<BearerRow> {
  const row: BearerRow = {
    ...bearer,
    createdAt: now,
    lastSeenAt: bearer.kind === "session" ? now : null,
    revokedAt: null,
  };
  await tx.insert("bearers", row);
  const who = {
    workspaceId: bearer.workspaceId,
    actorId: by?.actorId ?? bearer.actorId,
    clientId: by?.clientId ?? bearer.clientId,
  };
  const marked = bearer.mayElicit === 1 && { mayElicit: true };
  await appendAudit(tx, who, now, action, bearer.bearerId, { role: bearer.role, label: bearer.label, ...marked });
  return row;
}
