/**
 * Every REST route: method, path, the role it needs, what goes in and what comes out.
 * Server, client, OpenAPI document and the role test all read this one table.
 */
import { z } from "zod";
import { Approval, ApprovalStatus, DecideApproval } from "./approval.ts";
import { Call } from "./call.ts";
import { Id, Timestamp } from "./id.ts";
import {
  ApiKey,
  AuditEntry,
  Bootstrap,
  Caller,
  CreatedKey,
  CreateInvite,
  CreateKey,
  ExchangeCode,
  Health,
  Invite,
  Session,
} from "./identity.ts";
import { Interaction, InteractionStatus, ResolveInteraction } from "./interaction.ts";
import { maxWaitMs } from "./limits.ts";
import { CreatePolicy, Policy, PolicyTestResult, TestPolicy } from "./policy.ts";
import { digits, inWorkspace, list, ofWorkspace, page, type Route } from "./route.ts";
import { sourceRoutes } from "./source-routes.ts";
import { CreatedTask, CreateTask, Task, TaskStatus } from "./task.ts";
import { RuntimeTarget, ToolDetail, ToolName, ToolSummary } from "./tool.ts";
import { TypecheckCode, TypecheckResult } from "./typecheck.ts";

export type { Route } from "./route.ts";

export const routes = {
  health: {
    method: "get",
    path: "/api/health",
    role: "open",
    summary: "Is it up, and what can it do",
    responses: { 200: Health, 503: Health },
  },
  openapi: {
    method: "get",
    path: "/api/openapi.json",
    role: "open",
    summary: "This API as OpenAPI 3.1",
    responses: { 200: z.record(z.string(), z.unknown()) },
  },
  docs: { method: "get", path: "/api/docs", role: "open", summary: "This API to read", responses: { 200: "html" } },

  bootstrap: {
    method: "post",
    path: "/api/auth/anonymous/bootstrap",
    role: "open",
    summary: "Start or go on with an anonymous session",
    body: Bootstrap,
    responses: { 200: Session, 201: Session },
  },
  exchange: {
    method: "post",
    path: "/api/auth/exchange",
    role: "open",
    summary: "Trade a login code or invite for a session",
    body: ExchangeCode,
    responses: { 201: Session },
  },
  logout: {
    method: "post",
    path: "/api/auth/logout",
    role: "agent",
    summary: "End this session or key",
    responses: { 204: null },
  },
  whoami: {
    method: "get",
    path: "/api/auth/me",
    role: "agent",
    summary: "Who this bearer is",
    responses: { 200: Caller },
  },

  listKeys: {
    method: "get",
    path: "/api/keys",
    role: "admin",
    summary: "API keys",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: list(ApiKey) },
  },
  createKey: {
    method: "post",
    path: "/api/keys",
    role: "admin",
    summary: "Make an API key",
    body: CreateKey,
    responses: { 201: CreatedKey },
  },
  deleteKey: {
    method: "delete",
    path: "/api/keys/{keyId}",
    role: "admin",
    summary: "Revoke an API key",
    query: inWorkspace,
    responses: { 204: null },
  },
  createInvite: {
    method: "post",
    path: "/api/invites",
    role: "admin",
    summary: "Invite a person",
    body: CreateInvite,
    responses: { 201: Invite },
  },

  listRuntimes: {
    method: "get",
    path: "/api/runtime-targets",
    role: "agent",
    summary: "What can evaluate code here",
    responses: { 200: z.object({ items: z.array(RuntimeTarget) }) },
  },

  createTask: {
    method: "post",
    path: "/api/tasks",
    role: "agent",
    summary: "Submit code",
    query: z.strictObject({ wait: digits.pipe(z.int().min(0).max(maxWaitMs)).optional() }),
    body: CreateTask,
    responses: { 200: z.union([Task, CreatedTask]), 201: z.union([Task, CreatedTask]) },
  },
  listTasks: {
    method: "get",
    path: "/api/tasks",
    role: "agent",
    summary: "Tasks, newest first",
    query: z.strictObject({ ...ofWorkspace, ...page, status: TaskStatus.optional(), actorId: Id.optional() }),
    responses: { 200: list(Task) },
  },
  readTask: {
    method: "get",
    path: "/api/tasks/{taskId}",
    role: "agent",
    summary: "A task",
    query: z.strictObject({ ...ofWorkspace, wait: digits.pipe(z.int().min(0).max(maxWaitMs)).optional() }),
    responses: { 200: Task },
  },
  listCalls: {
    method: "get",
    path: "/api/tasks/{taskId}/calls",
    role: "agent",
    summary: "The calls of a task, in order",
    query: z.strictObject({ ...ofWorkspace, ...page }),
    responses: { 200: list(Call) },
  },
  cancelTask: {
    method: "post",
    path: "/api/tasks/{taskId}/cancel",
    role: "agent",
    summary: "Cancel a task (an agent: its own)",
    body: inWorkspace,
    responses: { 200: Task },
  },
  taskEvents: {
    method: "get",
    path: "/api/tasks/{taskId}/events",
    role: "agent",
    summary: "Events of a task: replay, then live",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: "stream" },
  },
  workspaceEvents: {
    method: "get",
    path: "/api/events",
    role: "agent",
    summary: "Events of a workspace: from Last-Event-ID on, else live",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: "stream" },
  },

  listApprovals: {
    method: "get",
    path: "/api/approvals",
    role: "agent",
    summary: "Approvals; pending ones oldest first",
    query: z.strictObject({ ...ofWorkspace, ...page, status: ApprovalStatus.optional(), taskId: Id.optional() }),
    responses: { 200: list(Approval) },
  },
  readApproval: {
    method: "get",
    path: "/api/approvals/{approvalId}",
    role: "agent",
    summary: "An approval",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: Approval },
  },
  decideApproval: {
    method: "post",
    path: "/api/approvals/{approvalId}",
    role: "reviewer",
    summary: "Approve or deny",
    body: DecideApproval,
    responses: { 200: z.object({ approval: Approval, task: Task, policy: Policy.optional() }) },
  },
  listInteractions: {
    method: "get",
    path: "/api/interactions",
    role: "agent",
    summary: "What tasks wait for",
    query: z.strictObject({ ...ofWorkspace, ...page, status: InteractionStatus.optional(), taskId: Id.optional() }),
    responses: { 200: list(Interaction) },
  },
  readInteraction: {
    method: "get",
    path: "/api/interactions/{interactionId}",
    role: "agent",
    summary: "An interaction",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: Interaction },
  },
  resolveInteraction: {
    method: "post",
    path: "/api/interactions/{interactionId}",
    role: "reviewer",
    summary: "Answer or decline",
    body: ResolveInteraction,
    responses: { 200: z.object({ interaction: Interaction, task: Task.optional() }) },
  },

  listPolicies: {
    method: "get",
    path: "/api/policies",
    role: "admin",
    summary: "Policies, in the order they win",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: list(Policy) },
  },
  createPolicy: {
    method: "post",
    path: "/api/policies",
    role: "admin",
    summary: "Add a policy",
    body: CreatePolicy,
    responses: { 201: Policy },
  },
  deletePolicy: {
    method: "delete",
    path: "/api/policies/{policyId}",
    role: "admin",
    summary: "Remove a policy",
    query: inWorkspace,
    responses: { 204: null },
  },
  testPolicy: {
    method: "post",
    path: "/api/policies/test",
    role: "admin",
    summary: "Which rule decides a call, and why",
    body: TestPolicy,
    responses: { 200: PolicyTestResult },
  },

  ...sourceRoutes,

  listTools: {
    method: "get",
    path: "/api/tools",
    role: "agent",
    summary: "Tools this caller may use",
    query: z.strictObject({ ...ofWorkspace, ...page, namespace: z.string().max(200).optional() }),
    responses: { 200: list(ToolSummary) },
  },
  listToolNames: {
    method: "get",
    path: "/api/tools/names",
    role: "agent",
    summary: "Paths of all tools this caller may use, of one namespace or of all",
    query: z.strictObject({ ...ofWorkspace, namespace: z.string().max(200).optional() }),
    responses: { 200: z.object({ items: z.array(ToolName), total: z.int() }) },
  },
  searchTools: {
    method: "get",
    path: "/api/tools/search",
    role: "agent",
    summary: "Find tools by intent",
    query: z.strictObject({
      ...ofWorkspace,
      query: z.string().min(1).max(1_000),
      limit: page.limit,
      namespace: z.string().max(200).optional(),
    }),
    responses: {
      200: list(ToolSummary).extend({
        total: z.int(),
        bestPath: z.string().optional().describe("only when the first one clearly leads"),
      }),
    },
  },
  toolTypes: {
    method: "get",
    path: "/api/tools/types",
    role: "agent",
    summary: "Declarations of the tools this caller may use: a tools.d.ts for editors",
    query: z.strictObject({ ...ofWorkspace, namespace: z.string().max(200).optional() }),
    responses: { 200: "text" },
  },
  typecheck: {
    method: "post",
    path: "/api/typecheck",
    role: "agent",
    summary: "Check code against the types of its tools; nothing runs",
    body: TypecheckCode,
    responses: { 200: TypecheckResult },
  },
  readTool: {
    method: "get",
    path: "/api/tools/{path}",
    role: "agent",
    summary: "A tool with its schemas",
    query: z.strictObject({ ...ofWorkspace }),
    responses: { 200: ToolDetail },
  },

  listAudit: {
    method: "get",
    path: "/api/audit",
    role: "admin",
    summary: "Who did, asked, decided what; `format=ndjson` exports",
    query: z.strictObject({
      ...ofWorkspace,
      ...page,
      action: z.string().max(100).optional(),
      actorId: Id.optional(),
      since: Timestamp.optional(),
      format: z.enum(["json", "ndjson"]).optional(),
    }),
    responses: { 200: list(AuditEntry) },
  },
} satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;
