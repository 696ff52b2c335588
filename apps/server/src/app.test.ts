/** The table of routes, walked: each is served, with the role it says, and to nobody from another workspace. */
import { expect, test } from "bun:test";
import { Problem } from "@executor/contracts/error";
import { type Route, routes } from "@executor/contracts/http";
import type { Session } from "@executor/contracts/identity";
import { roleAllows, roles } from "@executor/contracts/role";
import { openTestApp, type TestApp } from "./testing/open-test-app.ts";
import { createStandInWorker } from "./testing/stand-in-worker.ts";

const table = Object.entries(routes) as [keyof typeof routes, Route][];
const guarded = table.filter(([, route]) => route.role !== "open");

test("every guarded route answers 401 without a bearer, with an unknown one and with a malformed one", async () => {
  await using app = await openTestApp();
  for (const [name, route] of guarded) {
    const path = route.path.replace(/\{\w+\}/g, "x");
    for (const authorization of [undefined, `Bearer ex_key_${"A".repeat(43)}`, "Bearer x", "Basic abc", "Bearer"]) {
      const response = await app.call(
        route.method.toUpperCase(),
        path,
        authorization ? { headers: { authorization } } : {},
      );
      const problem = Problem.parse(await response.json());
      expect([name, response.status, problem.code.startsWith("auth.")]).toEqual([name, 401, true]);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
  }
});

test("every route is served to the roles the table names, and 403 to the others", async () => {
  await using app = await openTestApp({ limits: { bootstrapsPerMinute: 1_000 } });
  for (const role of roles) {
    for (const [name, route] of guarded) {
      const world = await openWorld(app);
      const token = (await app.key(world.admin, role)).token;
      const response = await app.call(route.method.toUpperCase(), pathOf(route, world), {
        token,
        body: bodyOf(name, world),
      });
      const isAllowed = roleAllows(role, route.role as (typeof roles)[number]);
      // An agent may cancel only what is its own; this task is the admin's.
      const expected = !isAllowed || (name === "cancelTask" && role === "agent") ? [403] : answersOf(name, route);
      expect(`${role} ${name} ${expected.includes(response.status)} ${response.status}`).toBe(
        `${role} ${name} true ${response.status}`,
      );
      const isListed = Object.keys(route.responses).includes(String(response.status));
      if (response.status !== 204 && isAllowed && isListed) await expectSchema(name, route, response);
      else await response.body?.cancel();
    }
  }
  // Over a hundred small worlds: a busy machine needs its time.
}, 30_000);

test("ids of another workspace are not found, with any role", async () => {
  await using app = await openTestApp();
  const world = await openWorld(app);
  const stranger = await app.session();
  for (const [name, route] of guarded) {
    if (!route.path.includes("{") || route.path.includes("{path}")) continue;
    const mine = { ...world, admin: stranger };
    const response = await app.call(route.method.toUpperCase(), pathOf(route, mine), {
      token: stranger.sessionId,
      body: bodyOf(name, mine),
    });
    expect([name, response.status]).toEqual([name, 404]);
  }
});

test("another workspace's id in query or body is not found", async () => {
  await using app = await openTestApp();
  const world = await openWorld(app);
  const stranger = await app.session();
  for (const [name, route] of guarded) {
    if (!route.query?.shape["workspaceId"] && bodyOf(name, world)?.["workspaceId"] === undefined) continue;
    const response = await app.call(route.method.toUpperCase(), pathOf(route, world), {
      token: stranger.sessionId,
      body: bodyOf(name, world),
    });
    const problem = Problem.parse(await response.json());
    expect([name, response.status, problem.code]).toEqual([name, 404, "workspace.not_found"]);
  }
});

test("an unknown field, a wrong type and broken JSON are refused on every route with a body", async () => {
  await using app = await openTestApp();
  const world = await openWorld(app);
  for (const [name, route] of table) {
    if (!route.body) continue;
    const token = world.admin.sessionId;
    const good = bodyOf(name, world) ?? {};
    for (const body of [{ ...good, role_: "admin" }, { ...good, createdAt: "x" }, [], '"text"', "{", "null"]) {
      const problem = await app.problem(route.method.toUpperCase(), pathOf(route, world), { token, body });
      expect([name, JSON.stringify(body).slice(0, 60), problem.code]).toEqual([
        name,
        JSON.stringify(body).slice(0, 60),
        "request.invalid",
      ]);
    }
  }
});

test("nothing else is served under /api: unknown paths are 404, other methods 405 with Allow", async () => {
  await using app = await openTestApp();
  for (const path of ["/api", "/api/", "/api/nothing", "/api/tasks/", "/api/tasks/x/y", "/api/../api/nothing"]) {
    expect([path, (await app.problem("GET", path)).code]).toEqual([path, "route.not_found"]);
  }
  const response = await app.call("PUT", "/api/tasks");
  expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, GET, HEAD, OPTIONS"]);
  expect((await app.call("DELETE", "/api/tasks/x")).status).toBe(405);
  const options = await app.call("OPTIONS", "/api/tasks", { headers: { "access-control-request-method": "POST" } });
  expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, GET, HEAD, OPTIONS"]);
  expect([...options.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  const head = await app.call("HEAD", "/api/health");
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

/** The source of this world has no provider to sign in with. */
const answersOf = (name: string, route: Route): number[] =>
  name === "connectOauth" ? [200, 422] : name === "finishOauth" ? [400] : Object.keys(route.responses).map(Number);

interface World {
  admin: Session;
  taskId: string;
  keyId: string;
  approvalId: string;
  questionId: string;
  policyId: string;
  sourceId: string;
  credentialId: string;
}

const spec = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "https://pets.example" }],
  paths: { "/pets": { get: { operationId: "list", responses: {} } } },
};
const auth = { mode: "workspace", type: "bearer" };

/** A workspace with one of everything that has an id. */
async function openWorld(app: TestApp): Promise<World> {
  const admin = await app.session();
  const token = admin.sessionId;
  const { workspaceId } = admin;
  const worker = createStandInWorker(app.store);
  const newTask = async () =>
    (await app.json<{ taskId: string }>("POST", "/api/tasks", 201, { token, body: { code: "return 1", workspaceId } }))
      .taskId;
  const [taskId, asking] = [await newTask(), await newTask()];
  const policy = await app.json<{ policyId: string }>("POST", "/api/policies", 201, {
    token,
    body: { workspaceId, toolPathPattern: "a.*", decision: "deny" },
  });
  const body = { workspaceId, type: "openapi", name: "Pets", spec, auth };
  const { sourceId } = await app.json<{ sourceId: string }>("POST", "/api/tool-sources", 201, { token, body });
  await app.readSources();
  const credential = { workspaceId, sourceKey: "pets", scope: "workspace", secretJson: { token: "t0ken" } };
  const { credentialId } = await app.json<{ credentialId: string }>("POST", "/api/credentials", 201, {
    token,
    body: credential,
  });
  const questionId = `question_${taskId}`;
  await worker.ask(taskId, { kind: "question", interactionId: questionId, answerSchemaJson: '{"type":"string"}' });
  return {
    admin,
    taskId,
    keyId: (await app.key(admin, "agent")).keyId,
    approvalId: await worker.ask(asking),
    questionId,
    policyId: policy.policyId,
    sourceId,
    credentialId,
  };
}

function pathOf(route: Route, world: World): string {
  const ids: Record<string, string> = {
    taskId: world.taskId,
    keyId: world.keyId,
    approvalId: world.approvalId,
    interactionId: world.questionId,
    policyId: world.policyId,
    sourceId: world.sourceId,
    credentialId: world.credentialId,
    path: "discover",
  };
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "?");
  const query = new URLSearchParams({
    ...(route.query?.shape["workspaceId"] && { workspaceId: world.admin.workspaceId }),
    ...(route.query?.shape["query"] && { query: "tools" }),
  });
  return query.size > 0 ? `${path}?${query}` : path;
}

function bodyOf(name: keyof typeof routes, world: World): Record<string, unknown> | undefined {
  const { workspaceId } = world.admin;
  const bodies: Partial<Record<keyof typeof routes, Record<string, unknown>>> = {
    bootstrap: {},
    exchange: { code: "x" },
    createKey: { workspaceId, role: "agent", label: "x" },
    createInvite: { workspaceId, role: "agent" },
    createTask: { workspaceId, code: "return 1" },
    cancelTask: { workspaceId },
    decideApproval: { workspaceId, decision: "approved" },
    resolveInteraction: { workspaceId, answer: "yes" },
    createPolicy: { workspaceId, toolPathPattern: "a.*", decision: "allow" },
    testPolicy: { workspaceId, toolPath: "a.b" },
    createSource: { workspaceId, type: "openapi", name: "Others", spec },
    probeSource: { workspaceId, url: "http://127.0.0.1:1/" },
    updateSource: { workspaceId, name: "Animals" },
    refreshSource: { workspaceId },
    createCredential: { workspaceId, sourceKey: "pets", scope: "workspace", secretJson: { token: "t0ken" } },
    connectOauth: { workspaceId, sourceKey: "pets" },
    typecheck: { workspaceId, code: "return 1" },
    finishOauth: { workspaceId, query: "?state=unknown" },
  };
  return bodies[name];
}

async function expectSchema(name: string, route: Route, response: Response): Promise<void> {
  const schema = route.responses[response.status];
  if (schema === "stream" || schema === "html" || schema === "ndjson" || schema === "text" || !schema)
    return await response.body?.cancel();
  const parsed = schema.safeParse(await response.json());
  expect(`${name} ${parsed.error?.message ?? "fits"}`).toBe(`${name} fits`);
}
