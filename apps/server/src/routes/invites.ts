/** Invites: single-use codes that let a second person join a workspace with a role. */
import type { AppDeps } from "../deps.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { toTime } from "../present/json.ts";
import { newToken } from "../tokens.ts";

const DEFAULT_EXPIRY_MS = 7 * 86_400_000;

export function inviteRoutes({ store, host, env }: AppDeps): HandlersOf<"createInvite"> {
  return {
    async createInvite({ caller, body }) {
      const code = newToken("invite");
      const inviteId = host.newId("invite");
      const now = host.now();
      const expiresAt = now + (body.expiresInMs ?? DEFAULT_EXPIRY_MS);
      const { workspaceId, actorId, clientId } = caller;
      const row = {
        codeId: inviteId,
        hash: host.sha256(code),
        kind: "invite",
        workspaceId,
        role: body.role,
        installationAdmin: 0,
        createdBy: actorId,
        createdAt: now,
        expiresAt,
      };
      await store.createCode({ code: row, by: { actorId, clientId }, now });
      // In the fragment: it never reaches a server's log or a Referer.
      return {
        status: 201,
        body: {
          inviteId,
          workspaceId,
          role: body.role,
          code,
          url: `${baseUrl()}/#invite=${code}`,
          expiresAt: toTime(expiresAt),
        },
      };
    },
  };

  function baseUrl(): string {
    if (env.publicUrl !== null) return env.publicUrl;
    const isAny = env.host === "0.0.0.0" || env.host === "::";
    const name = isAny ? "127.0.0.1" : env.host.includes(":") && !env.host.startsWith("[") ? `[${env.host}]` : env.host;
    return `http://${name}:${env.port}`;
  }
}
