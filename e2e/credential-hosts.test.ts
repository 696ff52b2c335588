/**
 * A credential goes to the host it was given for and to no other, whoever changes what: the document, an admin, the next source of
 * the same name. Real processes throughout; the other host is always there and sees nothing.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import type { Executor } from "@executor/client";
import {
  environmentOn,
  type Installation,
  newHome,
  spawnServer,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import { type OpenapiServer, petDocument, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { ask, type AskOptions, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

const SECRET = "canary-hosts-90ab12";
let installation: Installation;
let good: OpenapiServer;
let evil: OpenapiServer;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.stop());
beforeEach(() => {
  good = startOpenapiServer({ token: SECRET });
  evil = startOpenapiServer();
});
afterEach(async () => {
  await good.stop();
  const got = JSON.stringify(evil.seen);
  await evil.stop();
  expect(got).not.toContain(SECRET);
});

const auth = { mode: "workspace", type: "bearer" } as const;
async function connected(executor: Executor, more: object = {}): Promise<string> {
  const spec = `${good.url}/openapi.json`;
  const { sourceId } = await executor.sources.add({ type: "openapi", name: "Pets", spec, auth, ...more });
  expect(await executor.sources.waitUntilRead(sourceId)).toMatchObject({ health: "ok" });
  return sourceId;
}
const give = (executor: Executor) =>
  executor.credentials.set({ sourceKey: "pets", scope: "workspace", secretJson: { token: SECRET } });
const list = "return await tools.pets.pets.list_pets()";

test("a document that names another host is not believed; the last good index stays (S16, S19)", async () => {
  const { executor } = await signIn(installation);
  const sourceId = await connected(executor);
  await give(executor);
  good.document = petDocument(evil.url);
  await executor.sources.refresh(sourceId);
  const failing = await until("the refusal", async () => {
    const source = await executor.sources.get(sourceId);
    return source.health === "failing" && source;
  });
  expect(failing.lastError).toMatchObject({ code: "source.moved", message: expect.stringContaining(evil.url) });
  expect(await executor.tasks.run(list)).toEqual([{ id: 1, name: "Rex" }]);
  expect(evil.seen).toEqual([]);
});

test("a host of one operation alone counts as well", async () => {
  const { executor } = await signIn(installation);
  const sourceId = await connected(executor);
  await give(executor);
  const document = petDocument(good.url);
  Object.assign((document["paths"] as Record<string, { get: object }>)["/pets"]?.get ?? {}, {
    servers: [{ url: evil.url }],
  });
  good.document = document;
  await executor.sources.refresh(sourceId);
  await until("the refusal", async () => (await executor.sources.get(sourceId)).lastError?.code === "source.moved");
});

test("whoever changes baseUrl or a server's variable does not get the workspace's credentials", async () => {
  const { executor } = await signIn(installation);
  const sourceId = await connected(executor);
  await give(executor);
  // Where it goes anyway is no move.
  await executor.sources.update(sourceId, { baseUrl: good.url });
  expect((await executor.credentials.list()).items).toHaveLength(1);
  await executor.sources.update(sourceId, { baseUrl: evil.url });
  expect((await executor.credentials.list()).items).toEqual([]);
  const task = await executor.tasks.create({ code: list });
  const asked = await until(
    "the question",
    async () => (await executor.interactions.list({ status: "pending" })).items[0],
  );
  expect(asked).toMatchObject({ kind: "credential", detail: expect.stringContaining(new URL(evil.url).host) });
  await executor.tasks.cancel(task.taskId);
});

test("a static secret does not go along to another host, unless it is given again", async () => {
  const { executor } = await signIn(installation);
  const given = { mode: "static", type: "bearer", token: SECRET } as const;
  const sourceId = await connected(executor, { auth: given });
  await expect(executor.sources.update(sourceId, { baseUrl: evil.url })).rejects.toMatchObject({
    code: "source.moved",
  });
  expect(await executor.tasks.run(list)).toEqual([{ id: 1, name: "Rex" }]);
  await executor.sources.update(sourceId, { baseUrl: evil.url, auth: { ...given, token: "another-one-77" } });
  await executor.tasks.run(list);
  expect(evil.seen.at(-1)?.headers["authorization"]).toBe("Bearer another-one-77");
});

test("an answer to what was asked for one host is not taken for another", async () => {
  const { executor } = await signIn(installation);
  const sourceId = await connected(executor);
  const { taskId } = await executor.tasks.create({ code: list });
  const asked = await until(
    "the question",
    async () => (await executor.interactions.list({ status: "pending" })).items[0],
  );
  expect(asked.detail).toContain(new URL(good.url).host);
  await executor.sources.update(sourceId, { baseUrl: evil.url });
  await expect(executor.interactions.answer(asked.interactionId, { token: SECRET })).rejects.toMatchObject({
    code: "source.moved",
  });
  expect((await executor.credentials.list()).items).toEqual([]);
  await executor.tasks.cancel(taskId);
});

test("the page that takes a secret: no other page can post to it, frame it or read it, and it takes one answer once", async () => {
  const person = await signIn(installation);
  const { executor, workspaceId, token } = person;
  await connected(executor);
  const { taskId } = await executor.tasks.create({ code: list });
  const asked = await until(
    "the question",
    async () => (await executor.interactions.list({ status: "pending" })).items[0],
  );
  expect(asked.url).toBe(`/interactions/${asked.interactionId}`);
  const page = await ask(installation.url, `GET ${asked.url}`);
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(policy).not.toContain("unsafe");
  expect([page.status, page.headers.get("cache-control"), page.headers.get("referrer-policy")]).toEqual([
    200,
    expect.stringMatching(/no-/),
    "no-referrer",
  ]);
  const route = `POST /api/interactions/${asked.interactionId}`;
  const body = { workspaceId, answer: { token: SECRET } };
  const bearer = { authorization: `Bearer ${token}` };
  const forged: [AskOptions, number][] = [
    [{ body }, 401],
    [{ body, headers: { cookie: `token=${token}` } }, 401],
    [{ body, headers: { ...bearer, origin: "http://evil.example" } }, 403],
    [{ body, headers: { ...bearer, origin: "null" } }, 403],
    [{ body: JSON.stringify(body), headers: { ...bearer, "content-type": "text/plain" } }, 415],
    [{ body: `token=${SECRET}`, headers: { ...bearer, "content-type": "application/x-www-form-urlencoded" } }, 415],
  ];
  for (const [options, status] of forged) expect((await ask(installation.url, route, options)).status).toBe(status);
  expect((await ask(installation.url, `${route.replace("POST", "GET")}?answer=${SECRET}`, { token })).status).not.toBe(
    500,
  );
  const agent = await executor.keys.create({ role: "agent", label: "a" });
  const reviewer = await executor.keys.create({ role: "reviewer", label: "r" });
  for (const { token: other } of [agent, reviewer])
    expect((await ask(installation.url, route, { token: other, body })).status).toBe(403);
  const [first, second] = [await person.ask(route, { body }), await person.ask(route, { body })];
  expect([first.status, second.status]).toEqual([200, 409]);
  expect(JSON.stringify([first.body, second.body])).not.toContain(SECRET);
  expect((await executor.tasks.wait(taskId)).status).toBe("completed");
});

test("the next source of the same name gets nothing of the one before", async () => {
  const { executor } = await signIn(installation);
  const sourceId = await connected(executor);
  await give(executor);
  await executor.sources.remove(sourceId);
  const spec = `${evil.url}/openapi.json`;
  const next = await executor.sources.add({ type: "openapi", name: "Pets", spec, auth });
  await executor.sources.waitUntilRead(next.sourceId);
  expect((await executor.credentials.list()).items).toEqual([]);
  const { taskId } = await executor.tasks.create({ code: list });
  await until("the question", async () => (await executor.interactions.list({ status: "pending" })).items[0]);
  await executor.tasks.cancel(taskId);
});

test("where a document lies gets no credential: it is for the API", async () => {
  const { executor } = await signIn(installation);
  const asked: (string | null)[] = [];
  const files = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      asked.push(request.headers.get("authorization"));
      return asked.length === 1 ? new Response("sign in", { status: 401 }) : Response.json(petDocument(good.url));
    },
  });
  const spec = `http://127.0.0.1:${files.port}/openapi.json`;
  const given = { mode: "static", type: "bearer", token: SECRET } as const;
  const { sourceId } = await executor.sources.add({
    type: "openapi",
    name: "Pets",
    spec,
    auth: given,
    baseUrl: good.url,
  });
  const first = await executor.sources.waitUntilRead(sourceId);
  expect(first).toMatchObject({ health: "failing", lastError: { code: "source.unreadable" } });
  await executor.sources.refresh(sourceId);
  await until("the document", async () => (await executor.sources.get(sourceId)).health === "ok");
  expect(asked).toEqual([null, null]);
  expect(await executor.tasks.run(list)).toEqual([{ id: 1, name: "Rex" }]);
  await files.stop(true);
});

test("secrets in addresses and headers, and names that deceive, are refused with what to do (A07)", async () => {
  const { executor } = await signIn(installation);
  const refused: [more: object, words: string][] = [
    [{ spec: "https://user:pass@pets.example/openapi.json" }, "user name"],
    [{ spec: "https://pets.example/openapi.json?access_token=abc" }, 'query: "access_token"'],
    [{ baseUrl: "https://pets.example/?api_key=abc" }, 'query: "api_key"'],
    [{ headers: { "X-Api-Key": "abc" } }, 'header: "X-Api-Key"'],
    [{ headers: { Authorization: "Bearer abc" } }, "looks like a secret"],
    [{ name: "Pets \u202egnp.exe" }, "invisible"],
    [{ name: "Pets\u0007" }, "invisible"],
  ];
  for (const [more, words] of refused) {
    const adding = executor.sources.add({ type: "openapi", name: "Pets", spec: `${good.url}/openapi.json`, ...more });
    const error = await adding.catch((thrown: unknown) => thrown);
    expect([more, String(error)]).toEqual([more, expect.stringContaining(words)]);
    expect(String(error)).not.toContain("abc");
  }
});

test("two sources of the environment under one name are one clear message", async () => {
  const home = newHome();
  const spec = `${good.url}/openapi.json`;
  const both = JSON.stringify(["pets", "Pets!"].map((name) => ({ type: "openapi", name, spec })));
  const { code, stderr } = await spawnServer(environmentOn(home, { EXECUTOR_TOOL_SOURCES: both })).finish();
  rmSync(home, { recursive: true, force: true });
  expect([code, stderr]).toEqual([78, expect.stringContaining("two sources with the namespace pets")]);
});
