/** Sign-ins with the providers of sources: begin one, and what a provider sends a person back to. */
import { AppError } from "@executor/contracts/error";
import { clientMetadataDocument } from "@executor/sources/oauth/register-client";
import { settleCredentialAsks } from "../credentials/settle-asks.ts";
import type { AppDeps } from "../deps.ts";
import type { Bearer } from "../http/authenticate.ts";
import { ownBase } from "../http/own-base.ts";
import type { HandlersOf } from "../http/route-types.ts";
import { CONSOLE_POLICY } from "../http/security-headers.ts";

export function oauthRoutes(
  deps: AppDeps,
): HandlersOf<"connectOauth" | "finishOauth" | "oauthCallback" | "oauthClientMetadata"> {
  const base = ownBase(deps.env);
  const signIns = deps.sources.signIns(base);
  const isShared = !deps.env.isLoopback || deps.env.publicUrl !== null;
  const finish = async (params: URLSearchParams, caller: Bearer | null): Promise<void> => {
    const { slot, by } = await signIns.finish(params, caller);
    await settleCredentialAsks(deps, slot, by);
  };
  return {
    async connectOauth({ caller, body }) {
      const { authorizationUrl, expiresAt } = await signIns.start(body, caller);
      return { status: 200, body: { authorizationUrl, expiresAt: new Date(expiresAt).toISOString() } };
    },

    async finishOauth({ caller, body }) {
      await finish(new URLSearchParams(body.query), caller);
      return { status: 200, body: { connected: true } };
    },

    /**
     * Open to all. On an installation of one machine the state is enough. Where people share one, whoever holds the link could be
     * another person: the page ends the sign-in with the token of whoever looks at it.
     */
    async oauthCallback({ query }) {
      if (isShared) return callbackPage();
      const params = new URLSearchParams(
        Object.entries(query).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
      );
      try {
        await finish(params, null);
        return page(200, "Connected", "You can close this page. What waited for it goes on.");
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        deps.log.warn("oauth.refused", { code: error.code });
        return page(400, "Not connected", error.detail);
      }
    },

    async oauthClientMetadata() {
      return { status: 200, body: clientMetadataDocument(base) as unknown as Record<string, unknown> };
    },
  };
}

function callbackPage(): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign-in · Executor</title><link rel="stylesheet" href="/style.css">
<script src="/oauth-callback.js" type="module"></script></head><body><main><h1>Sign-in</h1></main></body></html>
`;
  const headers = { "content-type": "text/html; charset=utf-8", "content-security-policy": CONSOLE_POLICY };
  return new Response(html, { status: 200, headers });
}

/** Text only: nothing a provider says can become part of the page. */
function page(status: 200 | 400, title: string, text: string): Response {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)} · Executor</title></head>
<body><main><h1>${escape(title)}</h1><p role="status">${escape(text)}</p></main></body></html>
`;
  return new Response(html, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

const escape = (text: string): string =>
  text
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
    .replace(/[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g, " ");
