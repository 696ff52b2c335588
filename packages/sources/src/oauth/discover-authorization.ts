/**
 * Where a source signs people in: from the resource's own metadata (RFC 9728) to its authorization server's (RFC 8414 or OpenID
 * discovery). What configuration says comes before what discovery finds. Every address is checked before it is used, and is
 * only ever fetched through the guard.
 */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch, PublicAuth } from "@executor/core/ports/source";
import { readAuthChallenge } from "./auth-challenge.ts";
import { fetchJson } from "./fetch-json.ts";
import { checkOauthUrl, isLoopbackUrl, type UrlRules } from "./oauth-url.ts";

export interface Authorization {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  registrationEndpoint: string | null;
  /** As the resource's metadata spells it; RFC 8707. */
  resource: string | null;
  scopes: string[];
  tokenAuthMethods: string[];
  /** Answers carry `iss` (RFC 9207). */
  sendsIssuer: boolean;
  takesClientDocuments: boolean;
  offersOfflineAccess: boolean;
  /** The issuer's own metadata said so. False: configuration says it, and may claim any issuer. */
  isDiscovered: boolean;
}

export interface DiscoverRequest {
  resourceUrl: string;
  auth: PublicAuth;
  /** Of the answer that asked for a sign-in. */
  wwwAuthenticate?: string | null;
  /** What a call turned out to need; comes before everything else that names scopes. */
  scopes?: readonly string[] | undefined;
}

/** Does the resource say, at its well-known place, where people sign in? */
export async function namesSignIn(fetch: GuardedFetch, resourceUrl: string): Promise<boolean> {
  const found = await findResource(fetch, resourceUrl, undefined, { allowLoopback: isLoopbackUrl(resourceUrl) });
  return found?.issuer !== undefined;
}

export async function discoverAuthorization(fetch: GuardedFetch, request: DiscoverRequest): Promise<Authorization> {
  const { auth } = request;
  const configured = [auth["issuer"], auth["authorizationUrl"], auth["tokenUrl"]].filter(
    (url) => typeof url === "string",
  );
  const rules: UrlRules = { allowLoopback: isLoopbackUrl(request.resourceUrl) || configured.some(isLoopbackUrl) };
  const challenge = readAuthChallenge(request.wwwAuthenticate);
  const explicit = fromConfiguration(auth, rules);
  if (explicit) return { ...explicit, scopes: merge(request.scopes, explicit.scopes) };
  const protectedResource = await findResource(fetch, request.resourceUrl, challenge.resourceMetadata, rules);
  const issuer = text(auth["issuer"]) ?? protectedResource?.issuer ?? new URL(request.resourceUrl).origin;
  const server = await findServer(fetch, checkOauthUrl(issuer, "The issuer", rules), rules);
  if (!server)
    throw new AppError(
      "oauth.unsupported",
      `${new URL(issuer).host} does not say where people sign in. Give the source's auth authorizationUrl and tokenUrl.`,
    );
  const scopes =
    request.scopes && request.scopes.length > 0
      ? [...request.scopes]
      : (challenge.scopes ?? list(auth["scopes"]) ?? protectedResource?.scopes ?? []);
  return { ...server, resource: text(auth["resource"]) ?? protectedResource?.resource ?? null, scopes };
}

function fromConfiguration(auth: PublicAuth, rules: UrlRules): Authorization | null {
  const [authorizationUrl, tokenUrl] = [text(auth["authorizationUrl"]), text(auth["tokenUrl"])];
  if (authorizationUrl === undefined || tokenUrl === undefined) return null;
  return {
    issuer: text(auth["issuer"]) ?? new URL(tokenUrl).origin,
    authorizationEndpoint: checkOauthUrl(authorizationUrl, "authorizationUrl", rules),
    tokenEndpoint: checkOauthUrl(tokenUrl, "tokenUrl", rules),
    registrationEndpoint: null,
    resource: text(auth["resource"]) ?? null,
    scopes: list(auth["scopes"]) ?? [],
    tokenAuthMethods: ["client_secret_basic", "client_secret_post", "none"],
    sendsIssuer: false,
    takesClientDocuments: false,
    offersOfflineAccess: false,
    isDiscovered: false,
  };
}

interface ProtectedResource {
  resource: string;
  issuer: string | undefined;
  scopes: string[] | undefined;
}

/** What the challenge names, then the well-known places: with the path of the resource, then without. */
async function findResource(
  fetch: GuardedFetch,
  resourceUrl: string,
  named: string | undefined,
  rules: UrlRules,
): Promise<ProtectedResource | null> {
  const { origin, pathname } = new URL(resourceUrl);
  const path = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  const places =
    named === undefined
      ? [
          ...new Set([
            `${origin}/.well-known/oauth-protected-resource${path}`,
            `${origin}/.well-known/oauth-protected-resource`,
          ]),
        ]
      : [checkOauthUrl(named, "resource_metadata", rules)];
  for (const place of places) {
    const answer = await fetchJson(fetch, place);
    if (!("found" in answer)) continue;
    const resource = text(answer.found["resource"]);
    if (resource === undefined || !speaksFor(resource, resourceUrl))
      throw new AppError(
        "oauth.unsupported",
        `The metadata of ${new URL(resourceUrl).host} is about another resource than ${resourceUrl.slice(0, 200)}, so it is not believed.`,
      );
    return {
      resource,
      issuer: list(answer.found["authorization_servers"])?.[0],
      scopes: list(answer.found["scopes_supported"]),
    };
  }
  return null;
}

/** The same origin, and the path of the resource or one above it. */
function speaksFor(resource: string, url: string): boolean {
  const [stated, asked] = [URL.parse(resource), URL.parse(url)];
  if (!stated || !asked || stated.origin !== asked.origin) return false;
  const above = stated.pathname.endsWith("/") ? stated.pathname : `${stated.pathname}/`;
  return `${asked.pathname}/`.startsWith(above) || asked.pathname === stated.pathname;
}

type Server = Omit<Authorization, "resource" | "scopes">;

async function findServer(fetch: GuardedFetch, issuer: string, rules: UrlRules): Promise<Server | null> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname === "/" ? "" : pathname.replace(/\/$/, "");
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  for (const place of new Set(places)) {
    const answer = await fetchJson(fetch, place);
    if ("found" in answer) return readServer(answer.found, issuer, rules);
  }
  return null;
}

function readServer(found: Record<string, unknown>, asked: string, rules: UrlRules): Server {
  const issuer = text(found["issuer"]);
  if (issuer !== asked && issuer?.replace(/\/$/, "") !== asked.replace(/\/$/, ""))
    throw new AppError(
      "oauth.unsupported",
      `The metadata of ${new URL(asked).host} names another issuer, so it is not believed.`,
    );
  const endpoint = (name: string): string | null => {
    const url = text(found[name]);
    return url === undefined ? null : checkOauthUrl(url, name, rules);
  };
  const [authorizationEndpoint, tokenEndpoint] = [endpoint("authorization_endpoint"), endpoint("token_endpoint")];
  if (authorizationEndpoint === null || tokenEndpoint === null)
    throw new AppError(
      "oauth.unsupported",
      `The metadata of ${new URL(asked).host} lacks an authorization or token endpoint.`,
    );
  const methods = list(found["code_challenge_methods_supported"]);
  if (!methods?.includes("S256"))
    throw new AppError(
      "oauth.unsupported",
      `${new URL(asked).host} does not say that it supports PKCE (S256), without which a sign-in is not safe.`,
    );
  return {
    issuer: issuer ?? asked,
    authorizationEndpoint,
    tokenEndpoint,
    registrationEndpoint: endpoint("registration_endpoint"),
    tokenAuthMethods: list(found["token_endpoint_auth_methods_supported"]) ?? ["client_secret_basic"],
    sendsIssuer: found["authorization_response_iss_parameter_supported"] === true,
    takesClientDocuments: found["client_id_metadata_document_supported"] === true,
    isDiscovered: true,
    offersOfflineAccess: list(found["scopes_supported"])?.includes("offline_access") ?? false,
  };
}

const merge = (first: readonly string[] = [], second: readonly string[]): string[] => [
  ...new Set([...first, ...second]),
];
const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const list = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string").slice(0, 500) : undefined;
