/**
 * Where tools come from. One shape serves env, REST and guest; `kind`, `endpoint`, `specUrl` are other names of `type`, `url`, `spec`.
 * What a definition says about secrets is taken out before anything is stored (`auth` of mode static).
 */
import { z } from "zod";
import { Id, Timestamp } from "./id.ts";
import { ToolApproval } from "./tool.ts";

export const SourceType = z.enum(["mcp", "openapi", "graphql"]);
export type SourceType = z.infer<typeof SourceType>;

const secret = z.string().min(1).max(100_000);
const place = {
  header: z.string().min(1).max(200).optional(),
  query: z.string().min(1).max(200).optional(),
  cookie: z.string().min(1).max(200).optional(),
};
const hasOnePlace = (auth: { header?: string; query?: string; cookie?: string }): boolean =>
  [auth.header, auth.query, auth.cookie].filter((name) => name !== undefined).length === 1;
const onePlace = "apiKey needs exactly one of header, query, cookie: the name under which the key is sent";

const staticAuth = z.discriminatedUnion("type", [
  z.strictObject({ mode: z.literal("static"), type: z.literal("bearer"), token: secret }),
  z
    .strictObject({ mode: z.literal("static"), type: z.literal("apiKey"), ...place, value: secret })
    .refine(hasOnePlace, onePlace),
  z.strictObject({
    mode: z.literal("static"),
    type: z.literal("basic"),
    username: z.string().max(1_000),
    password: secret,
  }),
]);

const lookedUp = z.enum(["workspace", "actor"]);
const lookedUpAuth = z.discriminatedUnion("type", [
  z.strictObject({ mode: lookedUp, type: z.literal("bearer") }),
  z.strictObject({ mode: lookedUp, type: z.literal("apiKey"), ...place }).refine(hasOnePlace, onePlace),
  z.strictObject({ mode: lookedUp, type: z.literal("basic") }),
  z.strictObject({
    mode: lookedUp,
    type: z.literal("oauth2"),
    /** Pre-registered client; without one it registers itself where the provider allows that. */
    clientId: z.string().max(2_000).optional(),
    /** Taken out and sealed. */
    clientSecret: secret.optional(),
    issuer: z.string().max(2_000).optional(),
    authorizationUrl: z.string().max(2_000).optional(),
    tokenUrl: z.string().max(2_000).optional(),
    scopes: z.array(z.string().min(1).max(500)).max(200).optional(),
    /** RFC 8707; default: what discovery says. */
    resource: z.string().max(2_000).optional(),
  }),
]);
export const SourceAuth = z.discriminatedUnion("mode", [staticAuth, lookedUpAuth]);
export type SourceAuth = z.infer<typeof SourceAuth>;

const strings = z.record(z.string().min(1).max(200), z.string().max(4_000));

/** People decide by what they read: nothing may hide, turn around or break it. */
const plainName = z
  .string()
  .min(1)
  .max(100)
  .regex(
    /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]*$/u,
    "must not hold control, direction or invisible characters",
  );

const definitionFields = {
  type: SourceType,
  name: plainName,
  /** Root of the tools' paths and key of its credentials; default: made from the name. Never changes. */
  namespace: z
    .string()
    .regex(
      /^[a-z][a-z0-9_]{0,62}$/,
      "must start with a lower-case letter and hold lower-case letters, digits and _ only",
    )
    .optional(),
  /** MCP server or GraphQL endpoint. */
  url: z.string().min(1).max(4_000).optional(),
  /** OpenAPI document or GraphQL schema: a URL, a `file:` URL, the text itself, or (OpenAPI) the object itself. */
  spec: z.union([z.string().min(1).max(11_000_000), z.record(z.string(), z.unknown())]).optional(),
  /** Where requests go when the document does not say, or should not decide. */
  baseUrl: z.string().min(1).max(4_000).optional(),
  /** Values of a server's variables. */
  serverVariables: strings.optional(),
  /** Sent with every request; nothing secret belongs here. */
  headers: strings.optional(),
  /** MCP: default is to try streamable HTTP, then SSE. */
  transport: z.enum(["streamable-http", "sse", "stdio"]).optional(),
  /** MCP over stdio: installation admins and env config only. */
  command: z.string().min(1).max(4_000).optional(),
  args: z.array(z.string().max(4_000)).max(200).optional(),
  env: strings.optional(),
  cwd: z.string().max(4_000).optional(),
  defaultApproval: ToolApproval.optional(),
  defaultReadApproval: ToolApproval.optional(),
  defaultWriteApproval: ToolApproval.optional(),
  auth: SourceAuth.optional(),
  /** Env config: also seen by workspaces other than the installation's own. */
  shared: z.boolean().optional(),
};

const aliases: Record<string, string> = { kind: "type", endpoint: "url", specUrl: "spec" };

/** Renames aliases; both names at once with different values stay, and the strict schema names the stranger. */
function withoutAliases(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const renamed: [string, unknown][] = Object.entries(value).map(([name, field]) => {
    const known = Object.hasOwn(aliases, name) ? (aliases[name] as string) : name;
    return Object.hasOwn(value, known) && known !== name ? [name, field] : [known, field];
  });
  return Object.fromEntries(renamed);
}

const Definition = z.strictObject(definitionFields);
type Fields = z.infer<typeof Definition>;

const needs = (fits: (fields: Fields) => boolean, path: string, message: string) => ({
  fits,
  problem: { path: [path], message },
});
const rules = [
  needs(
    (d) => d.type !== "openapi" || d.spec !== undefined || d.url !== undefined,
    "spec",
    "an openapi source needs spec: the URL, file: URL or text of its document",
  ),
  needs((d) => d.type !== "graphql" || d.url !== undefined, "url", "a graphql source needs url: its endpoint"),
  needs(
    (d) =>
      d.type !== "mcp" ||
      (d.transport === "stdio" || d.command !== undefined ? d.command !== undefined : d.url !== undefined),
    "url",
    "an mcp source needs url, or command for stdio",
  ),
  needs((d) => d.command === undefined || d.url === undefined, "command", "a source has a url or a command, not both"),
];

const withRules = <T extends z.ZodType>(schema: T): T =>
  rules.reduce(
    (checked, { fits, problem }) => checked.refine(fits as (value: unknown) => boolean, problem) as T,
    schema,
  );

export const SourceDefinition = z.preprocess(withoutAliases, withRules(Definition)).meta({ id: "SourceDefinition" });
export type SourceDefinition = z.infer<typeof Definition>;

export const CreateSource = z
  .preprocess(withoutAliases, withRules(z.strictObject({ ...definitionFields, workspaceId: Id })))
  .meta({ id: "CreateSource" });
export type CreateSource = SourceDefinition & { workspaceId: string };

/** What may change; the namespace and the kind may not. */
export const UpdateSource = z
  .strictObject({
    workspaceId: Id,
    name: definitionFields.name.optional(),
    baseUrl: definitionFields.baseUrl.nullable(),
    serverVariables: definitionFields.serverVariables,
    headers: definitionFields.headers,
    defaultApproval: definitionFields.defaultApproval.nullable(),
    defaultReadApproval: definitionFields.defaultReadApproval.nullable(),
    defaultWriteApproval: definitionFields.defaultWriteApproval.nullable(),
    auth: definitionFields.auth.nullable(),
  })
  .meta({ id: "UpdateSource" });
export type UpdateSource = z.infer<typeof UpdateSource>;

export const ProbeSource = z
  .strictObject({ workspaceId: Id, url: z.string().min(1).max(4_000) })
  .meta({ id: "ProbeSource" });

export const SourceProgress = z.object({
  phase: z.enum(["fetching", "parsing", "indexing", "storing"]),
  done: z.int().optional(),
  total: z.int().optional(),
});

/** As people see it: no secret, and a document given inline is not repeated. */
export const Source = z
  .object({
    sourceId: Id,
    workspaceId: Id,
    type: SourceType,
    name: z.string(),
    namespace: z.string(),
    title: z.string().optional(),
    url: z.string().optional(),
    spec: z.string().optional(),
    baseUrl: z.string().optional(),
    serverVariables: strings.optional(),
    headers: strings.optional(),
    transport: z.string().optional(),
    /** The whole command line, as it is run. */
    command: z.string().optional(),
    defaultApproval: ToolApproval.optional(),
    defaultReadApproval: ToolApproval.optional(),
    defaultWriteApproval: ToolApproval.optional(),
    auth: z.looseObject({ mode: z.string(), type: z.string() }).optional(),
    /** Where it was set up: `env` ones are changed there. */
    origin: z.enum(["env", "workspace"]),
    health: z.enum(["indexing", "ok", "failing"]),
    progress: SourceProgress.optional(),
    toolCount: z.int(),
    warnings: z.array(z.string()),
    lastError: z.object({ code: z.string(), message: z.string(), at: Timestamp }).optional(),
    createdAt: Timestamp,
    indexedAt: Timestamp.optional(),
    /** Tools that came, went or changed at the last index that differed. */
    changes: z.object({ added: z.int(), removed: z.int(), changed: z.int(), at: Timestamp }).optional(),
  })
  .meta({ id: "Source" });
export type Source = z.infer<typeof Source>;

export const SourceChanges = z
  .object({
    at: Timestamp.optional(),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.object({ path: z.string(), before: z.string(), after: z.string() })),
  })
  .meta({ id: "SourceChanges" });
export type SourceChanges = z.infer<typeof SourceChanges>;

export const ProbeResult = z
  .object({
    type: SourceType.optional(),
    confidence: z.number(),
    name: z.string(),
    namespace: z.string(),
    transport: z.string().optional(),
    /** Send it to POST /api/tool-sources, with `auth` filled in where it is needed. */
    definition: z.looseObject({ type: SourceType, name: z.string() }).optional(),
    auth: z.object({ required: z.boolean(), types: z.array(z.string()), detail: z.string() }),
    toolCount: z.int().optional(),
    warnings: z.array(z.string()),
  })
  .meta({ id: "ProbeResult" });
export type ProbeResult = z.infer<typeof ProbeResult>;
