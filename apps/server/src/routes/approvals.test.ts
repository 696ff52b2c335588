import { expect, test } from "bun:test";
import type { Approval } from "@executor/contracts/approval";
import type { Session } from "@executor/contracts/identity";
import type { Interaction } from "@executor/contracts/interaction";
import type { Policy, PolicyTestResult } from "@executor/contracts/policy";
import type { CreatedTask, Task } from "@executor/contracts/task";
import type { ToolDetail, ToolSummary } from "@executor/contracts/tool";
import type { NewInteraction } from "@executor/core/store/progress";
import { openTestApp, type TestApp } from "../testing/open-test-app.ts";
import { createStandInWorker } from "../testing/stand-in-worker.ts";

interface Decided {
  approval: Approval;
  task: Task;
  policy?: Policy;
}

test("pending approvals come oldest first, with their task and the exact input", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const first = await ask(app, me, { inputJson: '{"title":"\\u202eevil"}' });
  await Bun.sleep(2);
  const second = await ask(app, me);
  const { items } = await app.json<{ items: Approval[] }>("GET", "/api/approvals?status=pending", 200, {
    token: me.sessionId,
  });
  expect(items.map(({ approvalId, input, task }) => [approvalId, input, task?.taskId, task?.status])).toEqual([
    [first.id, { title: "\u202eevil" }, first.taskId, "waiting"],
    [second.id, { title: "hello" }, second.taskId, "waiting"],
  ]);
});

test("a decision requeues the task and is final", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const { id } = await ask(app, me);
  const body = { workspaceId: me.workspaceId, decision: "denied", reason: "no" };
  const decided = await app.json<Decided>("POST", `/api/approvals/${id}`, 200, { token: me.sessionId, body });
  expect(decided).toMatchObject({
    approval: { status: "denied", reason: "no", reviewerId: me.actorId },
    task: { status: "queued", pending: [] },
  });
  expect(
    await app.problem("POST", `/api/approvals/${id}`, { token: me.sessionId, body: { ...body, decision: "approved" } }),
  ).toMatchObject({ code: "approval.already_decided", status: 409, data: { status: "denied" } });
});

test("of many decisions at once one wins and the others are told (A05)", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const { id, taskId } = await ask(app, me);
  const decide = (decision: string) =>
    app.call("POST", `/api/approvals/${id}`, { token: me.sessionId, body: { workspaceId: me.workspaceId, decision } });
  const cancel = app.call("POST", `/api/tasks/${taskId}/cancel`, {
    token: me.sessionId,
    body: { workspaceId: me.workspaceId },
  });
  const answers = await Promise.all([...["approved", "denied", "approved", "denied"].map(decide), cancel]);
  const [decisions, cancelled] = [answers.slice(0, 4).map(({ status }) => status), answers[4]?.status];
  expect(decisions.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
  expect(decisions.every((status) => status === 200 || status === 409)).toBe(true);
  expect(cancelled).toBe(200);
});

test("an agent can never decide, not even its own task's approval (A02)", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const agent = await app.key(me, "agent");
  const { id } = await ask(app, { ...me, sessionId: agent.token });
  for (const path of [`/api/approvals/${id}`, `/api/interactions/${id}`]) {
    const problem = await app.problem("POST", path, {
      token: agent.token,
      body: { workspaceId: me.workspaceId, decision: "approved" },
    });
    expect(problem.code).toBe("auth.forbidden");
  }
  await app.json("GET", `/api/approvals/${id}`, 200, { token: agent.token });
});

test("remember leaves a policy for exactly this tool, and only an admin may", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const reviewer = await app.key(me, "reviewer");
  const { id } = await ask(app, me);
  const body = { workspaceId: me.workspaceId, decision: "approved", remember: true };
  expect((await app.problem("POST", `/api/approvals/${id}`, { token: reviewer.token, body })).code).toBe(
    "auth.forbidden",
  );
  const { policy } = await app.json<Decided>("POST", `/api/approvals/${id}`, 200, { token: me.sessionId, body });
  expect(policy).toMatchObject({ toolPathPattern: "github.issues.create", decision: "allow", createdBy: me.actorId });
  expect((await app.problem("POST", `/api/approvals/${id}`, { token: me.sessionId, body })).code).toBe(
    "approval.already_decided",
  );
  const { items } = await app.json<{ items: Policy[] }>("GET", "/api/policies", 200, { token: me.sessionId });
  expect(items.length).toBe(1);
  const { id: next } = await ask(app, me, { toolPath: "a.b" });
  const narrow = {
    ...body,
    decision: "denied",
    remember: { toolPathPattern: "a.*", actorId: me.actorId, conditions: [{ path: "n", op: "less", value: 3 }] },
  };
  expect(
    (await app.json<Decided>("POST", `/api/approvals/${next}`, 200, { token: me.sessionId, body: narrow })).policy,
  ).toMatchObject({
    toolPathPattern: "a.*",
    decision: "deny",
    actorId: me.actorId,
    conditions: [{ path: "n", op: "less", value: 3 }],
  });
});

test("a page of approvals with huge inputs ends early and goes on at its cursor", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const ids = [];
  for (let count = 0; count < 45; count++)
    ids.push((await ask(app, me, { inputJson: JSON.stringify("x".repeat(240_000)) })).id);
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await app.json<{ items: Approval[]; nextCursor?: string }>(
      "GET",
      `/api/approvals?limit=200${cursor ? `&cursor=${cursor}` : ""}`,
      200,
      { token: me.sessionId },
    );
    seen.push(...page.items.map(({ approvalId }) => approvalId));
    cursor = page.nextCursor;
    pages++;
  } while (cursor);
  expect(seen.toSorted()).toEqual(ids.toSorted());
  expect(pages).toBeGreaterThan(1);
});

test("a question takes an answer that fits its schema, once; an approval has another door", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const schema = '{"type":"string","enum":["a","b"]}';
  const question = { kind: "question" as const, answerSchemaJson: schema };
  const { id } = await ask(app, me, question);
  const [path, token, workspaceId] = [`/api/interactions/${id}`, me.sessionId, me.workspaceId];
  for (const answer of ["c", 1, null, ["a"]])
    expect((await app.problem("POST", path, { token, body: { workspaceId, answer } })).code).toBe("request.invalid");
  expect((await app.problem("POST", path, { token, body: { workspaceId } })).code).toBe("request.invalid");
  const resolved = await app.json<{ interaction: Interaction; task: Task }>("POST", path, 200, {
    token,
    body: { workspaceId, answer: "a" },
  });
  expect(resolved).toMatchObject({
    interaction: { status: "resolved", answer: "a", schema: JSON.parse(schema) },
    task: { status: "queued" },
  });
  expect((await app.problem("POST", path, { token, body: { workspaceId, answer: "c" } })).code).toBe(
    "interaction.already_resolved",
  );
  expect(
    (await app.problem("POST", `/api/approvals/${id}`, { token, body: { workspaceId, decision: "approved" } })).code,
  ).toBe("approval.not_found");
  const declined = await ask(app, me, question);
  expect(
    await app.json("POST", `/api/interactions/${declined.id}`, 200, {
      token,
      body: { workspaceId, decline: true, reason: "busy" },
    }),
  ).toMatchObject({ interaction: { status: "denied", reason: "busy" } });
  const approval = await ask(app, me);
  expect(
    (await app.problem("POST", `/api/interactions/${approval.id}`, { token, body: { workspaceId, answer: "a" } })).code,
  ).toBe("interaction.wrong_door");
  const secret = await ask(app, me, { kind: "credential" });
  const reviewer = await app.key(me, "reviewer");
  expect(
    (
      await app.problem("POST", `/api/interactions/${secret.id}`, {
        token: reviewer.token,
        body: { workspaceId, answer: "a" },
      })
    ).code,
  ).toBe("auth.forbidden");
  const { items } = await app.json<{ items: Interaction[] }>("GET", "/api/interactions?status=pending", 200, { token });
  expect(items.map(({ kind }) => kind)).toEqual(["approval", "credential"]);
});

test("policies are listed in the order they win, and a test says which one decides", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const [token, workspaceId] = [me.sessionId, me.workspaceId];
  const create = (more: object) =>
    app.json<Policy>("POST", "/api/policies", 201, { token, body: { workspaceId, ...more } });
  const allow = await create({ toolPathPattern: "executor.*", decision: "allow", priority: 5 });
  const deny = await create({
    toolPathPattern: "*",
    decision: "deny",
    conditions: [{ path: "n", op: "greater", value: 9 }],
  });
  const { items } = await app.json<{ items: Policy[] }>("GET", "/api/policies", 200, { token });
  expect(items.map(({ policyId }) => policyId)).toEqual([deny.policyId, allow.policyId]);
  const tried = (toolPath: string, input?: unknown) =>
    app.json<PolicyTestResult>("POST", "/api/policies/test", 200, { token, body: { workspaceId, toolPath, input } });
  expect(await tried("executor.echo", { n: 10 })).toMatchObject({
    decision: "deny",
    policyId: deny.policyId,
    matched: [deny.policyId, allow.policyId],
    toolFound: true,
  });
  expect(await tried("executor.echo")).toMatchObject({ decision: "allow", policyId: allow.policyId });
  const unknown = await tried("nothing.here");
  expect([unknown.toolFound, unknown.policyId, unknown.decision]).toEqual([false, undefined, "require_approval"]);
  await app.json("DELETE", `/api/policies/${deny.policyId}?workspaceId=${workspaceId}`, 204, { token });
  expect(
    (await app.problem("DELETE", `/api/policies/${deny.policyId}?workspaceId=${workspaceId}`, { token })).code,
  ).toBe("policy.not_found");
});

test("tools are listed, searched and read as policy lets the caller see them", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const [token, workspaceId] = [me.sessionId, me.workspaceId];
  const list = async (path: string) =>
    (await app.json<{ items: ToolSummary[] }>("GET", path, 200, { token })).items.map((tool) => tool.path);
  expect(await list("/api/tools?namespace=human")).toEqual(["human.ask"]);
  expect((await list("/api/tools/search?query=ask+a+person"))[0]).toBe("human.ask");
  expect(await app.json<ToolDetail>("GET", "/api/tools/executor.echo", 200, { token })).toMatchObject({
    approval: "auto",
    effect: "safe",
  });
  await app.json("POST", "/api/policies", 201, {
    token,
    body: { workspaceId, toolPathPattern: "executor.echo", decision: "require_approval" },
  });
  expect(await app.json<ToolDetail>("GET", "/api/tools/executor.echo", 200, { token })).toMatchObject({
    approval: "required",
  });
  await app.json("POST", "/api/policies", 201, {
    token,
    body: { workspaceId, toolPathPattern: "executor.*", decision: "deny" },
  });
  expect(await list("/api/tools")).not.toContain("executor.echo");
  for (const path of ["executor.echo", "constructor", "x%2fy", "__proto__"])
    expect((await app.problem("GET", `/api/tools/${path}`, { token })).code).toBe("tool.not_found");
});

async function ask(
  app: TestApp,
  { sessionId, workspaceId }: Session,
  asked: Partial<NewInteraction> = {},
): Promise<{ id: string; taskId: string }> {
  const { taskId } = await app.json<CreatedTask>("POST", "/api/tasks", 201, {
    token: sessionId,
    body: { code: "return 1", workspaceId },
  });
  return { taskId, id: await createStandInWorker(app.store).ask(taskId, asked) };
}
