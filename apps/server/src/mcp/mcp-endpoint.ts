/**
 * `/mcp`, and the documents by which clients find out how to sign in for it. A request is, in order: its caller, its body, its revision.
 * With the envelope of 2026-07-28 it stands for itself; otherwise it belongs to a session.
 */
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import type { Context, Hono } from "hono";
import { AppError, errorTable } from "@executor/contracts/error";
import { roleAllows } from "@executor/contracts/role";
import type { AppTypes } from "../http/app-types.ts";
import type { Authenticator, Bearer } from "../http/authenticate.ts";
import { BodyBudget } from "../http/body-budget.ts";
import { readJson } from "../http/parse.ts";
import { answerProblem } from "../http/problem.ts";
import type { RateLimit } from "../http/rate-limit.ts";
import { answerRpc } from "./answer-rpc.ts";
import { challengeOf, createCallerFinder } from "./mcp-caller.ts";
import type { McpParts } from "./mcp-parts.ts";
import { createStatelessServer, toAuthInfo } from "./mcp-server.ts";
import { type AuthorizationServer, openAuthorizationServer, resourceMetadata } from "./oauth-metadata.ts";
import { createOauthTokens } from "./oauth-tokens.ts";
import { createTickets } from "./sealed-tickets.ts";
import { StatefulSessions } from "./stateful-sessions.ts";

/** Bodies of full size that may arrive at the same time. */
const BODIES_AT_ONCE = 16;
/** Messages of one body. */
const MAX_BATCH = 32;
/** When the server is told to stop. */
const ANSWER_WITHIN_MS = 300;
const PATH = "/mcp";
const RESOURCE = "/.well-known/oauth-protected-resource";
const SERVER = "/.well-known/oauth-authorization-server";

export interface McpDoor {
  authenticator: Authenticator;
  rateLimit: RateLimit;
}

export function serveMcp(app: Hono<AppTypes>, parts: McpParts, { authenticator, rateLimit }: McpDoor): void {
  const { deps, base } = parts;
  const { env, limits, log, host } = deps;
  const resource = `${base}${PATH}`;
  const { oauth } = env.mcp;
  const server = oauth && openAuthorizationServer(parts, oauth.issuer);
  const tokens = oauth && server && createOauthTokens(parts, oauth, { server, resource });
  const findCaller = createCallerFinder(parts, authenticator, tokens);
  const tickets = createTickets({ sealer: deps.sources.vault.sealer, now: () => host.now() });
  const sessions = new StatefulSessions(parts, tickets);
  const stateless = createMcpHandler(() => createStatelessServer(parts, tickets), {
    legacy: "reject",
    onerror: (error) => log.debug("mcp.refused", { reason: error.message.slice(0, 300) }),
  });
  // Calls that wait notice it by themselves and answer how their task stands; then what is open is closed.
  const closeAll = (): void => void Promise.all([sessions.close(), stateless.close()]);
  deps.shutdown.addEventListener("abort", () => host.setTimer(ANSWER_WITHIN_MS, closeAll));
  const budget = new BodyBudget(BODIES_AT_ONCE * limits.bodyBytes);

  app.all(PATH, async (c) => {
    c.set("route", PATH);
    try {
      return await serve(c);
    } catch (error) {
      return answerError(error, c.get("requestId"));
    }
  });
  if (oauth && server) serveMetadata(app, server, resourceMetadata(resource, oauth.issuer));

  async function serve(c: Context<AppTypes>): Promise<Response> {
    const request = c.req.raw;
    const caller = await findCaller(request, c.env?.requestIP?.(request)?.address ?? null);
    c.set("caller", caller);
    rateLimit.take(caller.bearerId, "requests with one key");
    if (!roleAllows(caller.role, "agent")) throw new AppError("auth.forbidden", "This needs the role agent.");
    if (!["GET", "POST", "DELETE"].includes(request.method))
      return answerRpc(405, -32_000, "Method not allowed.", { headers: { allow: "GET, POST, DELETE" } });
    const body = request.method === "POST" ? await readBody(request) : undefined;
    takeBatch(caller, body);
    return await route(request, caller, body);
  }

  /** Older revisions send several messages at once: each counts, and there are never more than a client can mean. */
  function takeBatch(caller: Bearer, body: unknown): void {
    if (!Array.isArray(body)) return;
    if (body.length > MAX_BATCH)
      throw new AppError("request.invalid", `body: at most ${MAX_BATCH} messages go together; it has ${body.length}`);
    if (body.length > 1) rateLimit.take(caller.bearerId, "requests with one key", body.length - 1);
  }

  /** The body is read here, by our own limits; an empty one is no message. */
  async function readBody(request: Request): Promise<unknown> {
    const body = await readJson(request, limits.bodyBytes, budget);
    if (typeof body === "object" && body !== null && Object.keys(body).length > 0) return body;
    throw new AppError("request.invalid", "body: not a JSON-RPC message");
  }

  async function route(request: Request, caller: Bearer, body: unknown): Promise<Response> {
    const isLegacy = await isLegacyRequest(request, body);
    if (isLegacy) return await sessions.handle(request, caller, body);
    return await stateless.fetch(request, { parsedBody: body, authInfo: toAuthInfo(caller) });
  }

  function answerError(error: unknown, requestId: string): Response {
    if (!(error instanceof AppError)) return answerProblem(error, requestId, log);
    const { status } = errorTable[error.code];
    const challenge = challengeOf(error, oauth ? `${base}${RESOURCE}${PATH}` : null);
    const seconds = error.data?.["retryAfterSeconds"];
    const headers = {
      ...(challenge !== null && { "www-authenticate": challenge }),
      ...(typeof seconds === "number" && { "retry-after": String(seconds) }),
    };
    const code = error.code === "request.invalid" ? -32_700 : -32_000;
    return answerRpc(status, code, error.detail, { headers, data: { code: error.code, requestId } });
  }
}

/** Open to all: nothing in them is secret, and a client reads them before it has a token. */
function serveMetadata(app: Hono<AppTypes>, server: AuthorizationServer, document: Record<string, unknown>): void {
  const headers = { "access-control-allow-origin": "*", "cache-control": "public, max-age=300" };
  for (const path of [RESOURCE, `${RESOURCE}${PATH}`])
    app.get(path, (c) => {
      c.set("route", RESOURCE);
      return Response.json(document, { headers });
    });
  for (const path of [SERVER, `${SERVER}${PATH}`])
    app.get(path, async (c) => {
      c.set("route", SERVER);
      return Response.json(await server.metadata(), { headers });
    });
}
