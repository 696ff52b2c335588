/**
 * Access tokens of the configured authorization server, made out to us: signature by its published keys, issuer, audience, time.
 * What is in them says who calls (issuer and subject), with which role (scopes), in which workspace (the configured mapping).
 * A token is looked at here and goes nowhere else.
 */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { AppError } from "@executor/contracts/error";
import type { Role } from "@executor/contracts/role";
import type { Bearer } from "../http/authenticate.ts";
import type { McpParts } from "./mcp-parts.ts";
import type { AuthorizationServer } from "./oauth-metadata.ts";
import type { OauthSettings } from "./mcp-settings.ts";

export interface OauthTokens {
  verify(token: string): Promise<Bearer>;
}

/** Asymmetric only: with a shared secret everybody who can check a token could make one. */
export const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
export const SCOPES: Record<string, Role> = {
  "executor:agent": "agent",
  "executor:reviewer": "reviewer",
  "executor:admin": "admin",
};
/** What jose says of the key set itself; `ERR_JOSE_GENERIC` is an answer that is not 200 or not JSON. A client must not drop its token for it. */
const KEYS_UNREADABLE = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);
const MAX_TOKEN_LENGTH = 8_000;
const CLOCK_TOLERANCE_S = 30;
const JWKS = { cacheMaxAge: 10 * 60_000, cooldownDuration: 5_000, timeoutDuration: 5_000 };

export function createOauthTokens(
  { deps }: Pick<McpParts, "deps">,
  settings: OauthSettings,
  { server, resource }: { server: AuthorizationServer; resource: string },
): OauthTokens {
  const audience = settings.audience ?? resource;
  let keys: ReturnType<typeof createRemoteJWKSet> | null = null;
  let keysUrl = "";
  const keySet = async (): Promise<ReturnType<typeof createRemoteJWKSet>> => {
    const { jwks_uri: url } = await server.metadata();
    if (!keys || keysUrl !== url) keys = createRemoteJWKSet(new URL(url), JWKS);
    keysUrl = url;
    return keys;
  };

  return {
    async verify(token) {
      if (token.length > MAX_TOKEN_LENGTH || token.split(".").length !== 3) throw invalid("it is no signed token");
      const keyset = await keySet();
      const { payload } = await jwtVerify(token, keyset, {
        issuer: settings.issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub", "iss", "aud"],
      }).catch((error: unknown) => refuse(error));
      return toBearer(payload);
    },
  };

  function toBearer(payload: JWTPayload): Bearer {
    const role = roleOf(payload);
    if (role === null)
      throw new AppError(
        "auth.forbidden",
        "The token has none of the scopes executor:agent, executor:reviewer, executor:admin.",
      );
    const workspaceId = workspaceOf(settings.workspaces, payload, deps.localWorkspaceId());
    if (workspaceId === null)
      throw new AppError("auth.forbidden", "This token leads to no workspace here (MCP_OAUTH_WORKSPACES).");
    const client = clientOf(payload);
    const actor = deps.host.sha256(JSON.stringify([payload.iss, payload.sub])).slice(0, 32);
    const clientHash = deps.host.sha256(JSON.stringify([payload.iss, client])).slice(0, 32);
    return {
      bearerId: `oauth_${actor}_${clientHash}`,
      workspaceId,
      actorId: `actor_oauth_${actor}`,
      clientId: `client_oauth_${clientHash}`,
      role,
      installationAdmin: false,
      mayElicit: client !== "" && settings.elicitClients.includes(client),
    };
  }

  function refuse(error: unknown): never {
    if (!(error instanceof errors.JOSEError) || KEYS_UNREADABLE.has(error.code)) {
      deps.log.warn("mcp.keys_unreachable", { reason: String(error).slice(0, 300) });
      throw new AppError(
        "store.unavailable",
        "The authorization server's keys cannot be read now. Try again in a moment.",
      );
    }
    throw invalid(error.code === "ERR_JWT_EXPIRED" ? "it has expired" : "it was not made by that server for this one");
  }
}

const invalid = (why: string): AppError =>
  new AppError("auth.invalid", `The access token is not valid here: ${why}. Get a new one.`);

function roleOf({ scope, scp }: JWTPayload): Role | null {
  const list =
    typeof scope === "string"
      ? scope.split(" ")
      : Array.isArray(scp)
        ? scp
        : typeof scp === "string"
          ? scp.split(" ")
          : [];
  const found = (["admin", "reviewer", "agent"] as const).find((role) => list.includes(`executor:${role}`));
  return found ?? null;
}

/** The most particular entry that fits: by a claim before `*`. */
function workspaceOf(map: Record<string, string>, payload: JWTPayload, local: string | null): string | null {
  const fits = (entry: string): boolean => {
    const at = entry.indexOf("=");
    const claim = Object.hasOwn(payload, entry.slice(0, at)) ? payload[entry.slice(0, at)] : undefined;
    return (
      at > 0 &&
      [claim]
        .flat()
        .some((value) => ["string", "number"].includes(typeof value) && String(value) === entry.slice(at + 1))
    );
  };
  const key = Object.keys(map).find(fits) ?? "*";
  const found = Object.hasOwn(map, key) ? map[key] : undefined;
  return found === "local" ? local : (found ?? null);
}

function clientOf(payload: JWTPayload): string {
  const client = payload["client_id"] ?? payload["azp"];
  return typeof client === "string" ? client : "";
}
