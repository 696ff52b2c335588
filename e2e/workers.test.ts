/** Worker processes: many share the queue, any of them may die, and none leaves anything running behind. */
import { afterEach, describe, expect, test } from "bun:test";
import type { Task } from "@executor/client";
import { commandLine, cpuMs, isRunning, processTree } from "@executor/testkit/installation/process-tree";
import type { ProductProcess } from "@executor/testkit/installation/product-process";
import {
  type Installation,
  type InstallationOptions,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

const started: Installation[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

async function start(options: InstallationOptions): Promise<Installation> {
  const installation = await startInstallation(options);
  started.push(installation);
  return installation;
}

/** Two calls and a timer: long enough to be in the middle of, when a worker dies. */
const code = (n: number) =>
  `const a = await tools.executor.echo({ value: ${n} }); await new Promise((done) => setTimeout(done, 20)); console.log("once"); return a + (await tools.executor.echo({ value: 1 }));`;

describe("two workers share 200 tasks", () => {
  test("each is run once, and both have their part", async () => {
    const installation = await start({ workers: 2 });
    const person = await signIn(installation);
    const tasks = await finish(person, await submit(person, 200));
    expect(tasks.map(({ status, result }) => [status, result])).toEqual(tasks.map((_, n) => ["completed", n + 1]));
    expect(tasks.filter(({ counts }) => counts.runs !== 1)).toEqual([]);
    await checkCalls(person, tasks.slice(0, 20));
    const cpu = installation.workers.map(({ pid }) => cpuMs(processTree(pid)));
    expect(Math.min(...cpu)).toBeGreaterThan(0.15 * Math.max(...cpu));
  }, 60_000);

  for (const store of ["sqlite", "convex"] as const) {
    const count = store === "sqlite" ? 200 : 40;
    test(`kill -9 of one in the middle loses nothing and doubles nothing (${store})`, async () => {
      const installation = await start({ store, workers: 2 });
      const person = await signIn(installation);
      const ids = await submit(person, count);
      await until(
        "the middle",
        async () => (await person.executor.tasks.list({ status: "completed", limit: 200 })).items.length > count / 10,
        20_000,
      );
      await installation.killWorker();
      const tasks = await finish(person, ids);
      expect(tasks.map(({ status, result }) => [status, result])).toEqual(tasks.map((_, n) => ["completed", n + 1]));
      const again = tasks.filter(({ counts }) => counts.runs > 1);
      console.log(`  ${again.length} of ${count} tasks were taken over (${store})`);
      expect(again.filter(({ counts }) => counts.runs > 2)).toEqual([]);
      for (const task of [...again.slice(0, 10), ...tasks.slice(0, 5)]) await checkEventsOf(person, task);
    }, 60_000);
  }
});

describe("a worker told to stop", () => {
  test("lets running tasks end, claims no more, and exits with 0", async () => {
    const installation = await start({ workers: 1 });
    const { executor } = await signIn(installation);
    const [worker] = installation.workers;
    const { taskId } = await executor.tasks.create(
      "await new Promise((done) => setTimeout(done, 600)); return 'ended'",
    );
    await until("the run", async () => (await executor.tasks.get(taskId)).status === "running");
    await Bun.sleep(50);
    worker?.kill("SIGTERM");
    await Bun.sleep(100);
    const late = await executor.tasks.create("return 'late'");
    expect(await worker?.exited).toBe(0);
    expect(await executor.tasks.get(taskId)).toMatchObject({
      status: "completed",
      result: "ended",
      counts: { runs: 1 },
    });
    expect((await executor.tasks.get(late.taskId)).status).toBe("queued");
    expect((await executor.health()).workers).toBe(0);
    await installation.startWorker();
    expect((await executor.tasks.wait(late.taskId, { timeoutMs: 10_000 })).result).toBe("late");
  });

  test("hands back what takes too long: another goes on at once, without waiting for the lease", async () => {
    const installation = await start({
      workers: 1,
      env: { EXECUTOR_WORKER_DRAIN_MS: "200", EXECUTOR_WORKER_LEASE_MS: "60000" },
    });
    const { executor } = await signIn(installation);
    const [worker] = installation.workers;
    const { taskId } = await executor.tasks.create(
      "const a = await tools.executor.echo({ value: 'kept' }); await new Promise((done) => setTimeout(done, 2_500)); return a",
    );
    await until("the call", async () => (await executor.tasks.calls(taskId)).items[0]?.status === "completed");
    worker?.kill("SIGTERM");
    expect(await worker?.exited).toBe(0);
    expect((await executor.tasks.get(taskId)).status).toBe("queued");
    await installation.startWorker();
    const task = await executor.tasks.wait(taskId, { timeoutMs: 15_000 });
    expect(task).toMatchObject({ status: "completed", result: "kept", counts: { runs: 2 } });
    expect((await executor.tasks.calls(taskId)).items.map(({ sends }) => sends)).toEqual([1]);
  });

  test("stops in order even the moment it is ready", async () => {
    const installation = await start({ workers: 0 });
    for (let round = 0; round < 5; round++) {
      const worker = await installation.startWorker();
      worker.kill("SIGTERM");
      expect(await worker.exited).toBe(0);
    }
  });

  test("stops though a guest is stuck in a builtin, and leaves no process", async () => {
    const { installation, worker, tree } = await startStuck({ EXECUTOR_WORKER_DRAIN_MS: "100" });
    const startedAt = Date.now();
    worker.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    expect(Date.now() - startedAt).toBeLessThan(5_000);
    await until("no process of its tree", () => !tree.some(isRunning), 3_000);
    expect(installation.server.isRunning).toBe(true);
  });
});

test("kill -9 of a worker whose guest is stuck in a builtin leaves no process", async () => {
  const { installation, worker, tree } = await startStuck();
  await installation.killWorker(worker);
  await until("no process of its tree", () => !tree.some(isRunning), 3_000).catch((error: unknown) => {
    throw new Error(`left behind: ${tree.filter(isRunning).map(commandLine).join("; ")}`, { cause: error });
  });
});

test("a worker whose starter is gone goes too, with all its children", async () => {
  const starter = Bun.spawn(["sleep", "60"]);
  const installation = await start({ workers: 0 });
  const worker = await installation.startWorker({ EXECUTOR_PARENT_PID: String(starter.pid) });
  const tree = processTree(worker.pid);
  starter.kill("SIGKILL");
  expect(await worker.exited).toBe(0);
  await until("no process of its tree", () => !tree.some(isRunning), 3_000);
});

test("a server with EXECUTOR_SERVER_AUTO_EXECUTE=1 runs tasks without a worker, and is as hard to stop a task in", async () => {
  const installation = await start({
    workers: 0,
    env: { EXECUTOR_SERVER_AUTO_EXECUTE: "1", EXECUTOR_LIMIT_CPU_MS: "500" },
  });
  const { executor } = await signIn(installation);
  expect(await executor.tasks.run<number>(code(41))).toBe(42);
  const hog = executor.tasks.run('new Array(2 ** 31).join("ab")');
  expect(await executor.tasks.run<number>("return 1")).toBe(1);
  await expect(hog).rejects.toMatchObject({ code: "task.cpu_limit" });
  expect((await executor.health()).workers).toBe(1);
  const tree = processTree(installation.server.pid);
  installation.server.kill("SIGTERM");
  expect(await installation.server.exited).toBe(0);
  await until("no process of its tree", () => !tree.some(isRunning), 3_000);
});

test("without any worker tasks wait in the queue, can be cancelled there, and are run when one comes", async () => {
  const installation = await start({ workers: 0 });
  const { executor } = await signIn(installation);
  const [first, second] = [await executor.tasks.create("return 1"), await executor.tasks.create("return 2")];
  expect((await executor.health()).workers).toBe(0);
  expect((await executor.tasks.cancel(first.taskId)).status).toBe("cancelled");
  await installation.startWorker();
  expect((await executor.tasks.wait(second.taskId, { timeoutMs: 10_000 })).result).toBe(2);
  expect((await executor.tasks.get(first.taskId)).counts.runs).toBe(0);
});

test("a workspace that floods the queue does not keep another waiting", async () => {
  const installation = await start({ workers: 1 });
  const [greedy, modest] = await Promise.all([signIn(installation), signIn(installation)]);
  const flood = Array.from({ length: 60 }, () =>
    greedy.executor.tasks.create("await new Promise((done) => setTimeout(done, 300)); return 1"),
  );
  const ids = (await Promise.all(flood)).map(({ taskId }) => taskId);
  const startedAt = Date.now();
  expect(await modest.executor.tasks.run<number>("return 7")).toBe(7);
  expect(Date.now() - startedAt).toBeLessThan(1_000);
  expect((await finish(greedy, ids)).every(({ status }) => status === "completed")).toBe(true);
});

async function startStuck(
  env: Record<string, string> = {},
): Promise<{ installation: Installation; worker: ProductProcess; tree: number[] }> {
  const installation = await start({ workers: 1, env });
  const { executor } = await signIn(installation);
  const [worker] = installation.workers;
  if (!worker) throw new Error("no worker");
  await executor.tasks.create('new Array(2 ** 31).join("ab")');
  const children = () => processTree(worker.pid).filter((pid) => pid !== worker.pid);
  await until("a child that burns a core", () => children().some((pid) => cpuMs([pid]) > 400), 10_000);
  return { installation, worker, tree: [worker.pid, ...children()] };
}

async function submit({ executor }: Person, count: number): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: count }, (_, n) => executor.tasks.create(code(n))));
  return made.map(({ taskId }) => taskId);
}

const finish = ({ executor }: Person, ids: string[]): Promise<Task[]> =>
  Promise.all(ids.map((taskId) => executor.tasks.wait(taskId, { timeoutMs: 40_000 })));

async function checkCalls({ executor }: Person, tasks: Task[]): Promise<void> {
  for (const { taskId } of tasks) {
    const { items } = await executor.tasks.calls(taskId);
    expect(items.map(({ ordinal, status, sends }) => [ordinal, status, sends])).toEqual([
      [0, "completed", 1],
      [1, "completed", 1],
    ]);
  }
}

/** However often it was run: numbered without a gap, printed once, ended once. (A safe call may be sent again after a crash.) */
async function checkEventsOf({ executor }: Person, { taskId }: Task): Promise<void> {
  const events = await Array.fromAsync(executor.tasks.events(taskId));
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const count = (type: string) => events.filter((event) => event.type === type).length;
  expect([count("task.created"), count("task.stdout"), count("task.completed"), count("tool.call.completed")]).toEqual([
    1, 1, 1, 2,
  ]);
}
