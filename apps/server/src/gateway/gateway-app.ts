/** What a gateway serves: our MCP endpoint and nothing else. The same code as in the server, over the same store. */
import { Hono } from "hono";
import type { AppDeps } from "../deps.ts";
import { createHintHub } from "../hint-hub.ts";
import type { AppTypes } from "../http/app-types.ts";
import { createAuthenticator } from "../http/authenticate.ts";
import { createGuard } from "../http/guard.ts";
import { ownBase } from "../http/own-base.ts";
import { answerProblem } from "../http/problem.ts";
import { RateLimit } from "../http/rate-limit.ts";
import { logRequests } from "../http/request-log.ts";
import { setSecurityHeaders } from "../http/security-headers.ts";
import { serveMcp } from "../mcp/mcp-endpoint.ts";

export function createGatewayApp(deps: AppDeps, consoleBase: string): Hono<AppTypes> {
  const authenticator = createAuthenticator(deps);
  const hub = createHintHub(deps.store, authenticator.forget);
  deps.shutdown.addEventListener("abort", hub.close);
  const guard = createGuard(deps.env);
  const app = new Hono<AppTypes>();
  app.use(logRequests(deps), setSecurityHeaders(), async function checkGuard(c, next) {
    guard.check(c.req.raw.headers, c.req.path);
    await next();
  });
  const rateLimit = new RateLimit(deps.limits.requestsPerMinute, () => deps.host.monotonicMs());
  serveMcp(app, { deps, hub, base: ownBase(deps.env), consoleBase }, { authenticator, rateLimit });
  app.get("/health", () => Response.json({ ok: true, version: deps.version }));
  app.all("*", () => Response.json({ error: "This is the MCP gateway: its endpoint is /mcp." }, { status: 404 }));
  app.onError((error, c) => answerProblem(error, c.get("requestId"), deps.log));
  return app;
}
