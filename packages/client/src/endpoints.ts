/**
 * The routes the SDK calls, by their names in contracts/http.ts. What goes in and out is typed by that table.
 * Only types are imported: the table's schemas would bring zod into every bundle. endpoints.test.ts holds the two together.
 */
import type { RouteName, routes } from "@executor/contracts/http";

export const endpoints = {
  health: "GET /api/health",
  bootstrap: "POST /api/auth/anonymous/bootstrap",
  exchange: "POST /api/auth/exchange",
  logout: "POST /api/auth/logout",
  whoami: "GET /api/auth/me",
  listKeys: "GET /api/keys",
  createKey: "POST /api/keys",
  deleteKey: "DELETE /api/keys/{keyId}",
  createInvite: "POST /api/invites",
  listRuntimes: "GET /api/runtime-targets",
  createTask: "POST /api/tasks",
  listTasks: "GET /api/tasks",
  readTask: "GET /api/tasks/{taskId}",
  listCalls: "GET /api/tasks/{taskId}/calls",
  cancelTask: "POST /api/tasks/{taskId}/cancel",
  taskEvents: "GET /api/tasks/{taskId}/events",
  workspaceEvents: "GET /api/events",
  listApprovals: "GET /api/approvals",
  readApproval: "GET /api/approvals/{approvalId}",
  decideApproval: "POST /api/approvals/{approvalId}",
  listInteractions: "GET /api/interactions",
  readInteraction: "GET /api/interactions/{interactionId}",
  resolveInteraction: "POST /api/interactions/{interactionId}",
  listPolicies: "GET /api/policies",
  createPolicy: "POST /api/policies",
  deletePolicy: "DELETE /api/policies/{policyId}",
  testPolicy: "POST /api/policies/test",
  listSources: "GET /api/tool-sources",
  createSource: "POST /api/tool-sources",
  probeSource: "POST /api/tool-sources/probe",
  readSource: "GET /api/tool-sources/{sourceId}",
  updateSource: "PATCH /api/tool-sources/{sourceId}",
  deleteSource: "DELETE /api/tool-sources/{sourceId}",
  refreshSource: "POST /api/tool-sources/{sourceId}/refresh",
  readSourceDocument: "GET /api/tool-sources/{sourceId}/document",
  readSourceChanges: "GET /api/tool-sources/{sourceId}/changes",
  listCredentials: "GET /api/credentials",
  createCredential: "POST /api/credentials",
  deleteCredential: "DELETE /api/credentials/{credentialId}",
  connectOauth: "POST /api/oauth/connect",
  listTools: "GET /api/tools",
  listToolNames: "GET /api/tools/names",
  searchTools: "GET /api/tools/search",
  toolTypes: "GET /api/tools/types",
  readTool: "GET /api/tools/{path}",
  typecheck: "POST /api/typecheck",
  listAudit: "GET /api/audit",
} as const satisfies Partial<Record<RouteName, string>>;

type Routes = typeof routes;
export type Endpoint = keyof typeof endpoints;

type In<Schema> = Schema extends { _zod: { input: infer T } } ? T : never;
type Out<Schema> = Schema extends { _zod: { output: infer T } } ? T : never;
type ParamsIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamsIn<Rest> : never;
type Field<Name extends string, Value> = [Value] extends [never] ? { [N in Name]?: never } : { [N in Name]: Value };
type OptionalField<Name extends string, Value> = [Value] extends [never]
  ? { [N in Name]?: never }
  : { [N in Name]?: Value };

type ParamName<E extends Endpoint> = ParamsIn<(typeof endpoints)[E]>;
type Params<E extends Endpoint> = [ParamName<E>] extends [never] ? never : { [N in ParamName<E>]: string };
/** As the server sees it after parsing: numbers, not digits. */
export type Query<E extends Endpoint> = Routes[E] extends { query: infer Schema } ? Out<Schema> : never;
export type Body<E extends Endpoint> = Routes[E] extends { body: infer Schema } ? In<Schema> : never;

type OneAnswer<Schema> = Schema extends null ? void : Schema extends "text" ? string : Out<Schema>;
export type Answer<E extends Endpoint> = OneAnswer<Routes[E]["responses"][keyof Routes[E]["responses"]]>;

export type Input<E extends Endpoint> = Field<"params", Params<E>> &
  OptionalField<"query", Query<E>> &
  Field<"body", Body<E>>;

/** A body without what the SDK fills in itself. */
export type WithoutWorkspace<T> = Omit<T, "workspaceId">;
