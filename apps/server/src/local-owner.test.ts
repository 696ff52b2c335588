import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiKey, Caller } from "@executor/contracts/identity";
import { ensureLocalOwner } from "./local-owner.ts";
import { openTestApp, type TestApp } from "./testing/open-test-app.ts";

test("the owner's key is made once, for its owner's eyes only, and works", async () => {
  await using app = await openTestApp();
  await inHome(async (home) => {
    const owner = await ensureLocalOwner(app.deps, home);
    const path = join(home, "owner-key");
    expect([statSync(path).mode & 0o777, statSync(home).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await ensureLocalOwner(app.deps, home)).toEqual(owner);
    expect(await whoami(app, owner.token)).toMatchObject({
      workspaceId: owner.workspaceId,
      role: "admin",
      installationAdmin: true,
    });
  });
});

test("the same key goes on working with a new database", async () => {
  await inHome(async (home) => {
    await using first = await openTestApp();
    const owner = await ensureLocalOwner(first.deps, home);
    await using second = await openTestApp();
    expect(await ensureLocalOwner(second.deps, home)).toEqual(owner);
    expect(await whoami(second, owner.token)).toMatchObject({ workspaceId: owner.workspaceId });
  });
});

test("a revoked key is replaced at the next start, in the same workspace", async () => {
  await using app = await openTestApp();
  await inHome(async (home) => {
    const owner = await ensureLocalOwner(app.deps, home);
    await app.json("POST", "/api/auth/logout", 204, { token: owner.token });
    const next = await ensureLocalOwner(app.deps, home);
    expect(next.token).not.toBe(owner.token);
    expect(await whoami(app, next.token)).toMatchObject({
      workspaceId: owner.workspaceId,
      actorId: owner.actorId,
      installationAdmin: true,
    });
    expect(await ensureLocalOwner(app.deps, home)).toEqual(next);
  });
});

test("an admin of the local workspace cannot revoke the owner's key", async () => {
  await using app = await openTestApp();
  await inHome(async (home) => {
    const { token, workspaceId, bearerId } = await ensureLocalOwner(app.deps, home);
    const admin = await app.json<{ token: string }>("POST", "/api/keys", 201, {
      token,
      body: { workspaceId, role: "admin", label: "admin" },
    });
    const path = `/api/keys/${bearerId}?workspaceId=${workspaceId}`;
    expect((await app.problem("DELETE", path, { token: admin.token })).code).toBe("auth.forbidden");
    const { items } = await app.json<{ items: ApiKey[] }>("GET", "/api/keys", 200, { token: admin.token });
    expect(items.length).toBe(2);
  });
});

test("a file that others can read is closed and told of; one that is broken is never overwritten", async () => {
  await using app = await openTestApp();
  await inHome(async (home) => {
    const path = join(home, "owner-key");
    await ensureLocalOwner(app.deps, home);
    chmodSync(path, 0o644);
    await ensureLocalOwner(app.deps, home);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(app.logs.join()).toContain("owner.key_was_readable");
    writeFileSync(path, "broken");
    await expect(ensureLocalOwner(app.deps, home)).rejects.toThrow(/owner-key/);
    expect(readFileSync(path, "utf8")).toBe("broken");
  });
});

const whoami = (app: TestApp, token: string) => app.json<Caller>("GET", "/api/auth/me", 200, { token });

async function inHome(work: (home: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "executor-home-"));
  await work(join(folder, "home")).finally(() => rmSync(folder, { recursive: true }));
}
