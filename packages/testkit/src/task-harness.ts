/**
 * Runs tasks step by step on a real store and a real runtime, without server or worker: a test submits code, runs it until
 * it ends or waits, decides, and runs it again. The clock on the wall can be made to jump between runs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultLimits, type Limits } from "@executor/contracts/limits";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";
import type { Store } from "@executor/core/ports/store";
import type { ToolProvider } from "@executor/core/ports/tools";
import type { InteractionRow, PolicyRow, Row, TaskRow } from "@executor/core/store/tables";
import { runTask, type RunEnd } from "@executor/core/tasks/run-task";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTestTools, type TestTool } from "./tools/test-tools.ts";

export interface HarnessOptions {
  runtime: Runtime;
  tools?: () => readonly TestTool[];
  limits?: Partial<Limits>;
}

export type ReadTask = TaskRow & {
  pending: InteractionRow[];
  result: unknown;
  error: { code: string; message: string; line?: number } | null;
};

/** The engine of the product, for tests that may not import it by themselves. */
export const createTestRuntime = (): Runtime => createInProcessRuntime();

const WORKER = "worker_harness";
const by = { actorId: "actor_reviewer", clientId: "client_console" };

export async function openTaskHarness(options: HarnessOptions): Promise<TaskHarness> {
  const dir = mkdtempSync(join(tmpdir(), "executor-harness-"));
  const harness = new TaskHarness(options, await openSqliteStore({ path: join(dir, "executor.db") }), dir);
  await harness.addWorkspace();
  return harness;
}

export class TaskHarness {
  readonly store: Store;
  readonly host: Host;
  readonly workspaceId: string;
  readonly #options: HarnessOptions;
  readonly #dir: string;
  readonly #limits: Limits;
  readonly #providers: ToolProvider[];
  readonly #caller: { workspaceId: string; actorId: string; clientId: string };
  #jumpedMs = 0;

  constructor(options: HarnessOptions, store: Store, dir: string) {
    const system = createSystemHost();
    this.#options = options;
    this.store = store;
    this.#dir = dir;
    this.host = { ...system, now: () => system.now() + this.#jumpedMs };
    this.workspaceId = system.newId("ws");
    this.#caller = { workspaceId: this.workspaceId, actorId: "actor_agent", clientId: "client_agent" };
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#providers = [createTestTools(options.tools ?? (() => []))];
  }

  async addWorkspace(): Promise<void> {
    const { host, workspaceId } = this;
    const kind = { kind: "session", role: "admin", label: "", installationAdmin: 0, mayElicit: 0 };
    const bearer = { bearerId: host.newId("session"), hash: host.newSeed(), ...this.#caller, ...kind };
    await this.store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
  }

  /** Lets the clock on the wall jump ahead; the run clock does not move. */
  advanceWall(ms: number): void {
    this.#jumpedMs += ms;
  }

  /** As if the worker that holds the task had been dead for a while. */
  async expireLease(): Promise<void> {
    this.advanceWall(120_000);
    await this.store.recoverLeases({ now: this.host.now(), limit: 10 });
  }

  async submit(code: string, { timeoutMs = this.#limits.runMs }: { timeoutMs?: number } = {}): Promise<string> {
    const transpiled = transpileTask(code);
    if (!transpiled.ok) throw new Error(`${transpiled.line}:${transpiled.column} ${transpiled.message}`);
    const { script, preludeVersion } = transpiled;
    const ids = { taskId: this.host.newId("task"), ...this.#caller, runtimeId: this.#options.runtime.id };
    const rest = { seed: this.host.newSeed(), timeoutMs, metadataJson: "{}", idempotencyKey: null, requestDigest: "" };
    await this.store.createTask({ task: { ...ids, code, script, preludeVersion, ...rest }, now: this.host.now() });
    return ids.taskId;
  }

  /** One run: claims the task and runs it to its next stop. */
  async run(taskId: string, options: { signal?: AbortSignal; store?: Store; script?: string } = {}): Promise<RunEnd> {
    const claim = await this.store.claimTask({ taskId, workerId: WORKER, leaseMs: 60_000, now: this.host.now() });
    if (!claim)
      throw new Error(`${taskId} cannot be claimed: ${JSON.stringify(await this.store.readTaskStatus({ taskId }))}`);
    const { store = this.store, signal = new AbortController().signal, script = claim.task.script } = options;
    const deps = {
      store,
      runtime: this.#options.runtime,
      providers: this.#providers,
      host: this.host,
      limits: this.#limits,
      mapLine,
    };
    return await runTask(deps, { ...claim, task: { ...claim.task, script } }, WORKER, signal);
  }

  async read(taskId: string): Promise<ReadTask> {
    const read = await this.store.readTask({ taskId, workspaceId: this.workspaceId });
    if (!read) throw new Error(`no task ${taskId}`);
    const parse = (json: string | null): unknown => (json === null ? undefined : JSON.parse(json));
    const error = (parse(read.task.errorJson) ?? null) as ReadTask["error"];
    return { ...read.task, pending: read.pending, result: parse(read.task.resultJson), error };
  }

  async calls(taskId: string): Promise<Row<"calls">[]> {
    return (
      (await this.store.listCalls({ taskId, workspaceId: this.workspaceId, afterOrdinal: -1, limit: 20_000 })) ?? []
    );
  }

  policy(pattern: string, decision: "allow" | "require_approval" | "deny"): Promise<PolicyRow> {
    const rule = { pattern, decision, actorId: null, clientId: null, conditionsJson: "[]", priority: 0 };
    const about = {
      policyId: this.host.newId("policy"),
      workspaceId: this.workspaceId,
      createdAt: this.host.now(),
      createdBy: by.actorId,
    };
    return this.store.createPolicy({ policy: { ...about, ...rule }, by });
  }

  decide(interactionId: string, decision: "approved" | "denied", reason?: string): Promise<InteractionRow> {
    const about = { interactionId, workspaceId: this.workspaceId, by, now: this.host.now() };
    return this.store.decideApproval({ ...about, decision, reason: reason ?? null, remember: null });
  }

  /** Null: a person declines to answer. */
  answer(interactionId: string, answer: unknown): Promise<InteractionRow> {
    const about = { interactionId, workspaceId: this.workspaceId, by, now: this.host.now() };
    return this.store.resolveInteraction({
      ...about,
      answerJson: answer === null ? null : JSON.stringify(answer),
      reason: null,
    });
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
