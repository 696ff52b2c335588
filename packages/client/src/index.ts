/** The public face of @executor/client. What is not named here may change without notice. */
export { createExecutor, type Executor, type ExecutorOptions } from "./create-executor.ts";
export { type ClientErrorCode, ExecutorError, type ExecutorErrorCode, isExecutorError } from "./error.ts";
export { bootstrap, type BootstrapOptions, exchangeCode, type ExchangeCodeOptions } from "./sign-in.ts";
export { isEndedStatus, isLastEvent } from "./task-status.ts";

export type { ApprovalFilter, DecidedApproval, DecideOptions } from "./approvals.ts";
export type { AuditFilter } from "./audit.ts";
export type { Fetch, RequestOptions } from "./http.ts";
export type { InteractionFilter, ResolvedInteraction, ResolveOptions } from "./interactions.ts";
export type { Page } from "./pages.ts";
export type { RunOptions } from "./run-task.ts";
export type { EventsOptions } from "./stream-events.ts";
export type { CallFilter, CreateTaskOptions, ReadOptions, TaskFilter, Tasks } from "./tasks.ts";
export type { SearchOptions, ToolFilter } from "./tools.ts";
export type { WaitOptions } from "./wait-for-task.ts";

export type { Approval, ApprovalStatus } from "@executor/contracts/approval";
export type { Call, CallStatus } from "@executor/contracts/call";
export type { CreateCredential, Credential, CredentialScope } from "@executor/contracts/credential";
export type { EventType, TaskEvent } from "@executor/contracts/event";
export type {
  ApiKey,
  AuditEntry,
  Caller,
  CreatedKey,
  CreateInvite,
  CreateKey,
  Health,
  Invite,
  Session,
} from "@executor/contracts/identity";
export type { Interaction, InteractionKind, InteractionStatus } from "@executor/contracts/interaction";
export type {
  CreatePolicy,
  Policy,
  PolicyCondition,
  PolicyDecision,
  PolicyTestResult,
  TestPolicy,
} from "@executor/contracts/policy";
export type { Role } from "@executor/contracts/role";
export type { CreatedTask, EndedStatus, Task, TaskError, TaskStatus, TaskSummary } from "@executor/contracts/task";
export type {
  ProbeResult,
  Source,
  SourceAuth,
  SourceChanges,
  SourceDefinition,
  SourceType,
  UpdateSource,
} from "@executor/contracts/source";
export type {
  JsonSchema,
  RuntimeTarget,
  ToolApproval,
  ToolDetail,
  ToolEffect,
  ToolName,
  ToolSummary,
} from "@executor/contracts/tool";
