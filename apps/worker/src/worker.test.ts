/** Workers on a real store and a real engine, in this process. What only real processes can show is in e2e/. */
import { afterEach, expect, test } from "bun:test";
import { defaultLimits } from "@executor/contracts/limits";
import { createLogger } from "@executor/core/log";
import { createTestRuntime, openTaskHarness, type TaskHarness } from "@executor/testkit/task-harness";
import { createTestTools, result, type TestTool } from "@executor/testkit/tools/test-tools";
import { createWorker, defaultWorkerSettings, type Worker, type WorkerSettings } from "./worker.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

async function open(tools: TestTool[] = []): Promise<TaskHarness> {
  const runtime = createTestRuntime();
  const harness = await openTaskHarness({ runtime, tools: () => tools });
  cleanups.push(
    () => runtime.close(),
    () => harness.close(),
  );
  return harness;
}

async function startWorker(
  harness: TaskHarness,
  tools: TestTool[] = [],
  settings: Partial<WorkerSettings> = {},
): Promise<Worker> {
  const worker = createWorker({
    store: harness.store,
    runtimes: [createTestRuntime()],
    providers: [createTestTools(() => tools)],
    host: harness.host,
    limits: defaultLimits,
    log: createLogger(() => undefined, harness.host.now),
    mapLine: () => undefined,
    settings: { ...defaultWorkerSettings, leaseMs: 600, sweepMs: 100, pollMs: 100, drainMs: 100, ...settings },
  });
  await worker.start();
  let stopped: Promise<void> | null = null;
  const stop = worker.stop;
  worker.stop = () => (stopped ??= stop());
  cleanups.push(() => worker.stop());
  return worker;
}

async function until(harness: TaskHarness, taskId: string, status: string, ms = 8_000): Promise<void> {
  const end = Date.now() + ms;
  for (;;) {
    const now = (await harness.store.readTaskStatus({ taskId }))?.status;
    if (now === status) return;
    if (Date.now() > end) throw new Error(`task is ${now}, not ${status}`);
    await Bun.sleep(5);
  }
}

test("a queued task is run at once, and many at a time", async () => {
  const harness = await open();
  await startWorker(harness);
  const ids = await Promise.all(Array.from({ length: 50 }, (_, n) => harness.submit(`return ${n}`)));
  for (const id of ids) await until(harness, id, "completed");
  expect((await harness.read(ids[7] ?? "")).result).toBe(7);
});

test("several workers on one store run each task once", async () => {
  let sent = 0;
  const tools: TestTool[] = [{ path: "t.count", run: () => result(++sent) }];
  const harness = await open();
  for (let n = 0; n < 3; n++) await startWorker(harness, tools);
  const ids = await Promise.all(Array.from({ length: 60 }, () => harness.submit("return await tools.t.count()")));
  for (const id of ids) await until(harness, id, "completed");
  expect(sent).toBe(60);
});

test("a waiting task holds no slot, and a decision wakes it", async () => {
  const harness = await open();
  await harness.policy("executor.echo", "require_approval");
  await startWorker(harness, [], { concurrency: 1 });
  const waiting = await harness.submit("return await tools.executor.echo({ value: 'x' })");
  await until(harness, waiting, "waiting");
  const other = await harness.submit("return 2");
  await until(harness, other, "completed");
  const [asked] = (await harness.read(waiting)).pending;
  await harness.decide(asked?.interactionId ?? "", "approved");
  await until(harness, waiting, "completed");
});

test("one tenant's backlog does not keep another waiting", async () => {
  const slow: TestTool = { path: "t.slow", effect: "safe", run: async () => (await Bun.sleep(400), result(1)) };
  const harness = await open();
  const stranger = {
    ...(await harness.store.readTask({ taskId: await harness.submit("return 0"), workspaceId: harness.workspaceId }))
      ?.task,
  };
  const backlog = await Promise.all(Array.from({ length: 40 }, () => harness.submit("return await tools.t.slow()")));
  await startWorker(harness, [slow], { concurrency: 4 });
  await until(harness, backlog[0] ?? "", "running");
  const workspaceId = harness.host.newId("ws");
  const bearer = {
    bearerId: harness.host.newId("session"),
    hash: "other",
    kind: "session",
    workspaceId,
    actorId: "a",
    clientId: "c",
    role: "admin",
    label: "",
    installationAdmin: 0,
    mayElicit: 0,
  };
  await harness.store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: harness.host.now() });
  const taskId = harness.host.newId("task");
  const task = {
    taskId,
    workspaceId,
    actorId: "a",
    clientId: "c",
    runtimeId: "in-process",
    code: "return 1",
    script: "(async () => { return 1 });",
    seed: stranger.seed ?? "",
    preludeVersion: stranger.preludeVersion ?? 0,
    timeoutMs: 1_000,
    metadataJson: "{}",
    idempotencyKey: null,
    requestDigest: "",
  };
  const started = Date.now();
  await harness.store.createTask({ task, now: harness.host.now() });
  await until(harness, taskId, "completed");
  expect(Date.now() - started).toBeLessThan(390);
}, 15_000);

test("the task of a worker that died is recovered when its lease runs out, and goes on", async () => {
  const harness = await open();
  const id = await harness.submit("return 'recovered'");
  await harness.store.claimTask({ taskId: id, workerId: "worker_dead", leaseMs: 300, now: harness.host.now() });
  await startWorker(harness);
  await until(harness, id, "completed");
  expect((await harness.read(id)).attempt).toBe(2);
});

test("heartbeats keep the lease of a task that runs longer than it", async () => {
  const slow: TestTool = { path: "t.slow", run: async () => (await Bun.sleep(1_500), result(1)) };
  const harness = await open();
  await startWorker(harness, [slow]);
  const id = await harness.submit("return await tools.t.slow()");
  await until(harness, id, "completed");
  expect((await harness.read(id)).attempt).toBe(1);
});

test("a task that takes its worker down again and again without progress is given up", async () => {
  const harness = await open();
  const id = await harness.submit("return 1");
  for (let n = 0; n < 11; n++) {
    await harness.store.claimTask({ taskId: id, workerId: "worker_dead", leaseMs: 1, now: harness.host.now() });
    harness.advanceWall(10);
    await harness.store.recoverLeases({ now: harness.host.now(), limit: 10 });
  }
  expect(await harness.read(id)).toMatchObject({ status: "failed", error: { code: "task.runtime_lost" } });
});

test("cancelling a running task stops it", async () => {
  let aborted = false;
  const never: TestTool = {
    path: "t.never",
    run: (call) =>
      new Promise((done) => call.signal.addEventListener("abort", () => ((aborted = true), done(result("late"))))),
  };
  const harness = await open();
  await startWorker(harness, [never]);
  const id = await harness.submit("return await tools.t.never()");
  await until(harness, id, "running");
  await Bun.sleep(50);
  await harness.store.cancelTask({
    taskId: id,
    workspaceId: harness.workspaceId,
    by: { actorId: "a", clientId: "c" },
    onlyOwn: false,
    now: harness.host.now(),
  });
  await until(harness, id, "cancelled");
  await Bun.sleep(50);
  expect(aborted).toBe(true);
});

test("a stopping worker hands its task back, with the outcome of the call that was under way", async () => {
  let sent = 0;
  const slow: TestTool = { path: "t.slow", run: async () => (await Bun.sleep(400), result(++sent)) };
  const harness = await open();
  const first = await startWorker(harness, [slow]);
  const id = await harness.submit("const one = await tools.t.slow(); return [one, await tools.t.slow()]");
  await until(harness, id, "running");
  await Bun.sleep(150);
  await first.stop();
  expect((await harness.read(id)).status).toBe("queued");
  await startWorker(harness, [slow]);
  await until(harness, id, "completed");
  expect((await harness.read(id)).result).toEqual([1, 2]);
  expect(sent).toBe(2);
});

test("approvals expire by themselves", async () => {
  const harness = await open();
  await harness.policy("executor.echo", "require_approval");
  await startWorker(harness);
  const id = await harness.submit("return await tools.executor.echo({ value: 1 })");
  await until(harness, id, "waiting");
  harness.advanceWall(defaultLimits.approvalExpiryMs + 1_000);
  await until(harness, id, "denied");
});

test("a worker whose own task was taken from it stays awake, and goes on with it", async () => {
  const slow: TestTool = { path: "t.slow", effect: "safe", run: async () => (await Bun.sleep(300), result(1)) };
  const harness = await open();
  await startWorker(harness, [slow]);
  const id = await harness.submit("return await tools.t.slow()");
  await until(harness, id, "running");
  await Bun.sleep(50);
  await harness.store.recoverLeases({ now: harness.host.now() + 10_000, limit: 10 });
  let ticks = 0;
  const timer = setInterval(() => ticks++, 10);
  await Bun.sleep(200);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  await until(harness, id, "completed");
});
