/** Secret material bound to a source. Values go in and never come out: a descriptor is all anyone sees. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";

export const CredentialScope = z.enum(["workspace", "actor"]);
export type CredentialScope = z.infer<typeof CredentialScope>;

export const CreateCredential = z.strictObject({
  workspaceId: Id,
  sourceKey: z.string().min(1).max(100),
  scope: CredentialScope,
  actorId: Id.optional(),
  name: z.string().min(1).max(100).optional(),
  provider: z.enum(["managed", "env", "workos-vault"]).optional(),
  secretJson: z.record(z.string(), z.unknown()),
});
export type CreateCredential = z.infer<typeof CreateCredential>;

export const Credential = CreateCredential.omit({ secretJson: true })
  .extend({ credentialId: Id, hasSecret: z.boolean(), createdAt: Timestamp })
  .meta({ id: "Credential" });
export type Credential = z.infer<typeof Credential>;
