/** Where tools come from. One shape serves env, REST and guest; `kind`, `endpoint`, `specUrl` are other names of `type`, `url`, `spec`. */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { ToolApproval } from "./tool.ts";

export const SourceType = z.enum(["mcp", "openapi", "graphql"]);
export type SourceType = z.infer<typeof SourceType>;

const secret = z.string().min(1).max(100_000);
export const SourceAuth = z.union([
  z.strictObject({ mode: z.literal("static"), type: z.literal("bearer"), token: secret }),
  z.strictObject({
    mode: z.literal("static"),
    type: z.literal("apiKey"),
    header: z.string().optional(),
    query: z.string().optional(),
    cookie: z.string().optional(),
    value: secret,
  }),
  z.strictObject({ mode: z.literal("static"), type: z.literal("basic"), username: z.string(), password: secret }),
  z.looseObject({ mode: z.enum(["workspace", "actor"]), type: z.enum(["bearer", "apiKey", "basic", "oauth2"]) }),
]);
export type SourceAuth = z.infer<typeof SourceAuth>;

export const SourceDefinition = z.strictObject({
  type: SourceType,
  name: z.string().min(1).max(100),
  namespace: z.string().min(1).max(100).optional(),
  url: z.string().max(4_000).optional(),
  spec: z.string().max(4_000).optional(),
  baseUrl: z.string().max(4_000).optional(),
  defaultApproval: ToolApproval.optional(),
  defaultReadApproval: ToolApproval.optional(),
  defaultWriteApproval: ToolApproval.optional(),
  auth: SourceAuth.optional(),
  shared: z.boolean().optional(),
});
export type SourceDefinition = z.infer<typeof SourceDefinition>;

export const Source = SourceDefinition.omit({ auth: true })
  .extend({
    sourceId: Id,
    workspaceId: Id,
    health: z.enum(["indexing", "ok", "failing"]),
    toolCount: z.int(),
    warnings: z.array(z.string()),
    lastError: z.string().optional(),
    indexedAt: Timestamp.optional(),
  })
  .meta({ id: "Source" });
export type Source = z.infer<typeof Source>;
