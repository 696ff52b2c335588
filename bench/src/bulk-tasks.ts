/**
 * Many tasks or many events at once, written by the product's own store verbs into the file of a running installation.
 * The tasks name a runtime that no worker has, so nobody claims them from under our hands.
 */
import { join } from "node:path";
import type { Store } from "@executor/core/ports/store";
import type { ProgressEntry } from "@executor/core/store/progress";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";

const host = createSystemHost();
const workerId = "worker_bench";
const batch = 100;

/** Tasks that each wait for one approval. */
export async function writeWaitingTasks(home: string, workspaceId: string, count: number): Promise<void> {
  await withStore(home, async (store) => {
    for (let made = 0; made < count; made += batch) {
      await Promise.all(
        Array.from({ length: Math.min(batch, count - made) }, () => writeWaitingTask(store, workspaceId)),
      );
    }
  });
}

/** One ended task with so many lines of output, each an event. Answers with its id. */
export async function writeTaskOfEvents(home: string, workspaceId: string, events: number): Promise<string> {
  return await withStore(home, async (store) => {
    const { taskId, fence } = await startTask(store, workspaceId);
    const perWrite = 1_000;
    // Created, queued, running and completed are events, too.
    for (let line = 0; line < events - 4; line += perWrite) {
      const entries: ProgressEntry[] = Array.from({ length: Math.min(perWrite, events - 4 - line) }, (_, index) => ({
        kind: "output",
        stream: "stdout",
        text: `line ${line + index}: something a program says while it works`,
        at: host.now(),
      }));
      await store.recordProgress({ fence, entries });
    }
    await store.settleTask({
      fence,
      entries: [],
      end: { status: "completed", resultJson: "1", error: null },
      runMs: 1,
      now: host.now(),
    });
    return taskId;
  });
}

async function withStore<R>(home: string, work: (store: Store) => Promise<R>): Promise<R> {
  const store = await openSqliteStore({ path: join(home, "executor.db") });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function startTask(store: Store, workspaceId: string) {
  const taskId = host.newId("task");
  const code = "return await tools.executor.echo({ value: 1 })";
  const task = {
    taskId,
    workspaceId,
    actorId: "actor_bench",
    clientId: "client_bench",
    runtimeId: "bench-none",
    code,
    script: code,
    seed: host.newSeed(),
    preludeVersion: 1,
    timeoutMs: 60_000,
    metadataJson: "{}",
    idempotencyKey: null,
    requestDigest: "",
  };
  await store.createTask({ task, now: host.now() });
  const claim = await store.claimTask({ taskId, workerId, leaseMs: 600_000, now: host.now() });
  if (!claim) throw new Error("a task made for the benchmark was claimed by somebody else");
  return { taskId, fence: { taskId, workspaceId, workerId, attempt: claim.task.attempt } };
}

async function writeWaitingTask(store: Store, workspaceId: string): Promise<void> {
  const { fence } = await startTask(store, workspaceId);
  const callId = host.newId("call");
  const interactionId = host.newId("approval");
  const at = host.now();
  const about = { toolPath: "executor.echo", inputJson: `{"value":1}`, inputDigest: host.sha256("1") };
  const entries: ProgressEntry[] = [
    { kind: "call", callId, ordinal: 0, callKey: "bench", at, ...about },
    {
      kind: "ask",
      interaction: {
        interactionId,
        callId,
        kind: "approval",
        title: "Call executor.echo",
        detail: "",
        schemaHash: "",
        line: null,
        answerSchemaJson: null,
        url: null,
        why: "",
        mayHaveRun: false,
        stateJson: null,
        putOff: null,
        createdAt: at,
        expiresAt: at + 86_400_000,
        ...about,
      },
    },
  ];
  await store.pauseTask({ fence, entries, waitingFor: [interactionId], runMs: 1, now: at });
}
