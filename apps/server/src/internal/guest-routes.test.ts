/** The callback routes: a token is good for its run, while that runs, and for nothing else; and what a Funnel may reach. */
import { expect, test } from "bun:test";
import type { Fence } from "@executor/core/store/progress";
import { routeTable } from "../http/serve-routes.ts";
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

test("whoever guesses tokens costs a bounded number of looks, and holds up nobody whose token is known", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  expect(await status(app, runId, "a")).toEqual([200, undefined]);
  const counts = new Map<number, number>();
  for (let sent = 0; sent < 10_000; sent++) {
    const [code] = await status(app, runId, "b");
    counts.set(code as number, (counts.get(code as number) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted()).toEqual([401, 429]);
  expect(counts.get(401)).toBeLessThan(5_000);
  expect(await status(app, runId, "a", { ...hello, part: 1 })).toEqual([200, undefined]);
}, 30_000);

test("a run has one wait at a time: asking again ends the one before, and the last one gets the answer", async () => {
  await using app = await openTestApp();
  const runId = await openLink(app, await running(app), "a");
  await status(app, runId, "a", { ...hello, last: true }, "output");
  const ask = async () => {
    const body = { runner: "runner-1", turn: 0, after: 0 };
    return await (await app.call("POST", `/internal/runs/${runId}/tool-call`, { token: token("a"), body })).json();
  };
  const answers = Array.from({ length: 300 }, async () => JSON.stringify(await ask()));
  const first = await Promise.all(answers.slice(0, -1));
  expect(new Set(first)).toEqual(new Set(['{"texts":[],"last":false}']));
  await app.store.answerGuest({ linkId: runId, turn: 0, text: "[]", last: true, taken: 1 });
  expect(await answers.at(-1)).toBe('{"texts":["[]"],"last":true}');
});

test.each([
  ["/internal/../api/tasks", 403],
  ["/internal/%2e%2e/api/tasks", 403],
  ["/internal\\..\\api\\tasks", 403],
  ["/internal/ping/../../api/tasks", 403],
  ["/INTERNAL/ping", 403],
  ["/internal/..%2fapi%2ftasks", 404],
  ["/internal/;/../api/tasks", 404],
  ["/internal//../api/tasks", 404],
  ["/internal/ping%00", 404],
])("a path as it comes over the wire leads a Funnel nowhere else: %s", async (path, expected) => {
  await using app = await openTestApp();
  const { sessionId } = await app.session();
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: app.fetch });
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:8788\r\nTailscale-Funnel-Request: ?1\r\nX-Forwarded-Host: 127.0.0.1:8788\r\nAuthorization: Bearer ${sessionId}\r\nConnection: close\r\n\r\n`;
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  await Bun.connect({
    hostname: "127.0.0.1",
    port: server.port ?? 0,
    socket: {
      open: (socket) => void socket.write(head),
      data: (_, chunk) => void (text += chunk.toString()),
      close: () => resolve(text),
    },
  });
  expect(Number((await promise).split(" ")[1])).toBe(expected);
  await server.stop(true);
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

test("no route of the API is open to a Funnel", async () => {
  await using app = await openTestApp();
  const { sessionId } = await app.session();
  const headers = { "tailscale-funnel-request": "?1" };
  for (const [name, { method, path }] of routeTable) {
    const answer = await app.call(method.toUpperCase(), path.replace(/\{\w+\}/g, "x"), { headers, token: sessionId });
    expect([name, answer.status]).toEqual([name, 403]);
  }
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
