/**
 * Tasks in VMs, from submission to result, through real server and worker processes: the real SDK against the stand-in of
 * Vercel's API, whose VMs are Node processes that call the server's /internal routes.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Task } from "@executor/client";
import {
  type Installation,
  type InstallationOptions,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import { FakeTailscale } from "@executor/testkit/tailscale/fake-tailscale";
import { fakeCredentials, SandboxApi } from "@executor/testkit/vercel/sandbox-api";
import { type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

let api: SandboxApi;
const started: Installation[] = [];
beforeAll(async () => void (api = await SandboxApi.start()));
afterAll(() => api.stop());
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
  api.mishaps.length = 0;
});

const credentials = {
  VERCEL_TOKEN: fakeCredentials.token,
  VERCEL_TEAM_ID: fakeCredentials.teamId,
  VERCEL_PROJECT_ID: fakeCredentials.projectId,
};

async function start(options: InstallationOptions = {}): Promise<{ installation: Installation; person: Person }> {
  const port = freePort();
  const env = {
    ...credentials,
    EXECUTOR_VERCEL_API_URL: api.url,
    EXECUTOR_VERCEL_SANDBOX_GRACE_MS: "500",
    EXECUTOR_INTERNAL_BASE_URL: `http://127.0.0.1:${port}`,
    ...options.env,
  };
  const installation = await startInstallation({ ...options, port, env });
  started.push(installation);
  return { installation, person: await signIn(installation) };
}

/** The URL must be known before the server is started. */
function freePort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  void server.stop(true);
  return port ?? 0;
}

const submit = async ({ executor }: Person, code: string, timeoutMs?: number): Promise<string> =>
  (await executor.tasks.create({ code, runtimeId: "vercel-sandbox", ...(timeoutMs !== undefined && { timeoutMs }) }))
    .taskId;

const ENDED = ["completed", "failed", "timed_out", "denied", "cancelled"];
async function finish({ executor }: Person, taskId: string): Promise<Task> {
  await until("the task ends", async () => ENDED.includes((await executor.tasks.get(taskId)).status), 25_000);
  return await executor.tasks.get(taskId);
}

const isWaiting = ({ executor }: Person, taskId: string) =>
  until("the task waits", async () => (await executor.tasks.get(taskId)).status === "waiting", 20_000);
const noMachines = () => until("all VMs are deleted", () => api.sandboxes.size === 0, 20_000);

async function pathsOf({ executor }: Person, taskId: string): Promise<string[]> {
  return (await executor.tasks.calls(taskId)).items.map(({ toolPath, status }) => `${toolPath} ${status}`);
}

const echo = "tools.executor.echo";

for (const store of ["sqlite", "convex"] as const) {
  test(`a task runs in a VM: calls, output, timers, result (${store})`, async () => {
    const { person, installation } = await start({ store });
    const before = api.made.length;
    const code = `console.log("hello from", typeof fetch); const a = await ${echo}({ value: 20 });
      await new Promise((done) => setTimeout(done, 30)); const [b, c] = await Promise.all([${echo}({ value: 1 }), ${echo}({ value: "ä😀" })]); return [a + b, c];`;
    const task = await finish(person, await submit(person, code));
    expect([task.status, task.result, task.error]).toEqual(["completed", [21, "ä😀"], undefined]);
    expect(task.counts.runs).toBe(1);
    const events = await Array.fromAsync(person.executor.tasks.events(task.taskId));
    expect(events.filter(({ type }) => type === "task.stdout").map(({ data }) => data)).toEqual([
      { text: "hello from undefined" },
    ] as never);
    await noMachines();
    expect(api.made.length - before).toBe(1);
    expect(installation.logs).not.toMatch(/ex_run_/);
  }, 60_000);
}

test("an approval in the middle: the VM is given up while a person thinks, the code goes on in another", async () => {
  const { person } = await start();
  const before = api.made.length;
  const rule = { toolPathPattern: "executor.echo", decision: "require_approval" } as const;
  await person.executor.policies.create({ ...rule, conditions: [{ path: "value", op: "equals", value: "ask" }] });
  const code = `const a = await ${echo}({ value: "free" }); const b = await ${echo}({ value: "ask" }); return [a, b, Math.random()];`;
  const taskId = await submit(person, code);
  await isWaiting(person, taskId);
  const waiting = await person.executor.tasks.get(taskId);
  await noMachines();
  const [approval] = waiting.pending;
  await person.executor.approvals.approve(approval?.interactionId ?? "");
  const task = await finish(person, taskId);
  expect([task.status, (task.result as unknown[]).slice(0, 2)]).toEqual(["completed", ["free", "ask"]]);
  expect(task.counts.runs).toBe(2);
  expect(await pathsOf(person, taskId)).toEqual(["executor.echo completed", "executor.echo completed"]);
  expect(api.made.length - before).toBe(2);
}, 90_000);

describe("with one worker", () => {
  test("a VM that is lost in the middle: the guest is replayed in another, within the same run", async () => {
    const { person } = await start();
    const before = api.made.length;
    const code = `const a = await ${echo}({ value: 1 }); await new Promise((done) => setTimeout(done, 1500)); return a + (await ${echo}({ value: 2 }));`;
    const taskId = await submit(person, code);
    await until("the first call", async () => (await person.executor.tasks.get(taskId)).counts.calls > 0, 20_000);
    await Bun.sleep(300);
    for (const vm of api.sandboxes.values()) api.lose(vm);
    const task = await finish(person, taskId);
    expect([task.status, task.result, task.counts.runs]).toEqual(["completed", 3, 1]);
    expect(await pathsOf(person, taskId)).toEqual(["executor.echo completed", "executor.echo completed"]);
    expect(api.made.length - before).toBe(2);
  }, 60_000);

  test("a dropped response to the run command: it ran once", async () => {
    const { person } = await start();
    const before = api.commandCount;
    api.mishaps.push({ on: /POST .*\/cmd$/, how: "drop", times: 5 });
    const task = await finish(person, await submit(person, `return await ${echo}({ value: 1 });`));
    expect([task.status, task.result]).toEqual(["completed", 1]);
    expect(api.commandCount - before).toBe(1);
  }, 60_000);

  test("what a policy denies is denied through the callback too", async () => {
    const { person } = await start();
    await person.executor.policies.create({ toolPathPattern: "executor.*", decision: "deny" });
    const task = await finish(person, await submit(person, `return await ${echo}({ value: 1 });`));
    expect([task.status, task.error?.code]).toEqual(["denied", "policy.denied"]);
  }, 60_000);

  test("a token that Vercel does not take: the task fails with what to do", async () => {
    const { person } = await start({ env: { VERCEL_TOKEN: "wrong" } });
    const task = await finish(person, await submit(person, "return 1;"));
    expect([task.status, task.error?.code]).toEqual(["failed", "runtime.unavailable"]);
    expect(task.error?.message).toMatch(/Vercel refused the credentials.*VERCEL_TOKEN/);
  }, 60_000);

  test("cancel ends it at once and its VM soon; a timeout and a limit end it as anywhere", async () => {
    const { person } = await start();
    const taskId = await submit(person, `await ${echo}({ value: 1 }); for (;;) ;`);
    await until("it runs", async () => (await person.executor.tasks.get(taskId)).counts.calls > 0, 20_000);
    await person.executor.tasks.cancel(taskId);
    expect((await person.executor.tasks.get(taskId)).status).toBe("cancelled");
    await noMachines();
    const late = await finish(
      person,
      await submit(person, "await new Promise((done) => setTimeout(done, 60000));", 700),
    );
    expect([late.status, late.error?.code]).toEqual(["timed_out", "task.timed_out"]);
    const thrown = await finish(person, await submit(person, "const x: any = null;\nreturn x.y;"));
    expect([thrown.status, thrown.error?.code, thrown.error?.line]).toEqual(["failed", "task.failed", 2]);
    await noMachines();
  }, 90_000);
});

test("cancel in every state: queued, asleep, waiting for a person, and when it is over", async () => {
  const { person, installation } = await start();
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
  const cancel = async (taskId: string) => {
    await person.executor.tasks.cancel(taskId);
    expect((await person.executor.tasks.get(taskId)).status).toBe("cancelled");
  };
  const asleep = await submit(person, `console.log("here"); await new Promise((done) => setTimeout(done, 50_000));`);
  await until("it runs", () => api.sandboxes.size === 1, 20_000);
  await until("the runner speaks", () => api.requests.some((line) => /GET .*\/cmd\//.test(line)), 20_000);
  await cancel(asleep);
  await noMachines();

  const waiting = await submit(person, `return await ${echo}({ value: 1 });`);
  await isWaiting(person, waiting);
  await cancel(waiting);
  await noMachines();

  const done = await submit(person, "return 1;");
  expect((await finish(person, done)).status).toBe("completed");
  await expect(person.executor.tasks.cancel(done)).rejects.toThrow();

  await installation.killWorker();
  const before = api.made.length;
  const queued = await submit(person, "return 1;");
  await cancel(queued);
  await installation.startWorker();
  expect((await finish(person, await submit(person, "return 2;"))).result).toBe(2);
  expect(api.made.length - before).toBe(1);
}, 90_000);

test("a result and a line of output as large as they may be, with characters of all lengths", async () => {
  const { person } = await start();
  const task = await finish(
    person,
    await submit(person, `console.log("ä😀x".repeat(20_000)); return "ä😀x".repeat(120_000);`),
  );
  expect([task.status, task.error]).toEqual(["completed", undefined]);
  expect(task.result === "ä😀x".repeat(120_000)).toBe(true);
  const events = await Array.fromAsync(person.executor.tasks.events(task.taskId));
  const printed = events.flatMap(({ type, data }) => (type === "task.stdout" ? [(data as { text: string }).text] : []));
  expect(printed.join("") === "ä😀x".repeat(20_000)).toBe(true);
  const over = await finish(person, await submit(person, `return "x".repeat(10_100_000);`));
  expect([over.status, over.error?.code]).toEqual(["failed", "task.result_too_large"]);
}, 60_000);

test("kill -9 of the worker, then of the server: the old VM's token is dead, the task comes out right", async () => {
  const { person, installation } = await start();
  const code = `const a = await ${echo}({ value: 1 }); await new Promise((done) => setTimeout(done, 2500)); return a + (await ${echo}({ value: 2 }));`;
  const first = await submit(person, code);
  await until("it runs", async () => (await person.executor.tasks.get(first)).counts.calls > 0, 20_000);
  const orphan = [...api.sandboxes.values()].at(-1);
  await installation.killWorker();
  await installation.startWorker();
  expect((await finish(person, first)).result).toBe(3);
  // Nobody deleted the first worker's VM (its own timeout does), but its runner was told that the run is over.
  await until("the old runner gives up", () => orphan?.commands[0]?.child.exitCode === 3, 25_000);

  const second = await submit(person, code);
  await until("it runs", async () => (await person.executor.tasks.get(second)).counts.calls > 0, 20_000);
  await installation.killServer();
  await installation.startServer();
  const task = await finish(person, second);
  expect([task.status, task.result, task.counts.runs]).toEqual(["completed", 3, 1]);
  if (orphan) api.lose(orphan);
}, 120_000);

test("without credentials, or without a way to call back, it is not offered, and says why", async () => {
  for (const [env, reason] of [
    [{ VERCEL_TOKEN: "" }, /VERCEL_OIDC_TOKEN/],
    [{ EXECUTOR_INTERNAL_BASE_URL: "", EXECUTOR_AUTO_TAILSCALE_FUNNEL: "0" }, /EXECUTOR_INTERNAL_BASE_URL/],
  ] as const) {
    const { person } = await start({ env, workers: 0 });
    const target = (await person.executor.runtimes.list()).items.find(({ id }) => id === "vercel-sandbox");
    expect(target).toMatchObject({ available: false, reason: expect.stringMatching(reason) });
    const answer = await person.ask("POST /api/tasks", {
      body: { code: "return 1;", workspaceId: person.workspaceId, runtimeId: "vercel-sandbox" },
    });
    expect([answer.status, answer.body.code]).toEqual([422, "runtime.unavailable"]);
  }
}, 60_000);

test("a Funnel is opened on the server's own port, told of while it does not answer, and taken back at the end", async () => {
  const tailscale = new FakeTailscale({ mode: "ok", config: {} });
  const path = `${tailscale.folder}:${process.env["PATH"]}`;
  const { installation, person } = await start({ env: { EXECUTOR_INTERNAL_BASE_URL: "", PATH: path }, workers: 0 });
  await until("it is exposed", () => JSON.stringify(tailscale.config).includes("/internal"), 10_000);
  expect(JSON.stringify(tailscale.config)).toContain(`http://127.0.0.1:${installation.port}/internal`);
  const reason = async () =>
    (await person.executor.runtimes.list()).items.find(({ id }) => id === "vercel-sandbox")?.reason ?? "";
  await until("it says so", async () => (await reason()).includes("does not lead here yet"), 15_000);
  await Promise.all(started.splice(0).map((each) => each.stop()));
  expect(JSON.stringify(tailscale.config)).not.toContain("/internal");
  tailscale.remove();
}, 60_000);
