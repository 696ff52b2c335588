import { describe, expect, test } from "bun:test";
import type { RouteName } from "@executor/contracts/http";
import { createExecutor, type Executor } from "./create-executor.ts";
import { bootstrap, exchangeCode } from "./sign-in.ts";
import { startContractServer } from "./testing/contract-server.ts";
import { json, startLoopback } from "./testing/loopback.ts";
import { caller, sampleEvent, sampleTask, sseOf } from "./testing/samples.ts";

const ws = { workspaceId: "ws_1" };
const connect = (server: { url: string }) => createExecutor({ baseUrl: server.url, token: "t", workspaceId: "ws_1" });

/** Each fits the schemas of its route, or the server of these tests would have refused it. */
interface Method {
  call: (executor: Executor) => Promise<unknown>;
  route: RouteName;
  body?: unknown;
  query?: Record<string, string>;
}

const methods: Record<string, Method> = {
  "tasks.get": { call: (e) => e.tasks.get("task_1", { waitMs: 50 }), route: "readTask", query: { wait: "50" } },
  "tasks.list": {
    call: (e) => e.tasks.list({ status: "waiting", limit: 5 }),
    route: "listTasks",
    query: { status: "waiting", limit: "5" },
  },
  "tasks.cancel": { call: (e) => e.tasks.cancel("task_1"), route: "cancelTask", body: ws },
  "tasks.calls": { call: (e) => e.tasks.calls("task_1", { limit: 2 }), route: "listCalls", query: { limit: "2" } },
  "approvals.list": {
    call: (e) => e.approvals.list({ status: "pending" }),
    route: "listApprovals",
    query: { status: "pending" },
  },
  "approvals.get": { call: (e) => e.approvals.get("approval_1"), route: "readApproval" },
  "approvals.approve": {
    call: (e) => e.approvals.approve("approval_1", { remember: true }),
    route: "decideApproval",
    body: { ...ws, decision: "approved", remember: true },
  },
  "approvals.deny": {
    call: (e) => e.approvals.deny("approval_1", { reason: "no" }),
    route: "decideApproval",
    body: { ...ws, decision: "denied", reason: "no" },
  },
  "interactions.list": {
    call: (e) => e.interactions.list({ taskId: "task_1" }),
    route: "listInteractions",
    query: { taskId: "task_1" },
  },
  "interactions.get": { call: (e) => e.interactions.get("question_1"), route: "readInteraction" },
  "interactions.answer": {
    call: (e) => e.interactions.answer("question_1", { pick: "a" }),
    route: "resolveInteraction",
    body: { ...ws, answer: { pick: "a" } },
  },
  "interactions.decline": {
    call: (e) => e.interactions.decline("question_1", { reason: "no" }),
    route: "resolveInteraction",
    body: { ...ws, decline: true, reason: "no" },
  },
  "policies.list": { call: (e) => e.policies.list(), route: "listPolicies" },
  "policies.create": {
    call: (e) => e.policies.create({ toolPathPattern: "a.*", decision: "deny" }),
    route: "createPolicy",
    body: { ...ws, toolPathPattern: "a.*", decision: "deny" },
  },
  "policies.remove": { call: (e) => e.policies.remove("policy_1"), route: "deletePolicy", query: ws },
  "policies.test": {
    call: (e) => e.policies.test({ toolPath: "a.b", input: { x: 1 } }),
    route: "testPolicy",
    body: { ...ws, toolPath: "a.b", input: { x: 1 } },
  },
  "keys.list": { call: (e) => e.keys.list(), route: "listKeys" },
  "keys.create": {
    call: (e) => e.keys.create({ role: "agent", label: "ci" }),
    route: "createKey",
    body: { ...ws, role: "agent", label: "ci" },
  },
  "keys.remove": { call: (e) => e.keys.remove("key_1"), route: "deleteKey", query: ws },
  "invites.create": {
    call: (e) => e.invites.create({ role: "reviewer" }),
    route: "createInvite",
    body: { ...ws, role: "reviewer" },
  },
  "runtimes.list": { call: (e) => e.runtimes.list(), route: "listRuntimes" },
  "tools.list": {
    call: (e) => e.tools.list({ namespace: "github" }),
    route: "listTools",
    query: { namespace: "github" },
  },
  "tools.search": {
    call: (e) => e.tools.search("make an issue", { limit: 3 }),
    route: "searchTools",
    query: { query: "make an issue", limit: "3" },
  },
  "tools.types": {
    call: (e) => e.tools.types({ namespace: "github" }),
    route: "toolTypes",
    query: { namespace: "github" },
  },
  "tools.describe": { call: (e) => e.tools.describe("github.issues.create"), route: "readTool" },
  "sources.list": { call: (e) => e.sources.list(), route: "listSources" },
  "sources.get": { call: (e) => e.sources.get("source_1"), route: "readSource" },
  "sources.probe": {
    call: (e) => e.sources.probe("https://a.example"),
    route: "probeSource",
    body: { ...ws, url: "https://a.example" },
  },
  "sources.add": {
    call: (e) => e.sources.add({ type: "openapi", name: "billing", spec: "https://a.example/openapi.json" }),
    route: "createSource",
    body: { ...ws, type: "openapi", name: "billing", spec: "https://a.example/openapi.json" },
  },
  "sources.update": {
    call: (e) => e.sources.update("source_1", { defaultApproval: "required" }),
    route: "updateSource",
    body: { ...ws, defaultApproval: "required" },
  },
  "sources.remove": { call: (e) => e.sources.remove("source_1"), route: "deleteSource", query: ws },
  "sources.refresh": { call: (e) => e.sources.refresh("source_1"), route: "refreshSource", body: ws },
  "sources.document": { call: (e) => e.sources.document("source_1"), route: "readSourceDocument" },
  "sources.changes": { call: (e) => e.sources.changes("source_1"), route: "readSourceChanges" },
  "credentials.list": { call: (e) => e.credentials.list(), route: "listCredentials" },
  "credentials.set": {
    call: (e) => e.credentials.set({ sourceKey: "billing", scope: "workspace", secretJson: { token: "t" } }),
    route: "createCredential",
    body: { ...ws, sourceKey: "billing", scope: "workspace", secretJson: { token: "t" } },
  },
  "credentials.remove": { call: (e) => e.credentials.remove("credential_1"), route: "deleteCredential", query: ws },
  "credentials.connect": {
    call: (e) => e.credentials.connect({ sourceKey: "billing" }),
    route: "connectOauth",
    body: { ...ws, sourceKey: "billing" },
  },
  "audit.list": {
    call: (e) => e.audit.list({ action: "task.create" }),
    route: "listAudit",
    query: { action: "task.create" },
  },
  me: { call: (e) => e.me(), route: "whoami" },
  health: { call: (e) => e.health(), route: "health" },
  logout: { call: (e) => e.logout(), route: "logout" },
};

test.each(Object.entries(methods))("%s", async (_, { call, route, body, query = {} }) => {
  await using server = startContractServer({});
  await call(connect(server));
  expect(server.calls).toEqual([{ route, body, query }]);
});

test("tools.types gives the declarations as they are, not as JSON", async () => {
  await using server = startLoopback(() => new Response("declare const tools: {};\n"));
  expect(await connect(server).tools.types()).toBe("declare const tools: {};\n");
});

describe("tasks.create", () => {
  test("sends an idempotencyKey of its own, another each time", async () => {
    await using server = startContractServer({ createTask: () => ({ taskId: "task_1", status: "queued" }) });
    const executor = connect(server);
    expect(await executor.tasks.create("return 1")).toEqual({ taskId: "task_1", status: "queued" });
    await executor.tasks.create({ code: "return 1", metadata: { a: 1 } });
    const keys = server.calls.map(({ body }) => (body as { idempotencyKey: string }).idempotencyKey);
    expect(keys[0]).toMatch(/^sdk_[0-9a-f]{32}$/);
    expect(keys[0]).not.toBe(keys[1]);
  });

  test("keeps the caller's", async () => {
    await using server = startContractServer({});
    await connect(server).tasks.create({ code: "return 1", idempotencyKey: "mine" });
    expect(server.calls[0]?.body).toEqual({ ...ws, code: "return 1", idempotencyKey: "mine" });
  });
});

describe("the workspace", () => {
  test("is asked for once, by whoever needs it first", async () => {
    await using server = startContractServer({ whoami: () => caller });
    const executor = createExecutor({ baseUrl: server.url, token: "t" });
    await executor.tasks.list();
    expect(server.calls.map(({ route }) => route)).toEqual(["listTasks"]);
    await Promise.all([
      executor.tasks.cancel("task_1"),
      executor.keys.remove("key_1"),
      executor.invites.create({ role: "agent" }),
    ]);
    expect(server.calls.filter(({ route }) => route === "whoami")).toHaveLength(1);
  });

  test("is asked for again if that failed", async () => {
    let isUp = false;
    await using server = startLoopback(({ path }) => {
      if (path !== "/api/auth/me") return json(sampleTask({ status: "cancelled" }));
      return isUp ? json(caller) : json({ code: "internal.error", detail: "x" }, 500);
    });
    const executor = createExecutor({ baseUrl: server.url, token: "t" });
    await expect(executor.tasks.cancel("task_1")).rejects.toMatchObject({ code: "internal.error" });
    isUp = true;
    expect(await executor.tasks.cancel("task_1")).toMatchObject({ status: "cancelled" });
  });
});

describe("each", () => {
  test("walks through all pages with the same filter", async () => {
    await using server = startContractServer({
      listTasks: ({ cursor }) =>
        cursor
          ? { items: [sampleTask({ taskId: "task_3" })] }
          : { items: [sampleTask(), sampleTask({ taskId: "task_2" })], nextCursor: "c1" },
    });
    const tasks = await Array.fromAsync(connect(server).tasks.each({ status: "queued", limit: 2 }));
    expect(tasks.map(({ taskId }) => taskId)).toEqual(["task_1", "task_2", "task_3"]);
    expect(server.calls.map(({ query }) => query)).toEqual([
      { status: "queued", limit: "2" },
      { status: "queued", limit: "2", cursor: "c1" },
    ]);
  });

  test("reads no further than its reader", async () => {
    await using server = startContractServer({ listTasks: () => ({ items: [sampleTask()], nextCursor: "c1" }) });
    for await (const task of connect(server).tasks.each()) if (task) break;
    expect(server.calls).toHaveLength(1);
  });

  test("does not go round and round with a server that does", async () => {
    await using server = startContractServer({ listAudit: () => ({ items: [], nextCursor: "c1" }) });
    await expect(Array.fromAsync(connect(server).audit.each())).rejects.toMatchObject({ code: "client.bad_answer" });
  });
});

test("events gives those of the workspace and resumes by their place in it", async () => {
  const [one, two] = [sampleEvent(7, "task.running"), sampleEvent(8, "task.completed")];
  await using server = startLoopback(({ headers }) => {
    const events = headers.has("last-event-id") ? [one, two] : [one];
    const text = events.map((event) => sseOf(event, event.workspaceSequence)).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  });
  const seen: number[] = [];
  for await (const event of connect(server).events()) {
    seen.push(event.workspaceSequence);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual([107, 108]);
  expect(server.asked.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "107"]);
});

test("events that begin live lose nothing if the server says where they begin", async () => {
  const event = sampleEvent(1, "task.created");
  await using server = startLoopback(({ headers }) => {
    const text = headers.get("last-event-id") === "100" ? sseOf(event, 101) : "id: 100\n\n";
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  });
  for await (const seen of connect(server).events()) {
    expect(seen).toEqual(event);
    break;
  }
});

test("health of an installation that is not well is an answer, not an error", async () => {
  const health = { ok: false, version: "1", store: { kind: "sqlite", ok: false }, runtimes: [], workers: 0 };
  await using server = startLoopback(() => json(health, 503));
  expect(await connect(server).health()).toEqual(health);
});

describe("signing in", () => {
  const session = {
    ...caller,
    sessionId: "session_1",
    createdAt: "2026-11-18T08:00:00.000Z",
    lastSeenAt: "2026-11-18T08:00:00.000Z",
  };

  test("bootstrap needs no bearer", async () => {
    await using server = startContractServer({ bootstrap: () => session });
    expect(await bootstrap({ baseUrl: server.url })).toEqual(session as never);
    expect(await bootstrap({ baseUrl: server.url, sessionId: "session_1" })).toEqual(session as never);
    expect(server.calls.map(({ body }) => body)).toEqual([{}, { sessionId: "session_1" }]);
    expect(server.asked[0]?.headers.has("authorization")).toBe(false);
  });

  test("exchangeCode trades a code for a session", async () => {
    await using server = startContractServer({ exchange: () => session });
    expect(await exchangeCode({ baseUrl: server.url, code: "abc" })).toEqual(session as never);
  });
});
