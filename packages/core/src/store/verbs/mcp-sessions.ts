/** Sessions of MCP clients. Bounded: a bearer has so many, and those that idle too long are removed on the way. */
import type { McpSessionRow } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** Removed with one opening; the rest comes with the next. */
const SWEEP = 100;

/** In place of the bearer's oldest one, when it has as many as it may. Tells which ones are gone. */
export async function openMcpSession(
  tx: Tx,
  args: { session: McpSessionRow; maxPerBearer: number; idleMs: number },
): Promise<{ closed: string[] }> {
  const { session, maxPerBearer, idleMs } = args;
  const idle = await tx.find("mcpSessions", {
    index: "bySeen",
    before: session.createdAt - idleMs,
    order: "asc",
    limit: SWEEP,
  });
  const own = await tx.find("mcpSessions", {
    index: "byBearer",
    eq: [session.bearerId],
    order: "desc",
    limit: maxPerBearer + SWEEP,
  });
  const closed = new Set([...idle, ...own.slice(maxPerBearer - 1)].map(({ sessionHash }) => sessionHash));
  for (const sessionHash of closed) await tx.remove("mcpSessions", sessionHash);
  await tx.insert("mcpSessions", session);
  return { closed: [...closed] };
}

/** Null when there is none, when it idled too long, and when it is another bearer's. */
export async function readMcpSession(
  tx: Tx,
  args: { sessionHash: string; bearerId: string; now: number; idleMs: number },
): Promise<McpSessionRow | null> {
  const session = await tx.get("mcpSessions", args.sessionHash);
  if (!session || session.bearerId !== args.bearerId || args.now - session.seenAt > args.idleMs) return null;
  return session;
}

export async function touchMcpSession(tx: Tx, args: { sessionHash: string; now: number }): Promise<void> {
  if (await tx.get("mcpSessions", args.sessionHash))
    await tx.update("mcpSessions", args.sessionHash, { seenAt: args.now });
}

/** False when there was none of this bearer's. */
export async function closeMcpSession(tx: Tx, args: { sessionHash: string; bearerId: string }): Promise<boolean> {
  const session = await tx.get("mcpSessions", args.sessionHash);
  if (!session || session.bearerId !== args.bearerId) return false;
  await tx.remove("mcpSessions", args.sessionHash);
  return true;
}
