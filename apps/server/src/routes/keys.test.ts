import { expect, test } from "bun:test";
import type { ApiKey, Caller, CreatedKey } from "@executor/contracts/identity";
import { openTestApp } from "../testing/open-test-app.ts";

test("a key's token is shown once and only its digest is kept", async () => {
  await using app = await openTestApp();
  const admin = await app.session();
  const key = await app.key(admin, "agent");
  expect(key.token).toMatch(/^ex_key_[A-Za-z0-9_-]{43}$/);
  const { items } = await app.json<{ items: ApiKey[] }>("GET", "/api/keys", 200, { token: admin.sessionId });
  expect(items.map(({ keyId, role }) => ({ keyId, role }))).toEqual([{ keyId: key.keyId, role: "agent" }]);
  expect(JSON.stringify(items)).not.toContain(key.token.slice(7));
});

test("a key is its own actor unless told otherwise, and never an installation admin", async () => {
  await using app = await openTestApp();
  const admin = await app.session();
  const [token, workspaceId] = [admin.sessionId, admin.workspaceId];
  const own = await app.key(admin, "admin");
  expect(own.actorId).not.toBe(admin.actorId);
  const same = await app.json<CreatedKey>("POST", "/api/keys", 201, {
    token,
    body: { workspaceId, role: "admin", label: "mine", actorId: admin.actorId },
  });
  expect(same.actorId).toBe(admin.actorId);
  expect(await app.json<Caller>("GET", "/api/auth/me", 200, { token: own.token })).toMatchObject({
    installationAdmin: false,
  });
  expect(
    (
      await app.problem("POST", "/api/keys", {
        token,
        body: { workspaceId, role: "admin", label: "x", installationAdmin: true },
      })
    ).code,
  ).toBe("request.invalid");
});

test("a revoked key stops working at once, although it was just used", async () => {
  await using app = await openTestApp();
  const admin = await app.session();
  const key = await app.key(admin, "agent");
  await app.json("GET", "/api/auth/me", 200, { token: key.token });
  const path = `/api/keys/${key.keyId}?workspaceId=${admin.workspaceId}`;
  await app.json("DELETE", path, 204, { token: admin.sessionId });
  expect((await app.problem("GET", "/api/auth/me", { token: key.token })).code).toBe("auth.invalid");
  expect((await app.problem("DELETE", path, { token: admin.sessionId })).code).toBe("key.not_found");
});

test("last use is written at most once a minute", async () => {
  await using app = await openTestApp();
  const admin = await app.session();
  const key = await app.key(admin, "agent");
  let touches = 0;
  const { touchBearer } = app.store;
  app.store.touchBearer = (args) => (touches++, touchBearer(args));
  for (let count = 0; count < 20; count++) await app.json("GET", "/api/auth/me", 200, { token: key.token });
  expect(touches).toBe(1);
});
