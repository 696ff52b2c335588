/**
 * Sessions of revision 2025-11-25. The truth is a row of the store: who opened it, what its client can do, when it was last seen. Any
 * instance serves any session from that; one that is closed, idle for a day, or somebody else's is not found (404).
 */
import { randomBytes } from "node:crypto";
import { isInitializeRequest } from "@modelcontextprotocol/server";
import type { McpSessionRow } from "@executor/core/store/tables";
import type { Bearer } from "../http/authenticate.ts";
import { answerRpc } from "./answer-rpc.ts";
import type { McpParts } from "./mcp-parts.ts";
import { cancelOwnTask } from "./mcp-server.ts";
import type { Tickets } from "./sealed-tickets.ts";
import { openStatefulSession, requestKeyOf, type StatefulSession } from "./stateful-session.ts";
import { takeAnswer } from "./stateful-turn.ts";

const IDLE_MS = 24 * 3_600_000;
const MAX_PER_BEARER = 100;
const TOUCH_MS = 60_000;
const MAX_INIT_CHARS = 16_000;
/** Beyond this long without use, or beyond so many, a session leaves the memory; its row stays. */
const KEEP_MS = 10 * 60_000;
const MAX_KEPT = 1_000;

type Message = Record<string, unknown>;

export class StatefulSessions {
  readonly #parts: McpParts;
  readonly #tickets: Tickets;
  /** In the memory of this instance. */
  readonly #kept = new Map<string, StatefulSession>();

  constructor(parts: McpParts, tickets: Tickets) {
    this.#parts = parts;
    this.#tickets = tickets;
  }

  get size(): number {
    return this.#kept.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((sessionHash) => this.#drop(sessionHash)));
  }

  async handle(request: Request, caller: Bearer, body: unknown): Promise<Response> {
    const { store, host } = this.#parts.deps;
    if (request.method === "POST" && isInitializeRequest(body)) return await this.#open(request, caller, body);
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId === null)
      return answerRpc(400, -32_000, "Bad Request: Mcp-Session-Id is required; begin with `initialize`.");
    const sessionHash = host.sha256(sessionId);
    const { bearerId } = caller;
    const row = await store.readMcpSession({ sessionHash, bearerId, now: host.now(), idleMs: IDLE_MS });
    if (!row) return answerRpc(404, -32_001, "Session not found. Begin a new one with `initialize`.");
    if (request.method === "DELETE") return await this.#end(row, caller);
    this.#touch(row);
    const session = this.#kept.get(sessionHash) ?? (await this.#restore(request, caller, sessionId, row));
    session.usedAt = host.monotonicMs();
    const rest = request.method === "POST" ? await this.#takeOwn(session, caller, body) : body;
    return rest === null ? new Response(null, { status: 202 }) : await session.handle(request, caller, rest);
  }

  async #open(request: Request, caller: Bearer, body: unknown): Promise<Response> {
    const { store, host } = this.#parts.deps;
    const initJson = JSON.stringify(body);
    if (initJson.length > MAX_INIT_CHARS) return answerRpc(413, -32_600, "This `initialize` is too large.");
    const sessionId = `mcp_${randomBytes(32).toString("base64url")}`;
    const sessionHash = host.sha256(sessionId);
    const { bearerId } = caller;
    const now = host.now();
    const session: McpSessionRow = { sessionHash, bearerId, initJson, createdAt: now, seenAt: now };
    const opened = await this.#keep(await openStatefulSession(this.#parts, this.#tickets, { sessionId, sessionHash }));
    const response = await opened.handle(request, caller, body);
    if (response.status !== 200) {
      await this.#drop(sessionHash);
      return response;
    }
    const { closed } = await store.openMcpSession({ session, maxPerBearer: MAX_PER_BEARER, idleMs: IDLE_MS });
    for (const each of closed) await this.#drop(each);
    return response;
  }

  /** As the client opened it, said again to a new server of the SDK. */
  async #restore(
    request: Request,
    caller: Bearer,
    sessionId: string,
    { sessionHash, initJson }: McpSessionRow,
  ): Promise<StatefulSession> {
    const session = await openStatefulSession(this.#parts, this.#tickets, { sessionId, sessionHash });
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": sessionId,
    };
    for (const message of [JSON.parse(initJson) as unknown, { jsonrpc: "2.0", method: "notifications/initialized" }]) {
      const answer = await session.handle(new Request(request.url, { method: "POST", headers }), caller, message);
      // To its end: the answer is written while it is read.
      await answer.text();
    }
    // Two requests may have come at once; the first to be ready serves both.
    const first = this.#kept.get(sessionHash);
    if (!first) return await this.#keep(session);
    await session.close();
    return first;
  }

  async #end({ sessionHash }: McpSessionRow, { bearerId }: Bearer): Promise<Response> {
    await this.#parts.deps.store.closeMcpSession({ sessionHash, bearerId });
    await this.#drop(sessionHash);
    return new Response(null, { status: 200 });
  }

  /** Takes what is not the SDK's: answers to our questions, and cancellations of tasks. Null: nothing is left. */
  async #takeOwn(session: StatefulSession, caller: Bearer, body: unknown): Promise<unknown> {
    const rest: unknown[] = [];
    for (const message of Array.isArray(body) ? (body as unknown[]) : [body]) {
      if (isMessage(message) && message["method"] === "notifications/cancelled")
        await this.#cancel(session, caller, message["params"]);
      const isOurs = isMessage(message) && (await takeAnswer(this.#parts, this.#tickets, caller, session, message));
      if (!isOurs) rest.push(message);
    }
    if (rest.length === 0) return null;
    return Array.isArray(body) ? rest : rest[0];
  }

  /** The request may be answered by another instance: then its task is found by the request's key. */
  async #cancel(session: StatefulSession, caller: Bearer, params: unknown): Promise<void> {
    const requestId = isMessage(params) ? params["requestId"] : undefined;
    if (typeof requestId !== "string" && typeof requestId !== "number") return;
    const { workspaceId, actorId } = caller;
    const idempotencyKey = requestKeyOf(session.sessionHash, requestId);
    const find = () => this.#parts.deps.store.findTask({ workspaceId, actorId, idempotencyKey });
    const taskId = session.taskOf(requestId) ?? (await find())?.taskId;
    if (taskId !== undefined) await cancelOwnTask(this.#parts, caller, taskId);
  }

  #touch({ sessionHash, seenAt }: McpSessionRow): void {
    const { store, host, log } = this.#parts.deps;
    const now = host.now();
    if (now - seenAt < TOUCH_MS) return;
    store.touchMcpSession({ sessionHash, now }).catch((error: unknown) => log.warn("mcp.touch_failed", { error }));
  }

  async #keep(session: StatefulSession): Promise<StatefulSession> {
    this.#kept.set(session.sessionHash, session);
    const nowMs = this.#parts.deps.host.monotonicMs();
    for (const each of this.#kept.values()) {
      if (each === session || each.isBusy()) continue;
      if (nowMs - each.usedAt > KEEP_MS || this.#kept.size > MAX_KEPT) await this.#drop(each.sessionHash);
    }
    return session;
  }

  async #drop(sessionHash: string): Promise<void> {
    const session = this.#kept.get(sessionHash);
    this.#kept.delete(sessionHash);
    await session?.close();
  }
}

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && !Array.isArray(value);
