/** One request to a token endpoint, and its answer checked. Nothing of it is ever in an error: not the code, not a token. */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import { MAX_JSON_BYTES, parseObject } from "./fetch-json.ts";
import type { OauthClient } from "./oauth-secret.ts";
import { cleanProviderText, describeProviderError } from "./provider-text.ts";

export interface Tokens {
  accessToken: string;
  refreshToken?: string;
  expiresAt?: number;
  scope?: string;
}

export interface TokenRequest {
  fetch: GuardedFetch;
  tokenEndpoint: string;
  client: Pick<OauthClient, "clientId" | "clientSecret" | "authMethod">;
  params: Record<string, string>;
  now: number;
  timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;
/** The grant is spent, or we are not who it was given to: trying again is of no use. */
const FINAL = new Set([
  "invalid_grant",
  "invalid_client",
  "unauthorized_client",
  "unsupported_grant_type",
  "invalid_scope",
  "invalid_target",
  "access_denied",
]);

/** Throws `oauth.refused` when it is final, `egress.failed` when it may pass. */
export async function requestTokens(request: TokenRequest): Promise<Tokens> {
  const { fetch, tokenEndpoint, client, params, now, timeoutMs = TIMEOUT_MS } = request;
  const body = new URLSearchParams(params);
  const headers = new Headers({ "content-type": "application/x-www-form-urlencoded", accept: "application/json" });
  if (client.authMethod === "client_secret_basic")
    headers.set("authorization", basic(client.clientId, client.clientSecret ?? ""));
  else body.set("client_id", client.clientId);
  if (client.authMethod === "client_secret_post") body.set("client_secret", client.clientSecret ?? "");
  const response = await fetch(tokenEndpoint, {
    method: "POST",
    headers,
    body: body.toString(),
    redirect: "error",
    maxBytes: MAX_JSON_BYTES,
    timeoutMs,
  });
  const answer = parseObject(await response.text());
  if (response.status !== 200)
    throw refusal(response.status, answer, tokenEndpoint, [...Object.values(params), client.clientSecret]);
  return readTokens(answer ?? {}, tokenEndpoint, now);
}

/** RFC 6749 section 2.3.1: both parts are form-encoded first. */
const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString("base64")}`;
const formEncode = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);

function refusal(
  status: number,
  answer: Record<string, unknown> | null,
  endpoint: string,
  secrets: readonly (string | undefined)[],
): AppError {
  const host = new URL(endpoint).host;
  const error = typeof answer?.["error"] === "string" ? answer["error"] : null;
  if (error === null || (status >= 500 && !FINAL.has(error)) || status === 429)
    return new AppError("egress.failed", `${host} answered ${status} instead of giving tokens. Try again later.`);
  const said = describeProviderError(error, cleanProviderText(answer?.["error_description"], secrets));
  return new AppError("oauth.refused", `${host} gives no tokens: ${said}. Connect again.`, {
    data: { error: error.slice(0, 100) },
  });
}

function readTokens(answer: Record<string, unknown>, endpoint: string, now: number): Tokens {
  const {
    access_token: accessToken,
    token_type: type,
    refresh_token: refreshToken,
    expires_in: lifetime,
    scope,
  } = answer;
  if (
    typeof accessToken !== "string" ||
    accessToken === "" ||
    typeof type !== "string" ||
    type.toLowerCase() !== "bearer"
  )
    throw new AppError("oauth.refused", `${new URL(endpoint).host} answered without a bearer token.`);
  const seconds = Number(lifetime);
  return {
    accessToken,
    ...(typeof refreshToken === "string" && refreshToken !== "" && { refreshToken }),
    ...(Number.isFinite(seconds) && seconds > 0 && { expiresAt: now + seconds * 1_000 }),
    ...(typeof scope === "string" && { scope }),
  };
}
