import { expect, test } from "bun:test";
import type { Session } from "@executor/contracts/identity";
import type { Call } from "@executor/contracts/call";
import type { CreatedTask, Task } from "@executor/contracts/task";
import { openTestApp, type TestApp } from "../testing/open-test-app.ts";
import { createStandInWorker } from "../testing/stand-in-worker.ts";

const submit = (app: TestApp, { sessionId, workspaceId }: Session, more: Record<string, unknown> = {}) =>
  app.json<CreatedTask>("POST", "/api/tasks", 201, {
    token: sessionId,
    body: { code: "return 1", workspaceId, ...more },
  });

test("a task is queued, found at its Location, and complete in what it tells", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const response = await app.call("POST", "/api/tasks", {
    token: me.sessionId,
    body: {
      code: "return 1",
      workspaceId: me.workspaceId,
      actorId: me.actorId,
      clientId: me.clientId,
      metadata: { a: 1 },
    },
  });
  const { taskId, status } = (await response.json()) as CreatedTask;
  expect([response.status, response.headers.get("location"), status]).toEqual([201, `/api/tasks/${taskId}`, "queued"]);
  const task = await app.json<Task>("GET", `/api/tasks/${taskId}`, 200, { token: me.sessionId });
  expect(task).toMatchObject({
    taskId,
    workspaceId: me.workspaceId,
    actorId: me.actorId,
    runtimeId: "in-process",
    status: "queued",
    code: "return 1",
    metadata: { a: 1 },
    timeoutMs: 300_000,
    pending: [],
  });
  expect(Object.values(task)).not.toContain(null);
});

test("nobody can submit as another actor, client or workspace", async () => {
  await using app = await openTestApp();
  const [me, other] = [await app.session(), await app.session()];
  const body = { code: "return 1", workspaceId: me.workspaceId };
  for (const more of [{ actorId: other.actorId }, { clientId: other.clientId }]) {
    expect((await app.problem("POST", "/api/tasks", { token: me.sessionId, body: { ...body, ...more } })).code).toBe(
      "auth.actor_mismatch",
    );
  }
  expect(
    (
      await app.problem("POST", "/api/tasks", {
        token: me.sessionId,
        body: { ...body, workspaceId: other.workspaceId },
      })
    ).code,
  ).toBe("workspace.not_found");
});

test("what cannot run is refused before there is a task", async () => {
  await using app = await openTestApp({ limits: { codeBytes: 1_000, runMs: 5_000 } });
  const me = await app.session();
  const refused = (more: Record<string, unknown>) =>
    app.problem("POST", "/api/tasks", {
      token: me.sessionId,
      body: { code: "return 1", workspaceId: me.workspaceId, ...more },
    });
  expect(await refused({ code: "SYNTAX" })).toMatchObject({
    code: "task.syntax_error",
    status: 422,
    detail: "2:3 Unexpected SYNTAX",
    data: { line: 2, column: 3 },
  });
  expect((await refused({ code: "é".repeat(501) })).code).toBe("task.code_too_large");
  expect((await refused({ runtimeId: "moon" })).code).toBe("runtime.not_found");
  expect(await refused({ runtimeId: "process" })).toMatchObject({
    code: "runtime.unavailable",
    status: 422,
    detail: expect.stringContaining("nothing confines it"),
  });
  expect((await refused({ timeoutMs: 3_600_001 })).code).toBe("request.invalid");
  expect((await refused({ metadata: { x: "y".repeat(64_000) } })).code).toBe("request.invalid");
  expect((await refused({ code: "" })).code).toBe("request.invalid");
  const { items } = await app.json<{ items: Task[] }>("GET", "/api/tasks", 200, { token: me.sessionId });
  expect(items).toEqual([]);
});

test("the same idempotency key finds the same task, and refuses another one", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const [token, body] = [
    me.sessionId,
    { code: "return 1", workspaceId: me.workspaceId, idempotencyKey: "k", metadata: { a: 1, b: 2 } },
  ];
  const first = await app.json<CreatedTask>("POST", "/api/tasks", 201, { token, body });
  const again = await app.json<CreatedTask>("POST", "/api/tasks", 200, {
    token,
    body: { ...body, metadata: { b: 2, a: 1 } },
  });
  expect(again.taskId).toBe(first.taskId);
  for (const other of [{ code: "return 2" }, { metadata: {} }, { timeoutMs: 1_000 }]) {
    expect((await app.problem("POST", "/api/tasks", { token, body: { ...body, ...other } })).code).toBe(
      "task.idempotency_conflict",
    );
  }
  const many = await Promise.all(
    Array.from({ length: 10 }, () =>
      app.call("POST", "/api/tasks", { token, body: { ...body, idempotencyKey: "race" } }),
    ),
  );
  const answers = await Promise.all(
    many.map(async (response) => [response.status, ((await response.json()) as CreatedTask).taskId] as const),
  );
  expect(answers.filter(([status]) => status === 201).length).toBe(1);
  expect(new Set(answers.map(([, taskId]) => taskId)).size).toBe(1);
});

test("wait answers with the whole task as soon as it has ended", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const worker = createStandInWorker(app.store);
  const stop = app.store.watch((hint) => {
    if (hint.kind === "queued")
      void app.store
        .peekQueue({ runtimeIds: ["in-process"], afterWorkspaceId: "" })
        .then(async ([task]) => task && (await worker.complete(task.taskId, { six: 42 })));
  });
  const startedMs = performance.now();
  const task = await app.json<Task>("POST", "/api/tasks?wait=30000", 201, {
    token: me.sessionId,
    body: { code: "return 1", workspaceId: me.workspaceId },
  });
  stop();
  expect(task).toMatchObject({ status: "completed", result: { six: 42 }, counts: { runs: 1 } });
  // Far below the poll: the hint did it.
  expect(performance.now() - startedMs).toBeLessThan(700);
});

test("wait also ends when the task waits for a person, and when the time is over", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const worker = createStandInWorker(app.store);
  const { taskId } = await submit(app, me);
  const path = `/api/tasks/${taskId}`;
  expect((await app.json<Task>("GET", `${path}?wait=50`, 200, { token: me.sessionId })).status).toBe("queued");
  const waiting = app.json<Task>("GET", `${path}?wait=60000`, 200, { token: me.sessionId });
  await Bun.sleep(20);
  const approvalId = await worker.ask(taskId);
  expect(await waiting).toMatchObject({
    status: "waiting",
    pending: [{ interactionId: approvalId, kind: "approval", status: "pending" }],
    counts: { pending: 1, calls: 1 },
  });
  for (const wait of ["60001", "-1", "x"])
    expect((await app.problem("GET", `${path}?wait=${wait}`, { token: me.sessionId })).code).toBe("request.invalid");
});

test("wait sees what came without a hint, and a client that leaves frees it", async () => {
  await using app = await openTestApp({ deps: {} });
  const me = await app.session();
  const { taskId } = await submit(app, me);
  const leaving = new AbortController();
  const left = app.call("GET", `/api/tasks/${taskId}?wait=60000`, { token: me.sessionId, signal: leaving.signal });
  await Bun.sleep(20);
  leaving.abort();
  await left.catch(() => undefined);
  const { readTaskStatus } = app.store;
  const waiting = app.json<Task>("GET", `/api/tasks/${taskId}?wait=60000`, 200, { token: me.sessionId });
  await Bun.sleep(20);
  // As if another process had done it and its hint was lost: the row changes, nobody tells.
  app.store.readTaskStatus = async (args) =>
    ({ ...(await readTaskStatus(args)), status: "completed" }) as Awaited<ReturnType<typeof readTaskStatus>>;
  expect((await waiting).taskId).toBe(taskId);
});

test("pages of tasks hold each one once, newest first, also within one millisecond", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const fixed = Date.now();
  app.deps.host.now = () => fixed;
  const created = [];
  for (let count = 0; count < 7; count++) created.push((await submit(app, me)).taskId);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await app.json<{ items: Task[]; nextCursor?: string }>(
      "GET",
      `/api/tasks?limit=3${cursor ? `&cursor=${cursor}` : ""}`,
      200,
      { token: me.sessionId },
    );
    seen.push(...page.items.map((task) => task.taskId));
    cursor = page.nextCursor;
  } while (cursor);
  expect(seen.length).toBe(7);
  expect(new Set(seen)).toEqual(new Set(created));
});

test("calls show their input and output, unless too long", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const worker = createStandInWorker(app.store);
  const { taskId } = await submit(app, me);
  const fence = await worker.claim(taskId);
  const call = (ordinal: number, inputJson: string) => ({
    kind: "call" as const,
    callId: `call_${ordinal}`,
    ordinal,
    callKey: `${ordinal}`,
    toolPath: "a.b",
    inputJson,
    inputDigest: "d",
    at: 1,
  });
  const done = (ordinal: number, outcomeKind: "result" | "error", outcomeJson: string) => ({
    kind: "done" as const,
    callId: `call_${ordinal}`,
    at: 2,
    status: outcomeKind === "error" ? ("failed" as const) : ("completed" as const),
    outcomeKind,
    outcomeJson,
    why: "w",
    deliverySeq: ordinal,
    deliveredAtMs: 2,
    deliveredRunMs: 1,
  });
  const long = JSON.stringify("x".repeat(70_000));
  const huge = JSON.stringify("x".repeat(600_000));
  await app.store.recordProgress({
    fence,
    entries: [
      call(0, '{"a":1}'),
      done(0, "result", "[1]"),
      call(1, long),
      done(1, "error", '{"code":"call.failed","message":"no"}'),
      call(2, "{}"),
      done(2, "result", huge),
    ],
  });
  const page = await app.json<{ items: Call[]; nextCursor?: string }>(
    "GET",
    `/api/tasks/${taskId}/calls?limit=2`,
    200,
    { token: me.sessionId },
  );
  expect(page.items).toMatchObject([
    { input: { a: 1 }, inputBytes: 7, output: [1], truncated: false, status: "completed" },
    { truncated: true, status: "failed", error: { code: "call.failed", message: "no" } },
  ]);
  expect(page.items[1]?.input).toBeUndefined();
  const rest = await app.json<{ items: Call[]; nextCursor?: string }>(
    "GET",
    `/api/tasks/${taskId}/calls?limit=2&cursor=${page.nextCursor}`,
    200,
    { token: me.sessionId },
  );
  expect(rest).toMatchObject({ items: [{ ordinal: 2, truncated: true }] });
  expect(rest.nextCursor).toBeUndefined();
});

test("an agent cancels its own tasks only; a reviewer any; an ended one is 409", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const [agent, reviewer] = [await app.key(me, "agent"), await app.key(me, "reviewer")];
  const body = { workspaceId: me.workspaceId };
  const { taskId } = await submit(app, me);
  const cancel = `/api/tasks/${taskId}/cancel`;
  expect((await app.problem("POST", cancel, { token: agent.token, body })).code).toBe("auth.forbidden");
  expect(await app.json<Task>("POST", cancel, 200, { token: reviewer.token, body })).toMatchObject({
    status: "cancelled",
    error: { code: "task.cancelled" },
  });
  expect((await app.problem("POST", cancel, { token: me.sessionId, body })).code).toBe("task.already_ended");
  const own = await app.json<CreatedTask>("POST", "/api/tasks", 201, {
    token: agent.token,
    body: { code: "return 1", ...body },
  });
  await app.json("POST", `/api/tasks/${own.taskId}/cancel`, 200, { token: agent.token, body });
});
