/**
 * Every refusal of the product: one code, what it means over HTTP and as an exit of the CLI.
 * A code is a contract: it may be added, never renamed. A message may change; nobody may match on it.
 */
import { z } from "zod";

/** `retry`: the same request may succeed later without a change. */
interface ErrorSpec {
  status: number;
  exit: number;
  title: string;
  retry?: true;
}

const spec = (status: number, exit: number, title: string): ErrorSpec => ({ status, exit, title });
const later = (status: number, exit: number, title: string): ErrorSpec => ({ status, exit, title, retry: true });

/** Codes with which an engine ends a guest. */
const guestLimits = {
  "task.cpu_limit": spec(422, 10, "The code used up its CPU time"),
  "task.memory_limit": spec(422, 10, "The code used up its memory"),
  "task.stack_overflow": spec(422, 10, "The code nests or recurses too deeply"),
  "task.call_limit": spec(422, 10, "The code made too many tool calls"),
  "task.result_too_large": spec(422, 10, "The result is over its size limit"),
  "task.result_not_json": spec(422, 10, "The result cannot be written as JSON"),
  "task.syntax_error": spec(422, 10, "The code cannot be parsed"),
} satisfies Record<string, ErrorSpec>;

export const errorTable = {
  ...guestLimits,

  // Requests
  "request.invalid": spec(400, 2, "The request does not fit its schema"),
  "request.not_json": spec(415, 2, "The body must be application/json"),
  "request.too_large": spec(413, 2, "The body is over its size limit"),
  "request.host_refused": spec(403, 3, "This Host is not served here"),
  "request.origin_refused": spec(403, 3, "This Origin may not call here"),
  "request.rate_limited": later(429, 4, "Too many requests with this key"),
  "route.not_found": spec(404, 5, "No such route"),
  "route.method_not_allowed": spec(405, 2, "This method is not served here"),

  // Identity
  "auth.required": spec(401, 3, "A bearer token is required"),
  "auth.invalid": spec(401, 3, "The bearer token is unknown, expired or revoked"),
  "auth.forbidden": spec(403, 3, "The caller's role does not allow this"),
  "auth.actor_mismatch": spec(403, 3, "actorId and clientId must be the caller's own"),
  "auth.anonymous_off": spec(403, 3, "Anonymous sessions are switched off here"),
  "auth.code_invalid": spec(400, 3, "The login code or invite is unknown, used or expired"),
  "workspace.not_found": spec(404, 5, "No such workspace"),
  "key.not_found": spec(404, 5, "No such key"),

  // Tasks
  "task.not_found": spec(404, 5, "No such task"),
  "task.code_too_large": spec(413, 2, "The code is over its size limit"),
  "task.type_error": spec(422, 10, "The code does not typecheck"),
  "task.idempotency_conflict": spec(409, 6, "This idempotency key was used with another request"),
  "task.already_ended": spec(409, 6, "The task has ended"),
  "task.failed": spec(422, 10, "The code threw an error"),
  "task.timed_out": spec(422, 11, "The task used up its run time"),
  "task.cancelled": spec(409, 12, "The task was cancelled"),
  "task.never_settles": spec(422, 10, "The code waits for something that can never happen"),
  "task.journal_limit": spec(422, 10, "The calls of the task carried too much in all"),
  "task.diverged": spec(409, 10, "The code behaved differently when it was replayed"),
  "task.runtime_lost": later(503, 13, "The engine was lost too often under this task"),
  "runtime.not_found": spec(422, 2, "No such runtime"),
  "runtime.unavailable": spec(422, 13, "This runtime cannot be used here"),

  // Calls
  "call.input_too_large": spec(422, 10, "The input of a call is over its size limit"),
  "call.input_invalid": spec(422, 10, "The input of a call does not fit its schema"),
  "call.result_too_large": spec(422, 10, "The result of a call is over its size limit"),
  "call.outcome_unknown": spec(409, 10, "The call may or may not have happened"),
  "call.failed": spec(502, 10, "The tool failed"),
  "tool.not_found": spec(404, 5, "No such tool"),

  // The gate and people
  "policy.denied": spec(403, 7, "A policy denies this call"),
  "policy.unavailable": later(503, 13, "Policies cannot be read, so nothing is allowed"),
  "policy.not_found": spec(404, 5, "No such policy"),
  "approval.denied": spec(403, 7, "A person denied this call"),
  "approval.expired": spec(403, 7, "Nobody decided in time"),
  "approval.limit": spec(429, 7, "The task asks for too many approvals"),
  "approval.not_found": spec(404, 5, "No such approval"),
  "approval.already_decided": spec(409, 6, "The approval is already decided"),
  "interaction.not_found": spec(404, 5, "No such interaction"),
  "interaction.already_resolved": spec(409, 6, "The interaction is already resolved"),
  "interaction.wrong_door": spec(409, 6, "This interaction is answered elsewhere"),

  // Sources
  "source.not_found": spec(404, 5, "No such source"),
  "source.conflict": spec(409, 6, "A source with this namespace exists"),
  "source.invalid": spec(422, 2, "The source cannot be used as it is described"),
  "source.moved": spec(409, 6, "The source would send its credential to another host than before"),
  "source.unreadable": later(502, 13, "The source cannot be read"),
  "source.admin_only": spec(403, 3, "Only an installation admin may add what reaches this machine"),
  "egress.refused": spec(403, 7, "The address may not be reached from here"),
  "egress.too_large": spec(502, 10, "The other side sent more than the limit"),
  "egress.timeout": later(504, 10, "The other side did not answer in time"),
  "egress.failed": later(502, 10, "The other side could not be reached"),
  "call.upstream_error": spec(502, 10, "The other side answered with an error"),

  // Credentials
  "credential.missing": spec(409, 7, "The source needs a credential"),
  "credential.not_found": spec(404, 5, "No such credential"),
  "credential.ambiguous": spec(409, 10, "The source has several accounts and the call names none"),
  "credential.invalid": spec(422, 2, "The credential does not fit its source"),
  "credential.unreadable": spec(500, 13, "The credential cannot be opened"),
  "oauth.refused": spec(400, 3, "The sign-in with the provider did not succeed"),
  "oauth.unsupported": spec(422, 13, "The provider cannot be used for sign-in"),

  // The installation
  "store.unavailable": later(503, 13, "The store cannot be reached or written"),
  "store.newer_schema": spec(500, 13, "The data was written by a newer version"),
  "lease.lost": later(409, 13, "Another worker holds this task now"),
  "internal.error": later(500, 1, "Something went wrong on our side"),
} satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof errorTable;
export type GuestLimitCode = keyof typeof guestLimits;

export const ErrorCode = z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]);

/** A refusal. `detail` says what was expected, what came and what to do next; it is shown to the caller. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly data: Record<string, unknown> | undefined;

  constructor(code: ErrorCode, detail: string, options: { data?: Record<string, unknown>; cause?: unknown } = {}) {
    super(`${code}: ${detail}`, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.data = options.data;
  }
}

/** RFC 9457. */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: ErrorCode,
    detail: z.string(),
    requestId: z.string().optional(),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Problem" });
export type Problem = z.infer<typeof Problem>;
