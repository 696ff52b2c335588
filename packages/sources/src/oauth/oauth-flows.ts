/**
 * A sign-in from its start to its tokens. The state has 256 random bits, is kept as its hash, is used once and ends after ten
 * minutes; the verifier and the client travel sealed in the flow. The answer must come from the issuer that was asked.
 */
import { createHash, randomBytes } from "node:crypto";
import { z } from "zod";
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import { type Authorization, discoverAuthorization, type DiscoverRequest } from "./discover-authorization.ts";
import { OauthClient, type OauthSecret } from "./oauth-secret.ts";
import { cleanProviderText, describeProviderError } from "./provider-text.ts";
import { type ClientIdentity, knownClient, registerClient } from "./register-client.ts";
import { requestTokens } from "./request-tokens.ts";

export interface StartRequest extends DiscoverRequest {
  identity: ClientIdentity;
  /** Clients registered earlier with an issuer, and where new ones are kept. */
  clients: {
    find(issuer: string): Promise<OauthClient | null>;
    keep(issuer: string, client: OauthClient): Promise<void>;
  };
  now: number;
}

export interface StartedFlow {
  authorizationUrl: string;
  /** Under which the flow is kept; the state itself is in the URL only. */
  stateHash: string;
  expiresAt: number;
  /** To be sealed until the answer is there. */
  secretJson: string;
}

const FLOW_MS = 10 * 60_000;

/** What the answer needs. */
const FlowSecret = z.object({
  verifier: z.string(),
  client: OauthClient,
  issuer: z.string(),
  sendsIssuer: z.boolean(),
  tokenEndpoint: z.string(),
  redirectUri: z.string(),
  resource: z.string().nullable(),
  scope: z.string().nullable(),
});
type FlowSecret = z.infer<typeof FlowSecret>;

export async function startFlow(fetch: GuardedFetch, request: StartRequest): Promise<StartedFlow> {
  const server = await discoverAuthorization(fetch, request);
  const client = await clientFor(fetch, server, request);
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(48).toString("base64url");
  const scopes = server.offersOfflineAccess ? [...new Set([...server.scopes, "offline_access"])] : server.scopes;
  const scope = scopes.length > 0 ? scopes.join(" ") : null;
  const { redirectUri } = request.identity;
  const url = new URL(server.authorizationEndpoint);
  const params: Record<string, string | null> = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    scope,
    resource: server.resource,
    prompt: server.offersOfflineAccess ? "consent" : null,
  };
  for (const [name, value] of Object.entries(params)) if (value !== null) url.searchParams.set(name, value);
  const secret: FlowSecret = {
    verifier,
    client,
    issuer: server.issuer,
    sendsIssuer: server.sendsIssuer,
    tokenEndpoint: server.tokenEndpoint,
    redirectUri,
    resource: server.resource,
    scope,
  };
  return {
    authorizationUrl: url.href,
    stateHash: hashState(state),
    expiresAt: request.now + FLOW_MS,
    secretJson: JSON.stringify(secret),
  };
}

export const hashState = (state: string): string => createHash("sha256").update(`oauth-state:${state}`).digest("hex");

/** The flow was used up by whoever calls this: a second answer with the same state finds nothing. */
export async function finishFlow(
  fetch: GuardedFetch,
  params: URLSearchParams,
  secretJson: string,
  now: number,
): Promise<OauthSecret> {
  const flow = FlowSecret.parse(JSON.parse(secretJson));
  checkIssuer(params, flow);
  const error = params.get("error");
  if (error !== null)
    throw new AppError(
      "oauth.refused",
      `The provider did not sign you in: ${describeProviderError(error, cleanProviderText(params.get("error_description")))}.`,
    );
  const code = params.get("code");
  if (code === null || code === "")
    throw new AppError("oauth.refused", "The provider sent no code. Start the sign-in again.");
  const { client, tokenEndpoint, redirectUri, resource, verifier } = flow;
  const tokens = await requestTokens({
    fetch,
    tokenEndpoint,
    client,
    params: {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...(resource !== null && { resource }),
    },
    now,
  });
  return {
    ...tokens,
    tokenType: "Bearer",
    ...(tokens.scope === undefined && flow.scope !== null && { scope: flow.scope }),
    issuer: flow.issuer,
    tokenEndpoint,
    clientId: client.clientId,
    ...(client.clientSecret !== undefined && { clientSecret: client.clientSecret }),
    clientAuthMethod: client.authMethod,
    ...(resource !== null && { resource }),
  };
}

/** RFC 9207: before anything else of the answer is looked at. */
function checkIssuer(params: URLSearchParams, flow: FlowSecret): void {
  const issuer = params.get("iss");
  if (issuer === null && !flow.sendsIssuer) return;
  if (issuer !== flow.issuer)
    throw new AppError(
      "oauth.refused",
      "The answer does not come from the provider that was asked, so it was not used. Start the sign-in again.",
    );
}

async function clientFor(fetch: GuardedFetch, server: Authorization, request: StartRequest): Promise<OauthClient> {
  const { identity, clients, now } = request;
  const known = knownClient(server, identity);
  if (known) return known;
  const kept = server.isDiscovered ? await clients.find(server.issuer) : null;
  const isUsable =
    kept?.redirectUri === identity.redirectUri && (kept.secretExpiresAt ?? Number.POSITIVE_INFINITY) > now;
  if (kept && isUsable) return kept;
  const registered = await registerClient(fetch, server, identity);
  await clients.keep(server.issuer, registered);
  return registered;
}
