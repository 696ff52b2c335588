/** Who calls: sessions, keys, invites, and what the server knows about the bearer of one. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { Role } from "./role.ts";

export const Bootstrap = z.strictObject({ sessionId: z.string().max(200).optional() }).meta({ id: "Bootstrap" });
export const Session = z
  .object({
    sessionId: z.string().describe("the bearer token; keep it secret"),
    workspaceId: Id,
    actorId: Id,
    clientId: Id,
    role: Role,
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof Session>;

export const ExchangeCode = z.strictObject({ code: z.string().min(1).max(200) }).meta({ id: "ExchangeCode" });

export const Caller = z
  .object({ workspaceId: Id, actorId: Id, clientId: Id, role: Role, installationAdmin: z.boolean() })
  .meta({ id: "Caller", description: "what the server derives from the bearer; nothing a caller says can change it" });
export type Caller = z.infer<typeof Caller>;

export const CreateKey = z
  .strictObject({
    workspaceId: Id,
    role: Role,
    label: z.string().min(1).max(100),
    actorId: Id.optional(),
    clientId: Id.optional(),
    mayElicit: z.boolean().optional(),
  })
  .meta({ id: "CreateKey" });
export type CreateKey = z.infer<typeof CreateKey>;

export const ApiKey = z
  .object({
    keyId: Id,
    workspaceId: Id,
    actorId: Id,
    clientId: Id,
    role: Role,
    label: z.string(),
    mayElicit: z.boolean(),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.optional(),
  })
  .meta({ id: "ApiKey" });
export type ApiKey = z.infer<typeof ApiKey>;
export const CreatedKey = ApiKey.extend({ token: z.string().describe("shown this once") }).meta({ id: "CreatedKey" });
export type CreatedKey = z.infer<typeof CreatedKey>;

export const CreateInvite = z
  .strictObject({
    workspaceId: Id,
    role: Role,
    expiresInMs: z
      .int()
      .min(1_000)
      .max(30 * 86_400_000)
      .optional(),
  })
  .meta({ id: "CreateInvite" });
export type CreateInvite = z.infer<typeof CreateInvite>;
export const Invite = z
  .object({
    inviteId: Id,
    workspaceId: Id,
    role: Role,
    code: z.string().describe("single use; shown this once"),
    url: z.string(),
    expiresAt: Timestamp,
  })
  .meta({ id: "Invite" });
export type Invite = z.infer<typeof Invite>;

export const AuditEntry = z
  .object({
    auditId: Id,
    sequence: z.int(),
    workspaceId: Id,
    at: Timestamp,
    actorId: Id,
    clientId: Id,
    action: z.string(),
    subject: z.string().describe("id of what it was done to"),
    detail: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

export const Health = z
  .object({
    ok: z.boolean(),
    version: z.string(),
    store: z.object({ kind: z.string(), ok: z.boolean() }),
    runtimes: z.array(z.object({ id: z.string(), available: z.boolean() })),
    workers: z.int().describe("workers seen in the last half minute"),
  })
  .meta({ id: "Health" });
export type Health = z.infer<typeof Health>;
