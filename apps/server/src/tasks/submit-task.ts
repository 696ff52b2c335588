/**
 * From a CreateTask to a row in the queue. Everything that can be refused is refused here, before there is a task.
 * With `typecheck` the code is held against the types of the tools it names; what could not be checked is told, not refused.
 */
import { AppError } from "@executor/contracts/error";
import type { CreateTask } from "@executor/contracts/task";
import type { TypecheckResult } from "@executor/contracts/typecheck";
import { canonicalJson } from "@executor/core/calls/call-key";
import type { AppDeps } from "../deps.ts";
import type { Bearer } from "../http/authenticate.ts";
import { openToolView } from "../tools/open-view.ts";
import { typecheckCode, writeDiagnostic } from "../typecheck/typecheck-code.ts";

export const DEFAULT_RUNTIME = "in-process";
const MAX_METADATA_BYTES = 64_000;

export interface SubmittedTask {
  taskId: string;
  status: string;
  created: boolean;
  /** Null when nobody asked for it. */
  typecheck: TypecheckResult | null;
}

export async function submitTask(deps: AppDeps, caller: Bearer, body: CreateTask): Promise<SubmittedTask> {
  const { store, host } = deps;
  refuseOtherActor(caller, body);
  const metadataJson = checkSizes(deps, body);
  const timeoutMs = body.timeoutMs ?? deps.limits.runMs;
  const runtimeId = await chooseRuntime(deps, body.runtimeId ?? DEFAULT_RUNTIME);
  const { script, preludeVersion } = await transpile(deps, body.code);
  const typecheck = body.typecheck === true ? await checkTypes(deps, caller, body.code) : null;
  const task = {
    taskId: host.newId("task"),
    workspaceId: caller.workspaceId,
    actorId: caller.actorId,
    clientId: caller.clientId,
    runtimeId,
    code: body.code,
    script,
    seed: host.newSeed(),
    preludeVersion,
    timeoutMs,
    metadataJson,
    idempotencyKey: body.idempotencyKey ?? null,
    requestDigest: host.sha256(canonicalJson({ code: body.code, runtimeId, timeoutMs, metadata: body.metadata ?? {} })),
  };
  return { ...(await store.createTask({ task, now: host.now() })), typecheck };
}

/** Refuses what does not fit, with every place at once. */
async function checkTypes(deps: AppDeps, caller: Bearer, code: string): Promise<TypecheckResult> {
  const result = await typecheckCode(deps, await openToolView(deps, caller), code);
  if (result.ok) return result;
  const lines = result.diagnostics.map(writeDiagnostic);
  throw new AppError("task.type_error", lines.join("\n"), { data: { diagnostics: result.diagnostics } });
}

function refuseOtherActor(caller: Bearer, body: CreateTask): void {
  for (const name of ["actorId", "clientId"] as const) {
    const asked = body[name];
    if (asked !== undefined && asked !== caller[name])
      throw new AppError("auth.actor_mismatch", `${name} must be the caller's own (${caller[name]}), or be left out.`);
  }
}

export function checkCodeSize({ limits }: AppDeps, code: string): void {
  const codeBytes = Buffer.byteLength(code);
  if (codeBytes > limits.codeBytes)
    throw new AppError(
      "task.code_too_large",
      `The code has ${codeBytes} bytes; at most ${limits.codeBytes} are taken.`,
    );
}

function checkSizes(deps: AppDeps, body: CreateTask): string {
  checkCodeSize(deps, body.code);
  const metadataJson = JSON.stringify(body.metadata ?? {});
  if (Buffer.byteLength(metadataJson) > MAX_METADATA_BYTES)
    throw new AppError("request.invalid", `body.metadata: more than ${MAX_METADATA_BYTES} bytes of JSON`);
  return metadataJson;
}

async function chooseRuntime({ runtimes }: AppDeps, runtimeId: string): Promise<string> {
  const targets = await runtimes.list();
  const target = targets.find(({ id }) => id === runtimeId);
  if (!target)
    throw new AppError(
      "runtime.not_found",
      `There is no runtime ${runtimeId}. There are: ${targets.map(({ id }) => id).join(", ")}.`,
    );
  if (!target.available)
    throw new AppError(
      "runtime.unavailable",
      `The runtime ${runtimeId} cannot be used here: ${target.reason ?? "no reason was given"}`,
    );
  return runtimeId;
}

async function transpile(deps: AppDeps, code: string): Promise<{ script: string; preludeVersion: number }> {
  const result = await deps.transpile(code);
  if (result.ok) return result;
  const { line, column, message } = result;
  throw new AppError("task.syntax_error", `${line}:${column} ${message}`, { data: { line, column } });
}
