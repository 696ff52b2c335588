/** The SDK against the real product, the way a program uses it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { bootstrap, createExecutor, type Executor, ExecutorError, type TaskEvent } from "@executor/client";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { until } from "./support/until.ts";

let installation: Installation;
let executor: Executor;
/** Another client: a reviewer with a key of its own. */
let reviewer: Executor;
beforeAll(async () => {
  installation = await startInstallation();
  const session = await bootstrap({ baseUrl: installation.url });
  executor = createExecutor({ baseUrl: installation.url, token: session.sessionId });
  const key = await executor.keys.create({ role: "reviewer", label: "reviewer" });
  reviewer = createExecutor({ baseUrl: installation.url, token: key.token });
  await executor.policies.create({
    toolPathPattern: "executor.echo",
    decision: "require_approval",
    conditions: [{ path: "value", op: "matches", value: "ask*" }],
  });
});
afterAll(() => installation.stop());

test("run gives what the code returned", async () => {
  const value = await executor.tasks.run<{ n: number }>("interface A { n: number } const a: A = { n: 3 }; return a");
  expect(value).toEqual({ n: 3 });
  expect(await executor.me()).toMatchObject({ role: "admin", installationAdmin: false });
  expect(await executor.health()).toMatchObject({ ok: true, store: { kind: "sqlite" }, workers: 1 });
});

test("run tells of what it waits for, and goes on when another client approves", async () => {
  const waited: string[] = [];
  const events: TaskEvent[] = [];
  const value = await executor.tasks.run(
    `return [await tools.executor.echo({ value: "ask 1" }), await tools.executor.echo({ value: "ask 2" })]`,
    {
      onWaiting: async (task) => {
        for (const { interactionId, kind, toolPath } of task.pending) {
          waited.push(`${kind} ${toolPath}`);
          expect((await reviewer.approvals.get(interactionId)).status).toBe("pending");
          await reviewer.approvals.approve(interactionId, { reason: "fine" });
        }
      },
      onEvent: (event) => void events.push(event),
      timeoutMs: 20_000,
    },
  );
  expect(value).toEqual(["ask 1", "ask 2"]);
  expect(waited).toEqual(["approval executor.echo", "approval executor.echo"]);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(events.at(-1)?.type).toBe("task.completed");
});

test("a person's no ends the task as denied, with the person's reason", async () => {
  const error = await failure(
    executor.tasks.run(`return await tools.executor.echo({ value: "ask" })`, {
      onWaiting: async ({ pending }) =>
        void (await reviewer.approvals.deny(pending[0]?.interactionId ?? "", { reason: "not today" })),
    }),
  );
  expect(error.code).toBe("approval.denied");
  expect(error.detail).toContain("not today");
  expect(error.task).toMatchObject({ status: "denied", error: { code: "approval.denied", toolPath: "executor.echo" } });
});

test("code that catches a no goes on, and is not asked the same again", async () => {
  const code = `
    const codes = [];
    for (let i = 0; i < 2; i++) try { await tools.executor.echo({ value: "ask" }); } catch (error) { codes.push(error.code, error instanceof ToolError); }
    return codes;`;
  let asked = 0;
  const value = await executor.tasks.run(code, {
    onWaiting: async ({ pending }) => {
      asked += pending.length;
      for (const { interactionId } of pending) await reviewer.approvals.deny(interactionId);
    },
    timeoutMs: 20_000,
  });
  expect(value).toEqual(["approval.denied", true, "approval.denied", true]);
  expect(asked).toBe(1);
});

test("a policy that denies ends the task by its name, and hides the tool", async () => {
  const policy = await executor.policies.create({ toolPathPattern: "human.*", decision: "deny" });
  const error = await failure(executor.tasks.run("return await tools.human.ask({ question: '?' })"));
  expect([error.code, error.task?.status]).toEqual(["policy.denied", "denied"]);
  expect((await executor.tools.list()).items.map(({ path }) => path)).not.toContain("human.ask");
  expect(
    await executor.tasks.run(
      "return (await tools.discover({ query: 'ask a person' })).results.map((tool) => tool.path)",
    ),
  ).not.toContain("human.ask");
  await executor.policies.remove(policy.policyId);
  expect((await executor.tools.list()).items.map(({ path }) => path)).toContain("human.ask");
});

test("policies.test tells which rule decides, without calling anything", async () => {
  const asks = await executor.policies.test({ toolPath: "executor.echo", input: { value: "ask me" } });
  expect(asks).toMatchObject({ decision: "require_approval", toolFound: true, matched: [asks.policyId ?? ""] });
  const allows = await executor.policies.test({ toolPath: "executor.echo", input: { value: "tell me" } });
  expect(allows).toMatchObject({ decision: "allow", toolFound: true, matched: [] });
  expect(allows.policyId).toBeUndefined();
  expect((await executor.policies.test({ toolPath: "no.such.tool" })).toolFound).toBe(false);
});

test("human.ask is answered through interactions, and only with what fits", async () => {
  const asked = executor.tasks.run("return await tools.human.ask({ question: 'Which one?', options: ['a', 'b'] })");
  const question = await until("the question", async () =>
    (await reviewer.interactions.list({ status: "pending" })).items.find(({ kind }) => kind === "question"),
  );
  expect(question).toMatchObject({ title: "Which one?", schema: { enum: ["a", "b"] } });
  expect((await failure(reviewer.interactions.answer(question.interactionId, "c"))).code).toBe("request.invalid");
  expect((await failure(reviewer.approvals.approve(question.interactionId))).status).toBeGreaterThanOrEqual(404);
  await reviewer.interactions.answer(question.interactionId, "b");
  expect(await asked).toBe("b");
  expect((await failure(reviewer.interactions.answer(question.interactionId, "a"))).code).toBe(
    "interaction.already_resolved",
  );
});

test("a question nobody wants to answer is declined, and the code learns of it", async () => {
  const asked = executor.tasks.run(
    "try { await tools.human.ask({ question: 'No?' }) } catch (error) { return error.code }",
  );
  const question = await until(
    "the question",
    async () => (await reviewer.interactions.list({ status: "pending" })).items[0],
  );
  await reviewer.interactions.decline(question.interactionId, { reason: "busy" });
  expect(await asked).toBe("approval.denied");
});

test("a task is cancelled while it runs, while it waits, and by aborting run; a second cancel is refused", async () => {
  const running = await executor.tasks.create(
    "console.log('go'); for (;;) await new Promise((done) => setTimeout(done, 10))",
  );
  await until("output", async () => (await executor.tasks.get(running.taskId)).counts.outputLines === 1);
  expect((await executor.tasks.cancel(running.taskId)).status).toBe("cancelled");
  expect((await failure(executor.tasks.cancel(running.taskId))).code).toBe("task.already_ended");
  const events = await Array.fromAsync(executor.tasks.events(running.taskId));
  expect(events.at(-1)?.type).toBe("task.cancelled");

  const waiting = await executor.tasks.create(`await tools.executor.echo({ value: "ask" })`, { waitMs: 10_000 });
  expect(waiting.status).toBe("waiting");
  await executor.tasks.cancel(waiting.taskId);
  expect((await executor.approvals.list({ taskId: waiting.taskId })).items.map(({ status }) => status)).toEqual([
    "cancelled",
  ]);

  const controller = new AbortController();
  const aborted = failure(
    executor.tasks.run("await new Promise((done) => setTimeout(done, 60_000))", {
      signal: controller.signal,
      cancelOnAbort: true,
    }),
  );
  await Bun.sleep(200);
  controller.abort();
  const error = await aborted;
  expect([error.code, error.task?.status]).toEqual(["client.aborted", "cancelled"]);
});

test("the same idempotency key finds the same task; with other code it is refused", async () => {
  const [a, b] = await Promise.all(
    [1, 2].map(() => executor.tasks.create({ code: "return 1", idempotencyKey: "once" })),
  );
  expect(a?.taskId).toBe(b?.taskId ?? "");
  expect((await failure(executor.tasks.create({ code: "return 2", idempotencyKey: "once" }))).code).toBe(
    "task.idempotency_conflict",
  );
  await expect(executor.tasks.create("return (")).rejects.toMatchObject({ code: "task.syntax_error", status: 422 });
  await expect(executor.tasks.create({ code: "return 1", runtimeId: "none" })).rejects.toMatchObject({
    code: "runtime.not_found",
    status: 422,
  });
});

test("errors tell the code, the line of the submitted code, and the nearest names of an unknown tool", async () => {
  const thrown = await failure(executor.tasks.run("const a = 1;\n\nthrow new RangeError('too far ' + a)"));
  expect(thrown.task?.error).toMatchObject({ code: "task.failed", message: "RangeError: too far 1", line: 3 });
  const unknown = await failure(executor.tasks.run("await tools.executor.ecko({})"));
  expect(unknown.code).toBe("tool.not_found");
  expect(unknown.detail).toContain("executor.echo");
});

test("run, events and a task with a timer survive kill -9 and restart of the server, without gap or duplicate", async () => {
  const code = `for (let i = 0; i < 10; i++) { console.log("step " + i); await new Promise((done) => setTimeout(done, 200)); } return "through"`;
  const { taskId } = await executor.tasks.create(code);
  const seen: TaskEvent[] = [];
  const following = (async () => {
    for await (const event of executor.tasks.events(taskId)) seen.push(event);
  })();
  const workspace: TaskEvent[] = [];
  const controller = new AbortController();
  const watching = (async () => {
    for await (const event of executor.events({ signal: controller.signal })) workspace.push(event);
  })().catch(() => undefined);
  const ran = executor.tasks.run<string>(code);
  await until("some steps", () => seen.length > 5);
  await installation.killServer();
  await Bun.sleep(300);
  await installation.startServer();
  expect(await ran).toBe("through");
  await following;
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => index + 1));
  expect(seen.filter(({ type }) => type === "task.stdout").map(({ data }) => data["text"])).toEqual(
    Array.from({ length: 10 }, (_, i) => `step ${i}`),
  );
  expect(seen.at(-1)?.type).toBe("task.completed");
  await until(
    "the workspace's last event",
    () => workspace.filter(({ type }) => type === "task.completed").length === 2,
  );
  controller.abort();
  await watching;
  const first = workspace[0]?.workspaceSequence ?? 0;
  expect(workspace.map(({ workspaceSequence }) => workspaceSequence)).toEqual(
    workspace.map((_, index) => first + index),
  );
});

test("lists are walked page by page, and the audit tells who did what", async () => {
  const made = await Promise.all(
    Array.from({ length: 7 }, (_, i) =>
      executor.tasks.create({ code: "return 1", metadata: { i } }, { waitMs: 5_000 }),
    ),
  );
  const ids: string[] = [];
  for await (const task of executor.tasks.each({ limit: 3 })) ids.push(task.taskId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { taskId } of made) expect(ids).toContain(taskId);
  const entries = await Array.fromAsync(executor.audit.each({ limit: 50 }));
  const actions = new Set(entries.map(({ action }) => action));
  for (const action of ["key.created", "policy.created", "approval.requested", "task.cancelled"])
    expect([...actions]).toContain(action);
  const sequences = entries.map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((a, b) => (sequences[0] === Math.max(...sequences) ? b - a : a - b)));
});

async function failure(work: Promise<unknown>): Promise<ExecutorError> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ExecutorError)) throw error;
  return error;
}
