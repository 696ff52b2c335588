/** New tokens for old ones. A provider that rotates gives a new refresh token; one that does not keeps the old one good. */
import { AppError } from "@executor/contracts/error";
import type { GuardedFetch } from "@executor/core/ports/source";
import { OauthSecret } from "./oauth-secret.ts";
import { requestTokens } from "./request-tokens.ts";

export interface RefreshRequest {
  fetch: GuardedFetch;
  /** As it is kept. */
  secret: Record<string, unknown>;
  now: number;
  timeoutMs?: number;
}

/** Throws AppError `oauth.refused` when the sign-in is dead; anything else may pass. */
export async function refreshTokens({ fetch, secret, now, timeoutMs }: RefreshRequest): Promise<OauthSecret> {
  const parsed = OauthSecret.safeParse(secret);
  if (!parsed.success || parsed.data.refreshToken === undefined)
    throw new AppError("oauth.refused", "The sign-in cannot be renewed: there is no refresh token. Connect again.");
  const known = parsed.data;
  const { clientId, clientSecret, clientAuthMethod, tokenEndpoint, resource, refreshToken = "" } = known;
  const tokens = await requestTokens({
    fetch,
    tokenEndpoint,
    client: { clientId, clientSecret, authMethod: clientAuthMethod },
    params: { grant_type: "refresh_token", refresh_token: refreshToken, ...(resource !== undefined && { resource }) },
    now,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  const { expiresAt: _, ...kept } = known;
  return { ...kept, ...tokens };
}
