import { expect, test } from "bun:test";
import type { Caller, Invite, Session } from "@executor/contracts/identity";
import { openTestApp } from "../testing/open-test-app.ts";

const bootstrap = "/api/auth/anonymous/bootstrap";

test("a new session owns a new workspace; a known id gives the same one back", async () => {
  await using app = await openTestApp();
  const first = await app.session();
  expect(first).toMatchObject({ role: "admin" });
  expect(first.sessionId).toMatch(/^ex_session_[A-Za-z0-9_-]{43}$/);
  expect(await app.json<Session>("POST", bootstrap, 200, { body: { sessionId: first.sessionId } })).toEqual(first);
  expect((await app.session()).workspaceId).not.toBe(first.workspaceId);
});

test("an unknown, revoked or foreign id gets a fresh session, never the id it asked for", async () => {
  await using app = await openTestApp();
  const session = await app.session();
  const key = await app.key(session, "admin");
  await app.json("POST", "/api/auth/logout", 204, { token: session.sessionId });
  for (const sessionId of ["mine", `ex_session_${"A".repeat(43)}`, session.sessionId, key.token]) {
    const fresh = await app.json<Session>("POST", bootstrap, 201, { body: { sessionId } });
    expect(fresh.sessionId).not.toBe(sessionId);
    expect(fresh.workspaceId).not.toBe(session.workspaceId);
  }
});

test("an idle session ends, and a key does not", async () => {
  await using app = await openTestApp({ limits: { sessionIdleMs: 1_000 } });
  const session = await app.session();
  const key = await app.key(session, "agent");
  const realNow = app.deps.host.now;
  app.deps.host.now = () => realNow() + 5_000;
  await Bun.sleep(1_050);
  expect((await app.problem("GET", "/api/auth/me", { token: session.sessionId })).code).toBe("auth.invalid");
  expect((await app.call("GET", "/api/auth/me", { token: key.token })).status).toBe(200);
  expect(
    (await app.json<Session>("POST", bootstrap, 201, { body: { sessionId: session.sessionId } })).workspaceId,
  ).not.toBe(session.workspaceId);
});

test("anonymous sessions can be off, and are limited per address", async () => {
  await using off = await openTestApp({ env: { anonymous: false } });
  expect((await off.problem("POST", bootstrap, { body: {} })).code).toBe("auth.anonymous_off");
  await using app = await openTestApp({ limits: { bootstrapsPerMinute: 2 } });
  await app.session();
  const { sessionId } = await app.session();
  const refused = await app.call("POST", bootstrap, { body: {} });
  expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
  await app.json("POST", bootstrap, 200, { body: { sessionId } });
});

test("whoami tells what the bearer is; only the bearer header counts", async () => {
  await using app = await openTestApp();
  const { sessionId, workspaceId, actorId, clientId } = await app.session();
  expect(await app.json<Caller>("GET", "/api/auth/me", 200, { token: sessionId })).toEqual({
    workspaceId,
    actorId,
    clientId,
    role: "admin",
    installationAdmin: false,
  });
  expect((await app.call("GET", "/api/auth/me", { headers: { cookie: `token=${sessionId}` } })).status).toBe(401);
  expect((await app.call("GET", `/api/auth/me?token=${sessionId}`)).status).toBe(401);
});

test("an invite lets one person join with its role, once", async () => {
  await using app = await openTestApp();
  const admin = await app.session();
  const invite = await app.json<Invite>("POST", "/api/invites", 201, {
    token: admin.sessionId,
    body: { workspaceId: admin.workspaceId, role: "reviewer" },
  });
  expect(invite.url).toBe(`http://127.0.0.1:8788/#invite=${invite.code}`);
  expect(Date.parse(invite.expiresAt) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  const joined = await app.json<Session>("POST", "/api/auth/exchange", 201, { body: { code: invite.code } });
  expect(joined).toMatchObject({ workspaceId: admin.workspaceId, role: "reviewer" });
  expect(joined.actorId).not.toBe(admin.actorId);
  expect((await app.problem("POST", "/api/auth/exchange", { body: { code: invite.code } })).code).toBe(
    "auth.code_invalid",
  );
  const brief = await app.json<Invite>("POST", "/api/invites", 201, {
    token: admin.sessionId,
    body: { workspaceId: admin.workspaceId, role: "agent", expiresInMs: 1_000 },
  });
  await Bun.sleep(1_010);
  expect((await app.problem("POST", "/api/auth/exchange", { body: { code: brief.code } })).code).toBe(
    "auth.code_invalid",
  );
});

test("requests with one key are limited, with the time to wait", async () => {
  await using app = await openTestApp({ limits: { requestsPerMinute: 3 } });
  const session = await app.session();
  const token = session.sessionId;
  for (let count = 0; count < 3; count++) await app.json("GET", "/api/auth/me", 200, { token });
  const refused = await app.call("GET", "/api/auth/me", { token });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "20"]);
  await app.json("GET", "/api/auth/me", 200, { token: (await app.session()).sessionId });
});

test("no token, body or query gets into the log, and a line is one line (D05, D07)", async () => {
  await using app = await openTestApp();
  const session = await app.session();
  const token = session.sessionId;
  await app.key(session, "agent");
  await app.call("GET", `/api/tools/search?query=canary-query`, { token });
  await app.call("POST", "/api/tasks", { token, body: { workspaceId: session.workspaceId, code: "canary-code" } });
  await app.call("GET", "/canary-path%0a{}", { token, headers: { "x-request-id": "a b\tc" } });
  await app.call("GET", "/api/health", { headers: { "x-request-id": "mine-1" } });
  const text = app.logs.join("\n");
  expect(text).not.toMatch(/canary|ex_(session|key)_/);
  expect(text.split("\n").every((line) => JSON.parse(line).msg === "request")).toBe(true);
  expect(text).toContain('"requestId":"mine-1"');
});
