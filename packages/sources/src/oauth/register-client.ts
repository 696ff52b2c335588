/**
 * Who we are to an authorization server: the client that was set up by hand, else the document that describes us (where the
 * server takes those), else one that is registered on the spot (RFC 7591).
 */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import type { Authorization } from "./discover-authorization.ts";
import { MAX_JSON_BYTES, parseObject } from "./fetch-json.ts";
import { type ClientAuthMethod, OauthClient } from "./oauth-secret.ts";
import { isLoopbackUrl } from "./oauth-url.ts";
import { cleanProviderText, describeProviderError } from "./provider-text.ts";

export interface ClientIdentity {
  /** Set up by hand; null when there is none. */
  manual: { clientId: string; clientSecret?: string | undefined } | null;
  /** Https address of the document that describes us, if there is one. */
  documentUrl: string | null;
  redirectUri: string;
}

const CLIENT_NAME = "Executor";
const TIMEOUT_MS = 15_000;

/** Where an installation with a public address shows its own. */
export const clientDocumentUrl = (base: string): string => `${base}/oauth/client-metadata.json`;

/** What stands there. */
export function clientMetadataDocument(base: string): Record<string, unknown> {
  return {
    client_id: clientDocumentUrl(base),
    client_name: CLIENT_NAME,
    client_uri: base,
    redirect_uris: [`${base}/oauth/callback`],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** Null: nobody knows us yet, so we must be registered. */
export function knownClient(
  server: Authorization,
  { manual, documentUrl, redirectUri }: ClientIdentity,
): OauthClient | null {
  if (manual) return { ...manual, authMethod: chooseMethod(server, manual.clientSecret !== undefined), redirectUri };
  if (server.takesClientDocuments && documentUrl !== null)
    return { clientId: documentUrl, authMethod: "none", redirectUri };
  return null;
}

export async function registerClient(
  fetch: GuardedFetch,
  server: Authorization,
  { redirectUri }: ClientIdentity,
): Promise<OauthClient> {
  const host = new URL(server.issuer).host;
  if (server.registrationEndpoint === null)
    throw new AppError(
      "oauth.unsupported",
      `${host} registers no clients by itself. Register one there with the redirect address ${redirectUri}, and give the source's auth its clientId.`,
    );
  const response = await fetch(server.registrationEndpoint, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      client_name: CLIENT_NAME,
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: chooseMethod(server, false),
      application_type: isLoopbackUrl(redirectUri) ? "native" : "web",
    }),
    redirect: "error",
    maxBytes: MAX_JSON_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  const answer = parseObject(await response.text());
  const { client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: method } = answer ?? {};
  if ((response.status !== 200 && response.status !== 201) || typeof clientId !== "string") {
    const said = describeProviderError(
      String(answer?.["error"] ?? response.status),
      cleanProviderText(answer?.["error_description"]),
    );
    throw new AppError(
      "oauth.unsupported",
      `${host} refused to register us: ${said}. Register a client there and give the source's auth its clientId.`,
    );
  }
  const hasSecret = typeof clientSecret === "string" && clientSecret !== "";
  const authMethod = typeof method === "string" ? method : chooseMethod(server, hasSecret);
  const client = { clientId, ...(hasSecret && { clientSecret }), authMethod, redirectUri, ...expiryOf(answer ?? {}) };
  const parsed = OauthClient.safeParse(client);
  if (!parsed.success)
    throw new AppError("oauth.unsupported", `${host} registered us in a way that is not supported here.`);
  return parsed.data;
}

function chooseMethod({ tokenAuthMethods }: Authorization, hasSecret: boolean): ClientAuthMethod {
  const wanted: ClientAuthMethod[] = hasSecret
    ? ["client_secret_basic", "client_secret_post"]
    : ["none", "client_secret_basic", "client_secret_post"];
  return wanted.find((method) => tokenAuthMethods.includes(method)) ?? (hasSecret ? "client_secret_basic" : "none");
}

function expiryOf(answer: Record<string, unknown>): { secretExpiresAt?: number } {
  const at = answer["client_secret_expires_at"];
  return typeof at === "number" && at > 0 ? { secretExpiresAt: at * 1_000 } : {};
}
