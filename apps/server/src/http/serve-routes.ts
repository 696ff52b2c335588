/**
 * Serves the rows of the contracts' table, each the same way: who calls, how often, with which role; then path, query
 * and body by their schemas; then the handler. Nothing under /api is served in any other way.
 */
import type { Context, Hono } from "hono";
import { z } from "zod";
import { AppError } from "@executor/contracts/error";
import { type Route, type RouteName, routes } from "@executor/contracts/http";
import { Id } from "@executor/contracts/id";
import { roleAllows } from "@executor/contracts/role";
import type { AppDeps } from "../deps.ts";
import type { AppTypes } from "./app-types.ts";
import type { Authenticator, Bearer } from "./authenticate.ts";
import { BodyBudget } from "./body-budget.ts";
import { parseQuery, parseWith, readJson } from "./parse.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { Handlers, RouteRequest } from "./route-types.ts";

export interface ServeOptions {
  authenticator: Authenticator;
  rateLimit: RateLimit;
  limits: AppDeps["limits"];
}

/** Nobody without a bearer has much to say. */
const OPEN_BODY_BYTES = 16_000;
/** Bodies of full size that may arrive at the same time. */
const BODIES_AT_ONCE = 16;

export const routeTable = Object.entries(routes) as [RouteName, Route][];

/** Hono takes the first pattern that fits, so fixed paths go before those with parameters. */
const registrationOrder = routeTable.toSorted(
  ([, a], [, b]) => Number(a.path.includes("{")) - Number(b.path.includes("{")),
);

export function serveRoutes(app: Hono<AppTypes>, handlers: Handlers, options: ServeOptions): void {
  const budget = new BodyBudget(BODIES_AT_ONCE * options.limits.bodyBytes);
  for (const [name, route] of registrationOrder) {
    const handler = handlers[name] as (request: RouteRequest<RouteName>) => Promise<LooseAnswer>;
    app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
      c.set("route", route.path);
      const caller = await admit(c, route, options);
      if (c.req.method === "HEAD" && route.responses[200] === "stream")
        return new Response(null, { headers: { "content-type": "text/event-stream" } });
      const { bodyBytes } = options.limits;
      const maxBytes = caller ? bodyBytes : Math.min(OPEN_BODY_BYTES, bodyBytes);
      return toResponse(await handler(await readRequest(c, route, caller, maxBytes, budget)));
    });
  }
}

const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

async function admit(
  c: Context<AppTypes>,
  route: Route,
  { authenticator, rateLimit }: ServeOptions,
): Promise<Bearer | null> {
  if (route.role === "open") return null;
  const caller = await authenticator.authenticate(c.req.header("authorization"));
  c.set("caller", caller);
  rateLimit.take(caller.bearerId, "requests with one key");
  if (!roleAllows(caller.role, route.role))
    throw new AppError("auth.forbidden", `This needs the role ${route.role}; the caller's is ${caller.role}.`);
  return caller;
}

async function readRequest(
  c: Context<AppTypes>,
  route: Route,
  caller: Bearer | null,
  maxBytes: number,
  budget: BodyBudget,
): Promise<RouteRequest<RouteName>> {
  const params = readParams(c, route);
  const query = route.query ? parseQuery(route.query, new URL(c.req.url).searchParams) : undefined;
  const body = route.body ? parseWith(route.body, await readJson(c.req.raw, maxBytes, budget), "body") : undefined;
  if (caller) for (const part of [query, body]) refuseForeignWorkspace(part, caller);
  return {
    caller: caller as never,
    query: query as never,
    body: body as never,
    param: (name) => params[name] ?? missing(name),
    header: (name) => c.req.header(name),
    remoteAddress: c.env?.requestIP?.(c.req.raw)?.address ?? "unknown",
    signal: c.req.raw.signal,
  };
}

/** Paths of tools are freer than ids. */
const ToolPath = z.string().min(1).max(500);

function readParams(c: Context<AppTypes>, route: Route): Record<string, string> {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  return Object.fromEntries(
    names.map((name) => [name, parseWith(name === "path" ? ToolPath : Id, c.req.param(name), `path.${name}`)]),
  );
}

/** A foreign workspace is as good as none: the answer must not tell that it exists. */
function refuseForeignWorkspace(part: unknown, caller: Bearer): void {
  const asked = (part as { workspaceId?: string } | undefined)?.workspaceId;
  if (asked !== undefined && asked !== caller.workspaceId)
    throw new AppError("workspace.not_found", `There is no workspace ${asked} for this caller.`);
}

function missing(name: string): never {
  throw new Error(`the route has no parameter ${name}`);
}

type LooseAnswer = Response | { status: number; body?: unknown; headers?: Record<string, string> };

function toResponse(answer: LooseAnswer): Response {
  if (answer instanceof Response) return answer;
  if (answer.body === undefined) return new Response(null, { status: answer.status, headers: answer.headers ?? {} });
  return new Response(JSON.stringify(answer.body), {
    status: answer.status,
    headers: { "content-type": "application/json", ...answer.headers },
  });
}
