/**
 * What a sign-in leaves behind: the tokens, and everything a refresh needs, so that no discovery stands between an expired
 * token and a call. It is kept sealed as JSON and checked when it is read back. Bound to the issuer that gave it: tokens and
 * clients of one authorization server never go to another.
 */
import { z } from "zod";

export const ClientAuthMethod = z.enum(["none", "client_secret_post", "client_secret_basic"]);
export type ClientAuthMethod = z.infer<typeof ClientAuthMethod>;

export const OauthSecret = z.object({
  accessToken: z.string().min(1),
  refreshToken: z.string().min(1).optional(),
  /** Milliseconds since 1970; absent when the provider does not say. */
  expiresAt: z.number().optional(),
  tokenType: z.literal("Bearer"),
  /** What was granted, separated by spaces; what was asked for when the provider does not say. */
  scope: z.string().optional(),
  issuer: z.string().min(1),
  tokenEndpoint: z.string().min(1),
  clientId: z.string().min(1),
  clientSecret: z.string().min(1).optional(),
  clientAuthMethod: ClientAuthMethod,
  /** RFC 8707, as the resource's metadata spells it. */
  resource: z.string().optional(),
});
export type OauthSecret = z.infer<typeof OauthSecret>;

/** A client as an authorization server knows it. */
export const OauthClient = z.object({
  clientId: z.string().min(1),
  clientSecret: z.string().min(1).optional(),
  authMethod: ClientAuthMethod,
  /** For registered ones: what they were registered for, and when their secret ends (milliseconds since 1970). */
  redirectUri: z.string().optional(),
  secretExpiresAt: z.number().optional(),
});
export type OauthClient = z.infer<typeof OauthClient>;
