/** How callers come and go: anonymous sessions, codes traded for sessions, logging out. */
import { AppError } from "@executor/contracts/error";
import type { NewBearer } from "@executor/core/store/verbs/identity";
import type { AppDeps } from "../deps.ts";
import { actorOf, type Authenticator } from "../http/authenticate.ts";
import { RateLimit } from "../http/rate-limit.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { presentSession } from "../present/present-bearer.ts";
import { newToken } from "../tokens.ts";

export function authRoutes(
  deps: AppDeps,
  authenticator: Authenticator,
): HandlersOf<"bootstrap" | "exchange" | "logout" | "whoami"> {
  const { store, host, limits, env } = deps;
  const newSessions = new RateLimit(limits.bootstrapsPerMinute, () => host.monotonicMs());

  return {
    async bootstrap({ body, remoteAddress }) {
      const known = body.sessionId === undefined ? null : await authenticator.find(body.sessionId);
      if (known?.kind === "session" && body.sessionId !== undefined)
        return { status: 200, body: presentSession(known, body.sessionId) };
      if (!env.anonymous)
        throw new AppError(
          "auth.anonymous_off",
          "This installation gives no anonymous sessions. Ask its owner for an invite or a key. If you own it: the token in the file owner-key of the data directory is an admin's, and EXECUTOR_ANONYMOUS=1 switches anonymous sessions on.",
        );
      newSessions.take(remoteAddress, "new sessions");
      // Always a fresh id: one that a caller chose could be one that somebody else knows.
      const token = newToken("session");
      const workspaceId = host.newId("ws");
      const bearer = newSession(deps, token, { workspaceId, label: "anonymous session" });
      const row = await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
      return { status: 201, body: presentSession(row, token) };
    },

    async exchange({ body, remoteAddress }) {
      newSessions.take(remoteAddress, "new sessions");
      const token = newToken("session");
      // The code decides workspace, role and installationAdmin; what stands here is replaced.
      const bearer = newSession(deps, token, { workspaceId: "", label: "session by code" });
      const row = await store.redeemCode({ hash: host.sha256(body.code), bearer, now: host.now() });
      return { status: 201, body: presentSession(row, token) };
    },

    async logout({ caller }) {
      await store.revokeBearer({
        bearerId: caller.bearerId,
        workspaceId: caller.workspaceId,
        by: actorOf(caller),
        now: host.now(),
      });
      authenticator.forget(caller.bearerId);
      return { status: 204 };
    },

    async whoami({ caller }) {
      const { bearerId: _, mayElicit: __, ...body } = caller;
      return { status: 200, body };
    },
  };
}

function newSession(
  { host }: AppDeps,
  token: string,
  { workspaceId, label }: { workspaceId: string; label: string },
): NewBearer {
  return {
    bearerId: host.newId("session"),
    hash: host.sha256(token),
    kind: "session",
    workspaceId,
    actorId: host.newId("actor"),
    clientId: host.newId("client"),
    role: "admin",
    label,
    installationAdmin: 0,
    mayElicit: 0,
  };
}
