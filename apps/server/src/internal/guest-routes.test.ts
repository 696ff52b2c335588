/** The callback routes: a token is good for its run, while that runs, and for nothing else; and what a Funnel may reach. */
import { expect, test } from "bun:test";
import type { Fence } from "@executor/core/store/progress";
import { openTestApp, type TestApp } from "../testing/open-test-app.ts";

const token = (letter: string): string => `ex_run_${letter.repeat(43)}`;

async function running(app: TestApp): Promise<Fence> {
  const { workspaceId, sessionId } = await app.session();
  const body = { code: "return 1;", workspaceId };
  const { taskId } = await app.json<{ taskId: string }>("POST", "/api/tasks", 201, { token: sessionId, body });
  const claim = await app.store.claimTask({ taskId, workerId: "worker_a", leaseMs: 60_000, now: Date.now() });
  return { taskId, workspaceId, workerId: "worker_a", attempt: claim?.task.attempt ?? 0 };
}

async function openLink(app: TestApp, fence: Fence, letter: string, expiresInMs = 60_000): Promise<string> {
  const linkId = app.deps.host.newId("run");
  const now = Date.now();
  const tokenHash = app.deps.host.sha256(token(letter));
  await app.store.openGuestLink({ fence, linkId, tokenHash, expiresAt: now + expiresInMs, now });
  return linkId;
}

const hello = { runner: "runner-1", turn: 0, part: 0, text: "{}", last: false, after: 0 };

async function status(app: TestApp, runId: string, letter: string, body: object = hello, route = "tool-call") {
  const answer = await app.call("POST", `/internal/runs/${runId}/${route}`, { token: token(letter), body });
  return [answer.status, ((await answer.json()) as { code?: string }).code];
}

const refused = [401, "auth.invalid"];

test("a token speaks for its own run, and for no other task, workspace or run", async () => {
  await using app = await openTestApp();
  const [mine, foreign] = [await running(app), await running(app)];
  expect(mine.workspaceId).not.toBe(foreign.workspaceId);
  const [a, b] = [await openLink(app, mine, "a"), await openLink(app, foreign, "b")];
  expect(await status(app, a, "a")).toEqual([200, undefined]);
  expect(await status(app, b, "a")).toEqual(refused);
  expect(await status(app, a, "b")).toEqual(refused);
  expect(await status(app, "run_unknown", "a")).toEqual(refused);
  expect(await status(app, mine.taskId, "a")).toEqual(refused);
  // A body cannot say whose it is.
  for (const extra of [{ workspaceId: foreign.workspaceId }, { taskId: foreign.taskId }, { toolPath: "x" }])
    expect(await status(app, a, "a", { ...hello, ...extra })).toEqual([400, "request.invalid"]);
});

test.each([
  ["settled", (app: TestApp, fence: Fence) => settle(app, fence)],
  ["paused", (app: TestApp, fence: Fence) => pause(app, fence)],
  ["cancelled", (app: TestApp, fence: Fence) => cancel(app, fence)],
  ["taken over by another worker", (app: TestApp, fence: Fence) => takeOver(app, fence)],
  ["replaced by a new guest", (app: TestApp, fence: Fence) => openLink(app, fence, "z")],
])("a token is dead once its run is %s", async (_, end) => {
  await using app = await openTestApp();
  const fence = await running(app);
  const runId = await openLink(app, fence, "a");
  expect(await status(app, runId, "a")).toEqual([200, undefined]);
  await end(app, fence);
  for (const route of ["tool-call", "output"])
    expect([route, await status(app, runId, "a", hello, route)]).toEqual([route, refused]);
  expect(await status(app, runId, "a", { runner: "runner-1", turn: 0, after: 0 })).toEqual(refused);
});

test("a token that expired, a key of a person and no token at all are refused", async () => {
  await using app = await openTestApp();
  const fence = await running(app);
  const runId = await openLink(app, fence, "a", -1);
  expect(await status(app, runId, "a")).toEqual(refused);
  const { sessionId } = await app.session();
  const path = `/internal/runs/${runId}/tool-call`;
  expect((await app.call("POST", path, { token: sessionId, body: hello })).status).toBe(401);
  expect((await app.call("POST", path, { body: hello })).status).toBe(401);
  expect((await app.call("POST", path, { token: "ex_run_short", body: hello })).status).toBe(401);
});

test("a run's token opens nothing else", async () => {
  await using app = await openTestApp();
  await openLink(app, await running(app), "a");
  for (const path of ["/api/tasks", "/api/tools", "/api/approvals", "/api/keys"])
    expect([path, (await app.call("GET", path, { token: token("a") })).status]).toEqual([path, 401]);
});

test("the process that spoke first is the one that is listened to", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  expect(await status(app, runId, "a")).toEqual([200, undefined]);
  expect(await status(app, runId, "a", { ...hello, runner: "runner-2" })).toEqual(refused);
});

test("a turn that ended is answered when its answer is there, and a wait ends when the run does", async () => {
  await using app = await openTestApp();
  const fence = await running(app);
  const runId = await openLink(app, fence, "a");
  const asking = app.call("POST", `/internal/runs/${runId}/tool-call`, {
    token: token("a"),
    body: { ...hello, last: true },
  });
  await Bun.sleep(50);
  await app.store.answerGuest({ linkId: runId, turn: 0, text: "[]", last: true, taken: 1 });
  expect(await (await asking).json()).toEqual({ texts: ["[]"], last: true });
  const next = { runner: "runner-1", turn: 1, part: 0, text: "{}", last: true, after: 1 };
  const waiting = status(app, runId, "a", next);
  await Bun.sleep(50);
  await settle(app, fence);
  expect(await waiting).toEqual(refused);
});

test("malformed requests are refused and change nothing", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  for (const body of [
    {},
    { ...hello, turn: -1 },
    { ...hello, part: "0" },
    { ...hello, text: 1 },
    { ...hello, turn: 5 },
  ])
    expect([body, await status(app, runId, "a", body)]).toEqual([body, [400, "request.invalid"]]);
  const huge = { ...hello, text: "x".repeat(9_000_000) };
  expect(await status(app, runId, "a", huge)).toEqual([413, "request.too_large"]);
  // Without a good token nobody is told even that.
  expect(await status(app, runId, "b", huge)).toEqual(refused);
  expect(await app.store.readFromGuest({ linkId: runId, after: 0 })).toMatchObject({ texts: [] });
});

test("what comes through a Funnel reaches /internal and nothing else", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  const headers = { "tailscale-funnel-request": "?1", host: "machine.tail1234.ts.net" };
  expect(await app.json<object>("GET", "/internal/ping", 200, { headers })).toEqual({ instance: "test" });
  const said = await app.call("POST", `/internal/runs/${runId}/output`, { headers, token: token("a"), body: hello });
  expect(said.status).toBe(200);
  const strange = { ...headers, host: "evil.example" };
  expect((await app.call("GET", "/internal/ping", { headers: strange })).status).toBe(403);
  const { sessionId } = await app.session();
  const local = { ...headers, host: "127.0.0.1:8788" };
  for (const path of [
    "/",
    "/api/health",
    "/api/tasks",
    "/internal",
    "/mcp",
    "/oauth/callback",
    "/internal/../api/tasks",
  ])
    for (const each of [headers, local])
      expect([path, (await app.call("GET", path, { headers: each, token: sessionId })).status]).toEqual([path, 403]);
});

test("pages of a browser may not call back, whatever their Origin", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  for (const origin of ["https://evil.example", "http://127.0.0.1:8788", "null"]) {
    const path = `/internal/runs/${runId}/output`;
    expect((await app.call("POST", path, { token: token("a"), body: hello, headers: { origin } })).status).toBe(403);
  }
});

async function settle({ store }: TestApp, fence: Fence): Promise<void> {
  const end = { status: "completed", resultJson: "1", error: null } as const;
  await store.settleTask({ fence, entries: [], end, runMs: 1, now: Date.now() });
}

async function pause({ store }: TestApp, fence: Fence): Promise<void> {
  await store.pauseTask({ fence, entries: [], waitingFor: [], runMs: 1, now: Date.now() });
}

async function cancel({ store }: TestApp, { taskId, workspaceId }: Fence): Promise<void> {
  const by = { actorId: "a", clientId: "c" };
  await store.cancelTask({ taskId, workspaceId, by, onlyOwn: false, now: Date.now() });
}

async function takeOver({ store }: TestApp, { taskId }: Fence): Promise<void> {
  await store.recoverLeases({ now: Date.now() + 120_000, limit: 10 });
  await store.claimTask({ taskId, workerId: "worker_b", leaseMs: 60_000, now: Date.now() });
}
