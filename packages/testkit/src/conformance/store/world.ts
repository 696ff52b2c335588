/** One test's world: a store, a workspace of its own, a clock that moves when told, and short ways to say common things. */
import { expect } from "bun:test";
import { randomBytes } from "node:crypto";
import { AppError, type ErrorCode } from "@executor/contracts/error";
import type { Store } from "@executor/core/ports/store";
import type { Fence, NewInteraction, ProgressEntry } from "@executor/core/store/progress";
import type { PolicyRow } from "@executor/core/store/tables";
import type { Claim } from "@executor/core/store/verbs/claim-task";
import type { NewTask } from "@executor/core/store/verbs/create-task";
import type { NewBearer } from "@executor/core/store/verbs/identity";

export interface OpenedStore {
  store: Store;
  /** The same data through a store opened anew; for databases whose data outlive them. */
  reopen?(): Promise<Store>;
  stop(): Promise<void>;
}
export type OpenStore = () => Promise<OpenedStore>;

export const LEASE_MS = 30_000;
export const RUNTIME = "in-process";
/** Where a journal is read from first. */
export const FROM_START = { afterOrdinal: -1, afterTimer: -1 };

export class World {
  readonly store: Store;
  readonly reopen: OpenedStore["reopen"];
  readonly workspaceId = newId("ws");
  readonly by = { actorId: newId("actor"), clientId: newId("client") };
  now = Date.now();

  constructor({ store, reopen }: OpenedStore) {
    this.store = store;
    this.reopen = reopen;
  }

  bearer(patch: Partial<NewBearer> = {}): NewBearer {
    const id = newId("session");
    return {
      bearerId: id,
      hash: `hash of ${id}`,
      kind: "session",
      workspaceId: this.workspaceId,
      ...this.by,
      role: "owner",
      label: "",
      installationAdmin: 0,
      mayElicit: 0,
      ...patch,
    };
  }

  task(patch: Partial<NewTask> = {}): NewTask {
    const common = {
      code: "return 1",
      script: "return 1;",
      seed: "seed",
      preludeVersion: 1,
      timeoutMs: 1_000,
      metadataJson: "{}",
      idempotencyKey: null,
      requestDigest: "digest",
    };
    return {
      taskId: newId("task"),
      workspaceId: this.workspaceId,
      ...this.by,
      runtimeId: RUNTIME,
      ...common,
      ...patch,
    };
  }

  async create(patch: Partial<NewTask> = {}): Promise<string> {
    const { taskId } = await this.store.createTask({ task: this.task(patch), now: this.now });
    return taskId;
  }

  async claim(taskId: string, workerId = newId("worker")): Promise<Claim & { fence: Fence }> {
    const claim = await this.store.claimTask({ taskId, workerId, leaseMs: LEASE_MS, now: this.now });
    if (!claim) throw new Error(`${taskId} could not be claimed`);
    return { ...claim, fence: { taskId, workspaceId: this.workspaceId, workerId, attempt: claim.task.attempt } };
  }

  /** A new task that a worker holds. */
  async running(patch: Partial<NewTask> = {}): Promise<Fence> {
    return (await this.claim(await this.create(patch))).fence;
  }

  /** A new task that waits for as many approvals as asked for. */
  async waiting(count = 1, patch: Partial<NewInteraction> = {}): Promise<{ fence: Fence; approvals: string[] }> {
    const fence = await this.running();
    const asks = Array.from({ length: count }, (_, ordinal) => this.ask(ordinal, patch));
    const approvals = asks.map(({ interactionId }) => interactionId);
    await this.store.pauseTask({
      fence,
      entries: asks.flatMap(({ entries }) => entries),
      waitingFor: approvals,
      runMs: 5,
      now: this.now,
    });
    return { fence, approvals };
  }

  /** Entries that make a call and ask a person about it. */
  ask(
    ordinal: number,
    patch: Partial<NewInteraction> = {},
  ): { callId: string; interactionId: string; entries: ProgressEntry[] } {
    const call = this.call(ordinal);
    const interaction: NewInteraction = {
      interactionId: newId("approval"),
      callId: call.callId,
      kind: "approval",
      title: "Send mail",
      detail: "",
      toolPath: call.toolPath,
      inputJson: call.inputJson,
      inputDigest: call.inputDigest,
      schemaHash: "schema",
      line: null,
      answerSchemaJson: null,
      url: null,
      why: "default",
      mayHaveRun: false,
      stateJson: null,
      putOff: null,
      createdAt: this.now,
      expiresAt: this.now + 60_000,
      ...patch,
    };
    return {
      callId: call.callId,
      interactionId: interaction.interactionId,
      entries: [call, { kind: "ask", interaction }],
    };
  }

  call(
    ordinal: number,
    patch: Partial<Extract<ProgressEntry, { kind: "call" }>> = {},
  ): Extract<ProgressEntry, { kind: "call" }> {
    const inputJson = JSON.stringify({ ordinal });
    return {
      kind: "call",
      callId: newId("call"),
      ordinal,
      callKey: `key ${ordinal}`,
      toolPath: "mail.send",
      inputJson,
      inputDigest: `digest ${ordinal}`,
      at: this.now,
      ...patch,
    };
  }

  done(
    callId: string,
    deliverySeq: number | null,
    patch: Partial<Extract<ProgressEntry, { kind: "done" }>> = {},
  ): ProgressEntry {
    const outcome = {
      status: "completed",
      outcomeKind: "result",
      outcomeJson: JSON.stringify({ deliverySeq }),
    } as const;
    return {
      kind: "done",
      callId,
      at: this.now,
      ...outcome,
      why: "policy",
      deliverySeq,
      deliveredAtMs: this.now,
      deliveredRunMs: 1.5,
      ...patch,
    };
  }

  output(text: string): ProgressEntry {
    return { kind: "output", stream: "stdout", text, at: this.now };
  }

  decide(interactionId: string, decision: "approved" | "denied" = "approved", remember: PolicyRow | null = null) {
    return this.store.decideApproval({
      interactionId,
      workspaceId: this.workspaceId,
      decision,
      reason: null,
      by: this.by,
      remember,
      now: this.now,
    });
  }

  settle(fence: Fence, resultJson = "1", entries: ProgressEntry[] = []): Promise<void> {
    return this.store.settleTask({
      fence,
      entries,
      end: { status: "completed", resultJson, error: null },
      runMs: 5,
      now: this.now,
    });
  }

  cancel(taskId: string, onlyOwn = false): Promise<void> {
    return this.store.cancelTask({ taskId, workspaceId: this.workspaceId, by: this.by, onlyOwn, now: this.now });
  }

  policy(patch: Partial<PolicyRow> = {}): PolicyRow {
    const common = {
      pattern: "mail.*",
      decision: "allow",
      actorId: null,
      clientId: null,
      conditionsJson: "[]",
      priority: 0,
      createdAt: this.now,
      createdBy: this.by.actorId,
    };
    return { policyId: newId("policy"), workspaceId: this.workspaceId, ...common, ...patch };
  }

  async read(taskId: string) {
    const found = await this.store.readTask({ taskId, workspaceId: this.workspaceId });
    if (!found) throw new Error(`${taskId} is not there`);
    return found;
  }

  async status(taskId: string): Promise<string> {
    return (await this.read(taskId)).task.status;
  }

  async eventTypes(taskId: string): Promise<string[]> {
    const events = await this.store.readTaskEvents({ taskId, afterSeq: 0, limit: 1_000 });
    return events.map((event) => event.type);
  }

  audit(action: string | null = null) {
    return this.store.listAudit({
      workspaceId: this.workspaceId,
      action,
      actorId: null,
      since: null,
      beforeSeq: null,
      limit: 1_000,
    });
  }
}

/** Runs a test in a fresh world. */
export function inWorld(open: OpenStore, body: (world: World) => Promise<void>): () => Promise<void> {
  return async () => {
    const opened = await open();
    try {
      const world = new World(opened);
      await world.store.createWorkspace({
        workspaceId: world.workspaceId,
        kind: "anonymous",
        bearer: world.bearer(),
        now: world.now,
      });
      await body(world);
    } finally {
      await opened.stop();
    }
  };
}

export const newId = (prefix: string): string => `${prefix}_${randomBytes(8).toString("hex")}`;

export async function refusal(promise: Promise<unknown>, code: ErrorCode): Promise<AppError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe(code);
  return error as AppError;
}

/** How many went through; every other one must have been refused with the code. */
export async function countWinners(promises: Promise<unknown>[], code: ErrorCode): Promise<number> {
  const results = await Promise.allSettled(promises);
  const losers = results.filter((result) => result.status === "rejected");
  for (const loser of losers) expect((loser.reason as AppError).code).toBe(code);
  return results.length - losers.length;
}

/** 1, 2, 3, … */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
