/**
 * Who calls our MCP endpoint: a key or session of ours, a token of the configured authorization server, or, only where nobody but
 * this machine's user can be on the other side, nobody in particular, as an agent of the local workspace.
 */
import type { AppError } from "@executor/contracts/error";
import { type Authenticator, type Bearer, readBearer } from "../http/authenticate.ts";
import { isLoopbackName } from "../env.ts";
import { looksLikeToken } from "../tokens.ts";
import type { McpParts } from "./mcp-parts.ts";
import type { OauthTokens } from "./oauth-tokens.ts";

export type FindCaller = (request: Request, remoteAddress: string | null) => Promise<Bearer>;

/** Set by whatever stands between a client and us: then it is not this machine's user who calls. */
const FORWARDED =
  /^(forwarded|via|x-forwarded-.*|x-real-ip|x-client-ip|x-original-.*|cf-connecting-ip|true-client-ip|fastly-client-ip|tailscale-.*|ngrok-.*)$/;

export function createCallerFinder(
  { deps }: McpParts,
  authenticator: Authenticator,
  oauth: OauthTokens | null,
): FindCaller {
  const { env } = deps;
  return async (request, remoteAddress) => {
    const authorization = request.headers.get("authorization") ?? undefined;
    if (authorization === undefined) {
      const workspaceId = mayBeAnonymous(env, request, remoteAddress) ? deps.localWorkspaceId() : null;
      if (workspaceId !== null) return anonymousAgent(workspaceId);
    }
    const token = readBearer(authorization);
    if (oauth && !looksLikeToken(token)) return await oauth.verify(token);
    return await authenticator.authenticate(authorization);
  };
}

function mayBeAnonymous(
  { mcp, isLoopback, publicUrl }: McpParts["deps"]["env"],
  request: Request,
  remoteAddress: string | null,
): boolean {
  if (mcp.requireAuth || mcp.oauth || !isLoopback || publicUrl !== null) return false;
  const host = (request.headers.get("host") ?? "").replace(/:\d+$/, "");
  const isHere = remoteAddress === null || isLoopbackName(remoteAddress.replace(/^::ffff:/, ""));
  return isLoopbackName(host) && isHere && ![...request.headers.keys()].some((name) => FORWARDED.test(name));
}

/** No row stands behind it: it can be neither marked nor given a role. */
const anonymousAgent = (workspaceId: string): Bearer => ({
  bearerId: "mcp-local",
  workspaceId,
  actorId: "mcp-local",
  clientId: "mcp-local",
  role: "agent",
  installationAdmin: false,
  mayElicit: false,
});

/** 401 and 403 say where a token can be had. */
export function challengeOf(error: AppError, metadataUrl: string | null): string | null {
  const resource = metadataUrl === null ? "" : ` resource_metadata="${metadataUrl}"`;
  if (error.code === "auth.required") return `Bearer${resource}`;
  if (error.code === "auth.invalid")
    return `Bearer error="invalid_token", error_description="${error.detail.replace(/["\\\r\n]/g, "'").slice(0, 200)}"${resource && `,${resource}`}`;
  if (error.code === "auth.forbidden")
    return `Bearer error="insufficient_scope", scope="executor:agent"${resource && `,${resource}`}`;
  return null;
}
