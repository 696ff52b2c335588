/**
 * Keys of workspaces, and what sign-ins with other providers need: flows under way and the clients registered for them.
 * All of it is sealed text; who can open it is not known here.
 */
import type { OauthFlowRow, Row } from "../tables.ts";
import type { Tx } from "../tx.ts";

type OauthClientRow = Row<"oauthClients">;
type WorkspaceKeyRow = Row<"workspaceKeys">;

/** How many old flows one new one clears away. */
const SWEEP = 20;

export async function readWorkspaceKey(tx: Tx, args: { workspaceId: string }): Promise<WorkspaceKeyRow | null> {
  return await tx.get("workspaceKeys", args.workspaceId);
}

/** Of all who try, the first one's key is the workspace's; everyone gets that one back. */
export async function createWorkspaceKey(
  tx: Tx,
  args: { workspaceId: string; wrapped: string; now: number },
): Promise<WorkspaceKeyRow> {
  const existing = await tx.get("workspaceKeys", args.workspaceId);
  if (existing) return existing;
  const row = { workspaceId: args.workspaceId, wrapped: args.wrapped, createdAt: args.now };
  await tx.insert("workspaceKeys", row);
  return row;
}

/** The same key in another wrapping. False when it is not the expected one that is there. */
export async function replaceWorkspaceKey(
  tx: Tx,
  args: { workspaceId: string; from: string; to: string },
): Promise<boolean> {
  const existing = await tx.get("workspaceKeys", args.workspaceId);
  if (existing?.wrapped !== args.from) return false;
  await tx.update("workspaceKeys", args.workspaceId, { wrapped: args.to });
  return true;
}

export async function createOauthFlow(
  tx: Tx,
  args: { flow: Omit<OauthFlowRow, "usedAt">; now: number },
): Promise<void> {
  const expired = await tx.find("oauthFlows", { index: "byExpiry", before: args.now, limit: SWEEP });
  for (const flow of expired) await tx.remove("oauthFlows", flow.stateHash);
  await tx.insert("oauthFlows", { ...args.flow, usedAt: null });
}

/** Once: null for a state that is unknown, expired or was used. What it sealed is not kept any longer than that. */
export async function useOauthFlow(tx: Tx, args: { stateHash: string; now: number }): Promise<OauthFlowRow | null> {
  const flow = await tx.get("oauthFlows", args.stateHash);
  if (!flow || flow.usedAt !== null || flow.expiresAt <= args.now) return null;
  await tx.update("oauthFlows", args.stateHash, { usedAt: args.now, sealed: "" });
  return { ...flow, usedAt: args.now };
}

/** `ifAbsent`: of several that register at once, the first one's client is used by all. Gives back the row to use. */
export async function saveOauthClient(
  tx: Tx,
  args: { client: OauthClientRow; ifAbsent: boolean },
): Promise<OauthClientRow> {
  const { client } = args;
  const there = args.ifAbsent ? await findOauthClient(tx, client) : null;
  if (there) return there;
  if (await tx.get("oauthClients", client.clientKey)) await tx.update("oauthClients", client.clientKey, client);
  else await tx.insert("oauthClients", client);
  return client;
}

/** The newest one. */
export async function findOauthClient(
  tx: Tx,
  args: { workspaceId: string; issuer: string },
): Promise<OauthClientRow | null> {
  const clients = await tx.find("oauthClients", {
    index: "byWorkspace",
    eq: [args.workspaceId, args.issuer],
    limit: 100,
  });
  return clients.toSorted((a, b) => b.createdAt - a.createdAt)[0] ?? null;
}

/** The very one a sign-in was made with; a refresh needs it. */
export async function readOauthClient(
  tx: Tx,
  args: { workspaceId: string; clientKey: string },
): Promise<OauthClientRow | null> {
  const client = await tx.get("oauthClients", args.clientKey);
  return client?.workspaceId === args.workspaceId ? client : null;
}

export async function deleteOauthClient(tx: Tx, args: { workspaceId: string; clientKey: string }): Promise<boolean> {
  if (!(await readOauthClient(tx, args))) return false;
  await tx.remove("oauthClients", args.clientKey);
  return true;
}
