/**
 * Runs tasks step by step on a real store and a real runtime, without server or worker: a test submits code, runs it until
 * it ends or waits, decides, and runs it again. Time can be made to jump between runs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultLimits, type Limits } from "@executor/contracts/limits";
import type { Host } from "@executor/core/ports/host";
import type { Runtime } from "@executor/core/ports/runtime";
import type { Store } from "@executor/core/ports/store";
import type { InteractionRow, PolicyRow, Row, TaskRow } from "@executor/core/store/tables";
import { runTask, type RunEnd } from "@executor/core/tasks/run-task";
import { createInProcessRuntime } from "@executor/runtimes/in-process/in-process-runtime";
import { mapLine } from "@executor/runtimes/guest/map-line";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";
import { createTestTools, type TestTool } from "./tools/test-tools.ts";

export interface TaskHarness {
  store: Store;
  host: Host;
  workspaceId: string;
  /** Lets the clock on the wall jump ahead; the run clock does not move. */
  advanceWall(ms: number): void;
  submit(code: string, options?: { timeoutMs?: number }): Promise<string>;
  /** One run: claims the task and runs it to its next stop. */
  run(taskId: string, options?: { signal?: AbortSignal; store?: Store }): Promise<RunEnd>;
  read(
    taskId: string,
  ): Promise<
    TaskRow & {
      pending: InteractionRow[];
      result: unknown;
      error: { code: string; message: string; line?: number } | null;
    }
  >;
  calls(taskId: string): Promise<Row<"calls">[]>;
  policy(pattern: string, decision: "allow" | "require_approval" | "deny"): Promise<PolicyRow>;
  decide(interactionId: string, decision: "approved" | "denied", reason?: string): Promise<InteractionRow>;
  answer(interactionId: string, answer: unknown): Promise<InteractionRow>;
  close(): Promise<void>;
}

/** The engine of the product, for tests that may not import it by themselves. */
export const createTestRuntime = (): Runtime => createInProcessRuntime();

const by = { actorId: "actor_reviewer", clientId: "client_console" };

export async function openTaskHarness(options: {
  runtime: Runtime;
  tools?: () => readonly TestTool[];
  limits?: Partial<Limits>;
}): Promise<TaskHarness> {
  const dir = mkdtempSync(join(tmpdir(), "executor-harness-"));
  const store = await openSqliteStore({ path: join(dir, "executor.db") });
  const system = createSystemHost();
  let jumpedMs = 0;
  const host: Host = { ...system, now: () => system.now() + jumpedMs };
  const limits = { ...defaultLimits, ...options.limits };
  const workspaceId = host.newId("ws");
  const caller = { workspaceId, actorId: "actor_agent", clientId: "client_agent" };
  const bearer = {
    bearerId: host.newId("session"),
    hash: host.newSeed(),
    kind: "session",
    ...caller,
    role: "admin",
    label: "",
    installationAdmin: 0,
    mayElicit: 0,
  };
  await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
  const providers = [createTestTools(options.tools ?? (() => []))];

  return {
    store,
    host,
    workspaceId,
    advanceWall: (ms) => {
      jumpedMs += ms;
    },
    submit: async (code, { timeoutMs = limits.runMs } = {}) => {
      const transpiled = transpileTask(code);
      if (!transpiled.ok) throw new Error(`${transpiled.line}:${transpiled.column} ${transpiled.message}`);
      const task = {
        taskId: host.newId("task"),
        ...caller,
        runtimeId: options.runtime.id,
        code,
        script: transpiled.script,
        seed: host.newSeed(),
        preludeVersion: options.runtime.preludeVersion,
        timeoutMs,
        metadataJson: "{}",
        idempotencyKey: null,
        requestDigest: "",
      };
      await store.createTask({ task, now: host.now() });
      return task.taskId;
    },
    run: async (taskId, { signal = new AbortController().signal, store: through = store } = {}) => {
      const claim = await store.claimTask({ taskId, workerId: "worker_harness", leaseMs: 60_000, now: host.now() });
      if (!claim)
        throw new Error(`task ${taskId} cannot be claimed: ${JSON.stringify(await store.readTaskStatus({ taskId }))}`);
      return await runTask(
        { store: through, runtime: options.runtime, providers, host, limits, mapLine },
        claim,
        "worker_harness",
        signal,
      );
    },
    read: async (taskId) => {
      const read = await store.readTask({ taskId, workspaceId });
      if (!read) throw new Error(`no task ${taskId}`);
      const { resultJson, errorJson } = read.task;
      return {
        ...read.task,
        pending: read.pending,
        result: resultJson === null ? undefined : JSON.parse(resultJson),
        error: errorJson === null ? null : JSON.parse(errorJson),
      };
    },
    calls: async (taskId) => (await store.listCalls({ taskId, workspaceId, afterOrdinal: -1, limit: 20_000 })) ?? [],
    policy: (pattern, decision) => {
      const policy = {
        policyId: host.newId("policy"),
        workspaceId,
        pattern,
        decision,
        actorId: null,
        clientId: null,
        conditionsJson: "[]",
        priority: 0,
        createdAt: host.now(),
        createdBy: by.actorId,
      };
      return store.createPolicy({ policy, by });
    },
    decide: (interactionId, decision, reason) =>
      store.decideApproval({
        interactionId,
        workspaceId,
        decision,
        reason: reason ?? null,
        by,
        remember: null,
        now: host.now(),
      }),
    answer: (interactionId, answer) =>
      store.resolveInteraction({
        interactionId,
        workspaceId,
        answerJson: JSON.stringify(answer),
        reason: null,
        by,
        now: host.now(),
      }),
    close: async () => {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
