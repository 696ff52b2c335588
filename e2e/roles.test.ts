/** Who may do what: roles, the walls between workspaces, deciding once, and bearers that come and go. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { exchangeCode } from "@executor/client";
import { type Route, type RouteName, routes } from "@executor/contracts/http";
import { roleAllows, roles } from "@executor/contracts/role";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask, type Person, personOf, signIn } from "./support/api.ts";
import { openSse } from "./support/read-sse.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let owner: Person;
let stranger: Person;
beforeAll(async () => {
  installation = await startInstallation();
  [owner, stranger] = await Promise.all([signIn(installation), signIn(installation)]);
  await owner.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
});
afterAll(() => installation.stop());

const table = Object.entries(routes) as [RouteName, Route][];

/** What each route needs beside the workspace. */
const bodies: Partial<Record<RouteName, object>> = {
  createKey: { role: "agent", label: "x" },
  createInvite: { role: "agent" },
  createTask: { code: "return 1" },
  cancelTask: {},
  decideApproval: { decision: "approved" },
  resolveInteraction: { answer: "x" },
  createPolicy: { toolPathPattern: "a.b", decision: "deny" },
  testPolicy: { toolPath: "executor.echo" },
  createSource: { type: "openapi", name: "x", spec: "openapi: 3.1.0" },
  probeSource: { url: "http://127.0.0.1:1/" },
  updateSource: { name: "renamed" },
  refreshSource: {},
  createCredential: { sourceKey: "pets", scope: "workspace", secretJson: { token: "x" } },
  connectOauth: { sourceKey: "pets" },
  typecheck: { code: "return 1" },
  finishOauth: { query: "?state=unknown" },
};

async function makeKey(role: "agent" | "reviewer" | "admin", from = owner): Promise<Person & { keyId: string }> {
  const { token, keyId } = await from.executor.keys.create({ role, label: `a ${role}` });
  return { ...personOf(installation.url, token, from.session), keyId };
}

/** A task of the owner that waits for an approval. */
async function waitingTask(person = owner, code = "return await tools.executor.echo({ value: 1 })") {
  const { taskId } = await person.executor.tasks.create(code);
  const approvalId = await until(
    "an approval",
    async () => (await person.executor.approvals.list({ status: "pending", taskId })).items[0]?.approvalId,
  );
  return { taskId, approvalId };
}

describe("roles", () => {
  test("every route refuses a caller without a bearer, with a made-up one, and with a role too small", async () => {
    const people = { agent: await makeKey("agent"), reviewer: await makeKey("reviewer"), admin: owner };
    for (const [name, route] of table.filter(([, { role }]) => role !== "open")) {
      const needed = route.role === "open" ? "agent" : route.role;
      const { line, body } = requestFor(name, route, { workspaceId: owner.workspaceId });
      const bare = await ask(installation.url, line, { body });
      expect([name, bare.status, bare.body.code]).toEqual([name, 401, "auth.required"]);
      const fake = await ask(installation.url, line, { body, token: `ex_key_${"A".repeat(43)}` });
      expect([name, fake.status, fake.body.code]).toEqual([name, 401, "auth.invalid"]);
      for (const role of roles.filter((each) => !roleAllows(each, needed))) {
        const answer = await people[role].ask(line, { body });
        expect([name, role, answer.status, answer.body.code]).toEqual([name, role, 403, "auth.forbidden"]);
      }
    }
  });

  test("an agent never decides, answers or remembers; a reviewer decides but does not remember", async () => {
    const { approvalId } = await waitingTask();
    const agent = await makeKey("agent");
    const reviewer = await makeKey("reviewer");
    const body = { workspaceId: owner.workspaceId, decision: "approved" };
    expect((await agent.ask(`POST /api/approvals/${approvalId}`, { body })).status).toBe(403);
    expect(
      (
        await agent.ask(`POST /api/interactions/${approvalId}`, {
          body: { workspaceId: owner.workspaceId, answer: true },
        })
      ).status,
    ).toBe(403);
    expect(
      (await reviewer.ask(`POST /api/approvals/${approvalId}`, { body: { ...body, remember: true } })).status,
    ).toBe(403);
    expect(
      (
        await reviewer.ask(`POST /api/interactions/${approvalId}`, {
          body: { workspaceId: owner.workspaceId, answer: true },
        })
      ).body.code,
    ).toBe("interaction.wrong_door");
    expect((await owner.executor.approvals.get(approvalId)).status).toBe("pending");
    expect((await reviewer.ask(`POST /api/approvals/${approvalId}`, { body })).status).toBe(200);
  });

  test("an agent that asked through a task cannot approve it, and cancels only its own", async () => {
    const agent = await makeKey("agent");
    const own = await waitingTask(agent);
    expect(
      (
        await agent.ask(`POST /api/approvals/${own.approvalId}`, {
          body: { workspaceId: owner.workspaceId, decision: "approved" },
        })
      ).status,
    ).toBe(403);
    const others = await waitingTask();
    const refused = await agent.ask(`POST /api/tasks/${others.taskId}/cancel`, {
      body: { workspaceId: owner.workspaceId },
    });
    expect([refused.status, refused.body.code]).toEqual([403, "auth.forbidden"]);
    expect((await owner.executor.tasks.get(others.taskId)).status).toBe("waiting");
    expect((await agent.executor.tasks.cancel(own.taskId)).status).toBe("cancelled");
    expect((await owner.executor.approvals.get(own.approvalId)).status).toBe("cancelled");
  });
});

describe("the wall between workspaces", () => {
  test("every id of another workspace is as good as none, on every route", async () => {
    const { taskId, approvalId } = await waitingTask();
    const { keyId } = await makeKey("agent");
    const { policyId } = await owner.executor.policies.create({ toolPathPattern: "never.*", decision: "deny" });
    const asked = await owner.executor.tasks.create("return await tools.human.ask({ question: 'who?' })");
    const interactionId = await until(
      "a question",
      async () =>
        (await owner.executor.interactions.list({ taskId: asked.taskId, status: "pending" })).items[0]?.interactionId,
    );
    const { sourceId } = await owner.executor.sources.add({
      type: "openapi",
      name: "pets",
      spec: { openapi: "3.1.0", info: { title: "Pets", version: "1" }, paths: {} },
    });
    const { credentialId } = await owner.executor.credentials.set({
      sourceKey: "pets",
      scope: "workspace",
      secretJson: { token: "x" },
    });
    const ids: Record<string, string> = {
      taskId,
      approvalId,
      keyId,
      policyId,
      interactionId,
      sourceId,
      credentialId,
    };
    const withIds = table.filter(([, { path }]) => /\{(?!path\})/.test(path));
    expect(withIds.length).toBeGreaterThan(8);
    for (const [name, route] of withIds) {
      const { line, body } = requestFor(name, route, { workspaceId: stranger.workspaceId, ids });
      const answer = await stranger.ask(line, { body });
      expect([name, answer.status, answer.headers.get("content-type")]).toEqual([
        name,
        404,
        "application/problem+json",
      ]);
      expect(JSON.stringify(answer.body)).not.toContain(owner.workspaceId);
    }
    expect((await owner.executor.approvals.get(approvalId)).status).toBe("pending");
    expect((await owner.executor.keys.list()).items.map((key) => key.keyId)).toContain(keyId);
    expect((await owner.executor.policies.list()).items.map((policy) => policy.policyId)).toContain(policyId);
    expect((await owner.executor.sources.get(sourceId)).name).toBe("pets");
    expect((await owner.executor.credentials.list()).items.map((one) => one.credentialId)).toContain(credentialId);
  });

  test("a foreign workspaceId is not found on every route that takes one, whatever else is right", async () => {
    let count = 0;
    for (const [name, route] of table.filter(([, { role }]) => role !== "open")) {
      const takesQuery = route.query !== undefined && "workspaceId" in route.query.shape;
      if (!takesQuery && bodies[name] === undefined) continue;
      const { line, body } = requestFor(name, route, { workspaceId: owner.workspaceId, inQuery: takesQuery });
      const answer = await stranger.ask(line, { body });
      expect([name, answer.status, answer.body.code]).toEqual([name, 404, "workspace.not_found"]);
      count++;
    }
    expect(count).toBeGreaterThan(20);
  });

  test("lists, streams and searches of one workspace never show another's", async () => {
    const own = await waitingTask();
    const stream = await openSse(`${installation.url}/api/events`, stranger.token, 0);
    for (const path of ["tasks", "approvals", "interactions", "keys", "policies", "audit", "audit?format=ndjson"]) {
      const answer = await stranger.ask(`GET /api/${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      const text = JSON.stringify(answer.body);
      for (const secret of [owner.workspaceId, owner.session.actorId, own.taskId, own.approvalId])
        expect(text).not.toContain(secret);
    }
    const forged = await stranger.ask(`GET /api/tasks?actorId=${owner.session.actorId}`);
    expect(forged.body["items"]).toEqual([]);
    await Bun.sleep(100);
    stream.close();
    expect(stream.events.filter((event) => event.taskId === own.taskId)).toEqual([]);
  });
});

describe("deciding", () => {
  test("a second decision is refused, whichever it is", async () => {
    const { approvalId } = await waitingTask();
    expect((await decide(owner, approvalId, "denied")).status).toBe(200);
    for (const decision of ["approved", "denied"]) {
      const again = await decide(owner, approvalId, decision);
      expect([again.status, again.body.code]).toEqual([409, "approval.already_decided"]);
    }
    expect((await owner.executor.approvals.get(approvalId)).status).toBe("denied");
  });

  test("of decisions that race, one wins and the others are told so", async () => {
    const reviewer = await makeKey("reviewer");
    for (let round = 0; round < 5; round++) {
      const { taskId, approvalId } = await waitingTask();
      const answers = await Promise.all([
        decide(owner, approvalId, "approved"),
        decide(reviewer, approvalId, "denied"),
        decide(owner, approvalId, "approved"),
        decide(reviewer, approvalId, "approved"),
      ]);
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
      const won = answers.find(({ status }) => status === 200)?.body["approval"] as { status: string };
      const task = await owner.executor.tasks.wait(taskId, { timeoutMs: 10_000 });
      expect(task.status).toBe(won.status === "approved" ? "completed" : "denied");
    }
  });

  test("of a decision and a cancel that race, one wins", async () => {
    for (let round = 0; round < 5; round++) {
      const { taskId, approvalId } = await waitingTask();
      const [decided] = await Promise.all([
        decide(owner, approvalId, "approved"),
        owner.executor.tasks.cancel(taskId).catch(() => undefined),
      ]);
      const { status } = await owner.executor.tasks.wait(taskId, { timeoutMs: 10_000 });
      const approval = await owner.executor.approvals.get(approvalId);
      if (decided.status === 200) expect(approval.status).toBe("approved");
      else expect([approval.status, status]).toEqual(["cancelled", "cancelled"]);
      expect(["completed", "cancelled"]).toContain(status);
    }
  });

  test("remember writes a policy that the next task follows", async () => {
    const person = await signIn(installation);
    await person.executor.policies.create({ toolPathPattern: "human.ask", decision: "require_approval" });
    const { approvalId } = await waitingTask(person, "return await tools.human.ask({ question: 'x' })");
    const { policy } = await person.executor.approvals.deny(approvalId, { remember: true });
    expect(policy).toMatchObject({ toolPathPattern: "human.ask", decision: "deny" });
    await expect(person.executor.tasks.run("return await tools.human.ask({ question: 'y' })")).rejects.toMatchObject({
      code: "policy.denied",
    });
  });
});

test("fields a caller may not set are refused, not ignored", async () => {
  const { workspaceId } = owner;
  const tries: [string, object, number][] = [
    ["POST /api/auth/anonymous/bootstrap", { workspaceId, role: "admin" }, 400],
    ["POST /api/tasks", { workspaceId, code: "return 1", status: "completed" }, 400],
    ["POST /api/tasks", { workspaceId, code: "return 1", taskId: "task_mine" }, 400],
    ["POST /api/tasks", { workspaceId, code: "return 1", actorId: stranger.session.actorId }, 403],
    ["POST /api/tasks", { workspaceId, code: "return 1", clientId: "someone" }, 403],
    ["POST /api/keys", { workspaceId, role: "admin", label: "x", installationAdmin: true }, 400],
    ["POST /api/keys", { workspaceId, role: "owner", label: "x" }, 400],
    ["POST /api/keys", { workspaceId, role: "agent", label: "x", token: `ex_key_${"A".repeat(43)}` }, 400],
    ["POST /api/policies", { workspaceId, toolPathPattern: "*", decision: "allow", createdBy: "x" }, 400],
    [
      "POST /api/policies",
      { workspaceId, toolPathPattern: "*", decision: "allow", createdAt: "2020-01-01T00:00:00Z" },
      400,
    ],
    ["POST /api/approvals/approval_x", { workspaceId, decision: "approved", reviewerId: "x" }, 400],
    ["POST /api/approvals/approval_x", { workspaceId, decision: "approved", approvedBy: "x" }, 400],
    ["POST /api/invites", { workspaceId, role: "agent", installationAdmin: true }, 400],
  ];
  for (const [line, body, status] of tries) {
    const answer = await owner.ask(line, { body });
    expect([line, JSON.stringify(body), answer.status]).toEqual([line, JSON.stringify(body), status]);
  }
  expect(JSON.stringify((await owner.ask("GET /api/policies")).body)).not.toContain('"*"');
  expect((await owner.executor.me()).installationAdmin).toBe(false);
});

describe("coming and going", () => {
  test("an invite lets one person join with its role, once", async () => {
    const invite = await owner.executor.invites.create({ role: "reviewer" });
    expect(invite.url).toBe(`${installation.url}/#invite=${invite.code}`);
    const answers = await Promise.allSettled(
      [1, 2, 3].map(() => exchangeCode({ baseUrl: installation.url, code: invite.code })),
    );
    const joined = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    expect(joined).toHaveLength(1);
    const [session] = joined;
    if (!session) throw new Error("nobody joined");
    expect(session).toMatchObject({ workspaceId: owner.workspaceId, role: "reviewer" });
    expect(session.actorId).not.toBe(owner.session.actorId);
    const guest = personOf(installation.url, session.sessionId, session);
    const { approvalId } = await waitingTask();
    expect(
      (
        await guest.ask("POST /api/policies", {
          body: { workspaceId: owner.workspaceId, toolPathPattern: "*", decision: "allow" },
        })
      ).status,
    ).toBe(403);
    expect((await guest.executor.approvals.approve(approvalId)).approval).toMatchObject({
      status: "approved",
      reviewerId: session.actorId,
    });
    const used = await ask(installation.url, "POST /api/auth/exchange", { body: { code: invite.code } });
    expect([used.status, used.body.code]).toEqual([400, "auth.code_invalid"]);
  });

  test("an invite that ran out, or was made up, lets nobody in", async () => {
    const invite = await owner.executor.invites.create({ role: "admin", expiresInMs: 1_000 });
    await Bun.sleep(1_050);
    for (const code of [invite.code, "ex_invite_made-up", owner.token]) {
      expect((await ask(installation.url, "POST /api/auth/exchange", { body: { code } })).status).toBe(400);
    }
  });

  test("a revoked key is refused at once and its open streams close", async () => {
    const agent = await makeKey("agent");
    const { taskId } = await waitingTask();
    const streams = await Promise.all(
      ["/api/events", `/api/tasks/${taskId}/events`].map((path) => openSse(installation.url + path, agent.token)),
    );
    const others = await openSse(`${installation.url}/api/events`, owner.token);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    const revokedAt = Date.now();
    await owner.executor.keys.remove(agent.keyId);
    expect((await agent.ask("GET /api/tasks")).body.code).toBe("auth.invalid");
    await Promise.race([Promise.all(streams.map(({ ended }) => ended)), Bun.sleep(5_000)]);
    expect(Date.now() - revokedAt).toBeLessThan(1_000);
    expect((await owner.ask(`DELETE /api/keys/${agent.keyId}?workspaceId=${owner.workspaceId}`)).status).toBe(404);
    expect(await Promise.race([others.ended.then(() => "closed"), Bun.sleep(50).then(() => "open")])).toBe("open");
    others.close();
  });

  test("logging out ends the session and its streams; its id gives a fresh session, never the old one", async () => {
    const person = await signIn(installation);
    const stream = await openSse(`${installation.url}/api/events`, person.token);
    await person.executor.logout();
    await stream.ended;
    expect((await person.ask("GET /api/auth/me")).status).toBe(401);
    const again = await ask(installation.url, "POST /api/auth/anonymous/bootstrap", {
      body: { sessionId: person.token },
    });
    expect(again.status).toBe(201);
    expect(again.body["sessionId"]).not.toBe(person.token);
    expect(again.body["workspaceId"]).not.toBe(person.workspaceId);
  });

  test("a known session id gives the same session back; a key is not a session", async () => {
    const same = await ask(installation.url, "POST /api/auth/anonymous/bootstrap", {
      body: { sessionId: owner.token },
    });
    expect([same.status, same.body["workspaceId"], same.body["sessionId"]]).toEqual([
      200,
      owner.workspaceId,
      owner.token,
    ]);
    const key = await makeKey("agent");
    const fresh = await ask(installation.url, "POST /api/auth/anonymous/bootstrap", { body: { sessionId: key.token } });
    expect([fresh.status, fresh.body["workspaceId"] === owner.workspaceId]).toEqual([201, false]);
  });
});

const decide = (person: Person, approvalId: string, decision: string) =>
  person.ask(`POST /api/approvals/${approvalId}`, { body: { workspaceId: owner.workspaceId, decision } });

function requestFor(
  name: RouteName,
  route: Route,
  { workspaceId, ids = {}, inQuery }: { workspaceId: string; ids?: Record<string, string>; inQuery?: boolean },
) {
  const path = route.path.replace(
    /\{(\w+)\}/g,
    (_, param: string) => ids[param] ?? (param === "path" ? "executor.echo" : `${param}_x`),
  );
  const search = new URLSearchParams({
    ...((inQuery || route.method === "delete") && { workspaceId }),
    ...(name === "searchTools" && { query: "echo" }),
  }).toString();
  const body = bodies[name] === undefined ? undefined : { ...bodies[name], workspaceId };
  return { line: `${route.method.toUpperCase()} ${path}${search && `?${search}`}`, body };
}
