/**
 * Credentials, the keys that seal them, and sign-ins under way. What comes here is sealed text or a reference, never a
 * secret; what goes to the audit log is where a credential belongs, never what it holds.
 * `version` counts the writes of a credential. It is part of what the secret is bound to, so whoever seals must know the
 * next one: every write names the version it replaces, and one that comes too late is told "moved" and changes nothing.
 */
import { AppError } from "@executor/contracts/error";
import { appendAudit, type AuditWho } from "../append-audit.ts";
import { isChunked, loadText, storeText } from "../large-text.ts";
import type { CredentialRow, Row } from "../tables.ts";
import type { Maybe, Tx } from "../tx.ts";

type By = { actorId: string; clientId: string };
/** Where a credential belongs; there is one in a slot. */
export type CredentialSlot = Pick<CredentialRow, "workspaceId" | "sourceKey" | "scope" | "actorId" | "name">;
export type NewCredential = CredentialSlot &
  Pick<CredentialRow, "credentialId" | "provider" | "kind" | "kept" | "expiresAt">;
export type CredentialSummary = Omit<CredentialRow, "kept">;

/** All accounts of one source are read for each call that uses one. */
const MAX_ACCOUNTS = 100;
const MAX_LISTED = 1_000;

/** `replaces` is the version that is there now, 0 for none. The row keeps its id; `credentialId` is used for a new one. */
export async function saveCredential(
  tx: Tx,
  args: { credential: NewCredential; replaces: number; by: By; now: number },
): Promise<{ kind: "saved"; row: CredentialRow; replaced: CredentialRow | null } | { kind: "moved" }> {
  const { credential, by, now } = args;
  const existing = await findSlot(tx, credential);
  if ((existing?.version ?? 0) !== args.replaces) return { kind: "moved" };
  if (!existing) await checkRoom(tx, credential);
  const replaced = existing && { ...existing, kept: await loadKept(tx, existing) };
  if (existing) await dropKept(tx, existing);
  const row: CredentialRow = {
    ...credential,
    credentialId: existing?.credentialId ?? credential.credentialId,
    version: args.replaces + 1,
    status: "ok",
    refreshBy: null,
    refreshUntil: null,
    createdAt: existing?.createdAt ?? now,
    updatedAt: now,
    createdBy: existing?.createdBy ?? by.actorId,
  };
  const stored = { ...row, kept: await storeText(tx, keptOwner(row), row.kept) };
  if (existing) await tx.update("credentials", row.credentialId, stored);
  else await tx.insert("credentials", stored);
  await audit(tx, existing ? "credential.replaced" : "credential.created", row, by, now);
  return { kind: "saved", row, replaced };
}

/** Gives back what was removed, so that its provider can forget it. `onlyActorId`: an actor may remove its own only. */
export async function deleteCredential(
  tx: Tx,
  args: { credentialId: string; workspaceId: string; onlyActorId?: string; by: By; now: number },
): Promise<CredentialRow> {
  const row = await tx.get("credentials", args.credentialId);
  const isTheirs = args.onlyActorId === undefined || (row?.scope === "actor" && row.actorId === args.onlyActorId);
  if (!row || row.workspaceId !== args.workspaceId || !isTheirs)
    throw new AppError("credential.not_found", `There is no credential ${args.credentialId} in this workspace.`);
  return await removeRow(tx, row, args.by, args.now);
}

/** For a source that is removed: a later one of the same name must not get the secrets of this one. */
export async function deleteSourceCredentials(
  tx: Tx,
  args: { workspaceId: string; sourceKey: string; by: By; now: number },
): Promise<CredentialRow[]> {
  const rows = await tx.find("credentials", {
    index: "bySlot",
    eq: [args.workspaceId, args.sourceKey],
    limit: MAX_LISTED,
  });
  const removed: CredentialRow[] = [];
  for (const row of rows) removed.push(await removeRow(tx, row, args.by, args.now));
  return removed;
}

export async function listCredentials(tx: Tx, args: { workspaceId: string }): Promise<CredentialSummary[]> {
  const rows = await tx.find("credentials", {
    index: "byWorkspace",
    eq: [args.workspaceId],
    order: "desc",
    limit: MAX_LISTED,
  });
  return rows.map(({ kept: _, ...summary }) => summary);
}

export async function readCredential(tx: Tx, args: { credentialId: string }): Promise<CredentialRow | null> {
  const row = await tx.get("credentials", args.credentialId);
  return row && { ...row, kept: await loadKept(tx, row) };
}

/** The accounts somebody has with a source, by name. */
export async function findCredentials(tx: Tx, args: Omit<CredentialSlot, "name">): Promise<CredentialRow[]> {
  const rows = await tx.find("credentials", {
    index: "bySlot",
    eq: [args.workspaceId, args.sourceKey, args.scope, args.actorId],
    limit: MAX_ACCOUNTS,
  });
  const loaded: CredentialRow[] = [];
  for (const row of rows) loaded.push({ ...row, kept: await loadKept(tx, row) });
  return loaded;
}

/**
 * The right to refresh this version, for one at a time over all processes. "moved": it was refreshed, replaced, removed
 * or found dead in the meantime; read it again. A claim ends by itself, for its holder may have died.
 */
export async function claimRefresh(
  tx: Tx,
  args: { credentialId: string; version: number; claimId: string; now: number; until: number },
): Promise<"claimed" | "busy" | "moved"> {
  const row = await tx.get("credentials", args.credentialId);
  if (!row || row.version !== args.version || row.status !== "ok") return "moved";
  const isHeld = row.refreshBy !== null && row.refreshBy !== args.claimId && (row.refreshUntil ?? 0) > args.now;
  if (isHeld) return "busy";
  await tx.update("credentials", args.credentialId, { refreshBy: args.claimId, refreshUntil: args.until });
  return "claimed";
}

/** False when the version is another by now; then nothing is written. */
export async function finishRefresh(
  tx: Tx,
  args: { credentialId: string; version: number; kept: string; expiresAt: number | null; now: number },
): Promise<boolean> {
  const row = await tx.get("credentials", args.credentialId);
  if (!row || row.version !== args.version) return false;
  await dropKept(tx, row);
  const version = row.version + 1;
  await tx.update("credentials", row.credentialId, {
    kept: await storeText(tx, keptOwner({ credentialId: row.credentialId, version }), args.kept),
    version,
    status: "ok",
    expiresAt: args.expiresAt,
    refreshBy: null,
    refreshUntil: null,
    updatedAt: args.now,
  });
  return true;
}

/** Lets go of a claim. `dead`: no refresh will ever succeed, so a person must connect again. */
export async function failRefresh(
  tx: Tx,
  args: { credentialId: string; version: number; claimId: string; dead: boolean; now: number },
): Promise<void> {
  const row = await tx.get("credentials", args.credentialId);
  if (!row || row.version !== args.version) return;
  if (row.refreshBy === args.claimId)
    await tx.update("credentials", row.credentialId, { refreshBy: null, refreshUntil: null });
  if (!args.dead || row.status === "expired") return;
  await tx.update("credentials", row.credentialId, { status: "expired", updatedAt: args.now });
  await audit(tx, "credential.expired", row, { actorId: "system", clientId: "system" }, args.now);
}

function findSlot(tx: Tx, slot: CredentialSlot): Promise<CredentialRow | null> {
  const { workspaceId, sourceKey, scope, actorId, name } = slot;
  return first(
    tx.find("credentials", { index: "bySlot", eq: [workspaceId, sourceKey, scope, actorId, name], limit: 1 }),
  );
}

const first = async <T>(rows: Maybe<T[]>): Promise<T | null> => (await rows)[0] ?? null;

async function checkRoom(tx: Tx, { workspaceId, sourceKey, scope, actorId }: CredentialSlot): Promise<void> {
  const accounts = await tx.find("credentials", {
    index: "bySlot",
    eq: [workspaceId, sourceKey, scope, actorId],
    limit: MAX_ACCOUNTS,
  });
  if (accounts.length >= MAX_ACCOUNTS)
    throw new AppError(
      "credential.invalid",
      `The source ${sourceKey} has ${MAX_ACCOUNTS} accounts here, and that is the most. Remove some first.`,
    );
}

async function removeRow(tx: Tx, row: CredentialRow, by: By, now: number): Promise<CredentialRow> {
  const kept = await loadKept(tx, row);
  await dropKept(tx, row);
  await tx.remove("credentials", row.credentialId);
  await audit(tx, "credential.removed", row, by, now);
  return { ...row, kept };
}

function audit(tx: Tx, action: string, row: CredentialRow, by: By, now: number): Promise<void> {
  const { workspaceId, sourceKey, scope, actorId, name, provider, kind } = row;
  const who: AuditWho = { workspaceId, actorId: by.actorId, clientId: by.clientId };
  return appendAudit(tx, who, now, action, row.credentialId, { sourceKey, scope, actorId, name, provider, kind });
}

/** With the version: a chunk is never overwritten. */
const keptOwner = ({ credentialId, version }: Pick<CredentialRow, "credentialId" | "version">): string =>
  `${credentialId}/kept/${version}`;

const loadKept = (tx: Tx, row: CredentialRow): Promise<string> => loadText(tx, keptOwner(row), row.kept);

async function dropKept(tx: Tx, row: CredentialRow): Promise<void> {
  if (!isChunked(row.kept)) return;
  const chunks: Row<"chunks">[] = await tx.find("chunks", { index: "byOwner", eq: [keptOwner(row)], limit: 100 });
  for (const chunk of chunks) await tx.remove("chunks", chunk.chunkKey);
}
