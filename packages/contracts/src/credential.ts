/** Secret material bound to a source. Values go in and never come out: a descriptor is all anyone sees. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";

export const CredentialScope = z.enum(["workspace", "actor"]);
export type CredentialScope = z.infer<typeof CredentialScope>;

/** The account that is used when a call names none. */
export const defaultAccount = "default";

export const CredentialProviderId = z.enum(["managed", "env", "workos-vault"]);

export const CreateCredential = z
  .strictObject({
    workspaceId: Id,
    /** Namespace of the source. */
    sourceKey: z.string().min(1).max(100),
    scope: CredentialScope,
    /** Default: the caller. */
    actorId: Id.optional(),
    /** Names the account where a source has several. */
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$/, "must be letters, digits and _ . @ - only")
      .optional(),
    provider: CredentialProviderId.optional(),
    /**
     * managed: `{token}`, `{value}`, `{username, password}`, or `{headers: {…}, query: {…}, cookies: {…}, env: {…}}`;
     * env: `{variable}` (its name starts with EXECUTOR_SECRET_); workos-vault: `{objectId}`, or a secret to keep there.
     */
    secretJson: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "CreateCredential" });
export type CreateCredential = z.infer<typeof CreateCredential>;

export const Credential = z
  .object({
    credentialId: Id,
    workspaceId: Id,
    sourceKey: z.string(),
    scope: CredentialScope,
    actorId: Id.optional(),
    name: z.string(),
    provider: CredentialProviderId,
    kind: z.enum(["static", "oauth2"]),
    hasSecret: z.boolean(),
    /** For oauth2: whether it still works. */
    status: z.enum(["ok", "expired"]),
    expiresAt: Timestamp.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    createdBy: Id,
  })
  .meta({ id: "Credential" });
export type Credential = z.infer<typeof Credential>;

export const ConnectOauth = z
  .strictObject({
    workspaceId: Id,
    sourceKey: z.string().min(1).max(100),
    scope: CredentialScope.optional(),
    name: z.string().min(1).max(100).optional(),
    /** The interaction this settles, if a task waits for it. */
    interactionId: Id.optional(),
  })
  .meta({ id: "ConnectOauth" });
export type ConnectOauth = z.infer<typeof ConnectOauth>;
export const FinishOauth = z
  .strictObject({
    workspaceId: Id,
    /** What the provider sent back, as it stands in the address: `?code=…&state=…`. */
    query: z.string().min(1).max(20_000),
  })
  .meta({ id: "FinishOauth" });
export const OauthRedirect = z
  .object({ authorizationUrl: z.string(), expiresAt: Timestamp })
  .meta({ id: "OauthRedirect" });
