/**
 * Gives every request its id and one line in the log. The line names the route's pattern, never the URL: paths and
 * queries hold what people typed. Bodies and tokens are not looked at.
 */
import type { MiddlewareHandler } from "hono";
import type { AppDeps } from "../deps.ts";
import type { AppTypes } from "./app-types.ts";

export function logRequests({ log, host }: Pick<AppDeps, "log" | "host">): MiddlewareHandler<AppTypes> {
  return async function logRequest(c, next) {
    const startedMs = host.monotonicMs();
    const requestId = readRequestId(c.req.header("x-request-id")) ?? host.newId("run").replace("run_", "req_");
    c.set("requestId", requestId);
    await next();
    c.res.headers.set("x-request-id", requestId);
    const caller = c.get("caller");
    log.info("request", {
      method: c.req.method,
      route: c.get("route") ?? "unmatched",
      status: c.res.status,
      ms: Math.round((host.monotonicMs() - startedMs) * 10) / 10,
      requestId,
      ...(caller && { workspaceId: caller.workspaceId, actorId: caller.actorId }),
    });
  };
}

/** The client's own, if it is a short plain word: it goes into our log and headers. */
const readRequestId = (given: string | undefined): string | null =>
  given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : null;
