/**
 * The HTTP server as a function of its parts: read this first. A request passes, in order: its id and log line, the
 * headers of its answer, the guard (Host and Origin), then a row of the route table, or the console's files.
 */
import { Hono } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { AppDeps } from "./deps.ts";
import { createHintHub } from "./hint-hub.ts";
import type { AppTypes } from "./http/app-types.ts";
import { createAuthenticator } from "./http/authenticate.ts";
import { createGuard } from "./http/guard.ts";
import { answerProblem } from "./http/problem.ts";
import { RateLimit } from "./http/rate-limit.ts";
import { logRequests } from "./http/request-log.ts";
import type { Handlers } from "./http/route-types.ts";
import { setSecurityHeaders } from "./http/security-headers.ts";
import { createFileServer } from "./http/serve-files.ts";
import { serveRoutes } from "./http/serve-routes.ts";
import { answerUnmatched } from "./http/unmatched.ts";
import { ownBase } from "./http/own-base.ts";
import { guestRoutes } from "./internal/guest-routes.ts";
import { serveMcp } from "./mcp/mcp-endpoint.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { auditRoutes } from "./routes/audit.ts";
import { authRoutes } from "./routes/auth.ts";
import { credentialRoutes } from "./routes/credentials.ts";
import { docsRoutes } from "./routes/docs.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { interactionRoutes } from "./routes/interactions.ts";
import { inviteRoutes } from "./routes/invites.ts";
import { keyRoutes } from "./routes/keys.ts";
import { oauthRoutes } from "./routes/oauth.ts";
import { policyRoutes } from "./routes/policies.ts";
import { runtimeRoutes } from "./routes/runtimes.ts";
import { sourceRoutes } from "./routes/sources.ts";
import { taskRoutes } from "./routes/tasks.ts";
import { toolRoutes } from "./routes/tools.ts";
import { typecheckRoutes } from "./routes/typecheck.ts";

export function createApp(deps: AppDeps): Hono<AppTypes> {
  const { host, limits, log, shutdown } = deps;
  const authenticator = createAuthenticator(deps);
  const hub = createHintHub(deps.store, authenticator.forget);
  shutdown.addEventListener("abort", hub.close);
  const guard = createGuard(deps.env, deps.callbackHosts);
  const serveFile = createFileServer(deps.webRoot);

  const handlers: Handlers = {
    ...healthRoutes(deps),
    ...docsRoutes(deps),
    ...authRoutes(deps, authenticator),
    ...keyRoutes(deps, authenticator),
    ...inviteRoutes(deps),
    ...runtimeRoutes(deps),
    ...taskRoutes(deps, hub),
    ...eventRoutes(deps, hub, authenticator),
    ...approvalRoutes(deps),
    ...interactionRoutes(deps),
    ...policyRoutes(deps),
    ...sourceRoutes(deps),
    ...credentialRoutes(deps),
    ...oauthRoutes(deps),
    ...toolRoutes(deps),
    ...typecheckRoutes(deps),
    ...auditRoutes(deps),
  };

  const app = new Hono<AppTypes>({ router: new TrieRouter() });
  app.use(logRequests(deps), setSecurityHeaders(), async function checkGuard(c, next) {
    guard.check(c.req.raw.headers, c.req.path);
    await next();
  });
  const rateLimit = new RateLimit(limits.requestsPerMinute, () => host.monotonicMs());
  serveRoutes(app, handlers, { authenticator, rateLimit, limits });
  const base = ownBase(deps.env);
  serveMcp(app, { deps, hub, base, consoleBase: base }, { authenticator, rateLimit });
  app.route("/", guestRoutes({ ...deps, hub }));
  app.all("/api", (c) => answerUnmatched(c.req.method, c.req.path));
  app.all("/api/*", (c) => answerUnmatched(c.req.method, c.req.path));
  app.all("*", (c) => {
    c.set("route", "file");
    return serveFile(c.req.method, c.req.path, c.req.header("accept-encoding"));
  });
  app.onError((error, c) => answerProblem(error, c.get("requestId"), log));
  return app;
}
