/**
 * Sessions with one server, kept while they are used: one identity never gets another's, and a session serves one call at a time,
 * because what a server asks in the middle of a call must reach the one who made it.
 */
import { createHash } from "node:crypto";
import { ProtocolError } from "@modelcontextprotocol/client";
import { AppError } from "@executor/contracts/error";
import type { CallIo } from "@executor/core/ports/source";
import type { Sent, ToolCall } from "@executor/core/tools/tool";
import type { Session } from "./connect.ts";

const IDLE_MS = 5 * 60_000;
/** A session that rested this long is asked whether it still lives before a call that must not be sent twice. */
const RESTED_MS = 1_000;
const PING_MS = 10_000;
const MAX_SESSIONS = 50;

interface Kept {
  session: Promise<Session>;
  usedAt: number;
  calls: number;
}

export interface SessionPool {
  use(
    call: ToolCall,
    io: CallIo,
    options: { isSafe: boolean },
    work: (session: Session) => Promise<{ sent: Sent; over: Promise<unknown> }>,
  ): Promise<Sent>;
  size(): number;
  /** Ends the idle sessions of this identity. */
  forget(call: ToolCall, io: CallIo): Promise<void>;
  close(): Promise<void>;
}

export function createSessionPool(open: (io: CallIo, signal: AbortSignal) => Promise<Session>): SessionPool {
  const sessions = new Map<string, Kept>();
  let sweeper: ReturnType<typeof setInterval> | null = null;

  return {
    size: () => sessions.size,

    async use(call, io, { isSafe }, work) {
      const key = freeSlot(identityOf(call, io));
      let used = take(sessions.get(key) ?? begin(key, io));
      try {
        let session = await used.session;
        if (session.isClosed || (!isSafe && !(await isAlive(used, session)))) {
          void session.close();
          used = take(begin(key, io));
          session = await used.session;
        }
        const { sent, over } = await work(session);
        // A call that waits for a person goes on in its session: nobody else gets it meanwhile.
        void over.finally(() => release(key, used, session));
        return sent;
      } catch (error) {
        release(key, used, null);
        if (error instanceof AppError) return notConnected(error);
        throw error;
      }
    },
    forget: (call, io) => end((key) => key.startsWith(`${identityOf(call, io)}/`)),
    async close() {
      if (sweeper) clearInterval(sweeper);
      sweeper = null;
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.allSettled(all.map(async ({ session }) => (await session).close()));
    },
  };

  function take(kept: Kept): Kept {
    kept.calls++;
    return kept;
  }

  /** Null: there is no session to keep. */
  function release(key: string, kept: Kept, session: Session | null): void {
    kept.calls--;
    kept.usedAt = Date.now();
    if ((session === null || session.isClosed) && sessions.get(key) === kept) sessions.delete(key);
  }

  function freeSlot(identity: string): string {
    let slot = 0;
    while ((sessions.get(`${identity}/${slot}`)?.calls ?? 0) > 0) slot++;
    return `${identity}/${slot}`;
  }

  function begin(key: string, io: CallIo): Kept {
    if (sessions.size >= MAX_SESSIONS) void end(() => true);
    sweeper ??= setInterval(() => void end((_, { usedAt }) => Date.now() - usedAt > IDLE_MS), IDLE_MS / 4).unref();
    // Its own time limit, not the call's: the session outlives the call.
    const kept: Kept = { session: open(io, AbortSignal.timeout(60_000)), usedAt: Date.now(), calls: 0 };
    sessions.set(key, kept);
    return kept;
  }

  async function end(isDue: (key: string, kept: Kept) => boolean): Promise<void> {
    for (const [key, kept] of sessions) {
      if (kept.calls > 0 || !isDue(key, kept)) continue;
      sessions.delete(key);
      await kept.session.then((session) => session.close()).catch(() => undefined);
    }
  }
}

/** A server that was started anew does not know its old sessions: better to learn that from a ping than from a call. */
async function isAlive({ usedAt }: Kept, { client, transport }: Session): Promise<boolean> {
  if (transport === "stdio" || client.getProtocolEra() !== "legacy" || Date.now() - usedAt < RESTED_MS) return true;
  return await client.ping({ timeout: PING_MS }).then(
    () => true,
    // A server that knows no ping has answered too.
    (error: unknown) => ProtocolError.isInstance(error),
  );
}

const identityOf = ({ workspaceId, actorId }: ToolCall, { auth }: CallIo): string =>
  createHash("sha256")
    .update(JSON.stringify([workspaceId, actorId, auth.parts]))
    .digest("hex");

/** Nothing was sent: there was no session to send it in. */
function notConnected({ code, detail, data }: AppError): Sent {
  const status = data?.["status"];
  return {
    ok: false,
    code: code === "credential.missing" ? "call.upstream_error" : code,
    message: detail,
    ...(typeof status === "number" && { status }),
  };
}
