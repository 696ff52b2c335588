import { expect, test } from "bun:test";
import type { AuditEntry } from "@executor/contracts/identity";
import { openTestApp } from "../testing/open-test-app.ts";

test("the audit tells who did what, newest first, in pages and as one export", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  const token = me.sessionId;
  for (let count = 0; count < 5; count++) await app.key(me, "agent");
  const read = (query: string) =>
    app.json<{ items: AuditEntry[]; nextCursor?: string }>("GET", `/api/audit?${query}`, 200, { token });
  const first = await read("limit=4");
  const second = await read(`limit=4&cursor=${first.nextCursor}`);
  const all = [...first.items, ...second.items];
  expect(all.map(({ sequence }) => sequence)).toEqual([6, 5, 4, 3, 2, 1]);
  expect(all.at(-1)).toMatchObject({ action: "workspace.created", actorId: me.actorId });
  expect(second.nextCursor).toBeUndefined();
  expect((await read("action=key.created")).items.length).toBe(5);
  expect((await read(`actorId=someone&since=2020-01-01T00:00:00Z`)).items).toEqual([]);
  const exported = await app.call("GET", "/api/audit?format=ndjson", { token });
  expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
  const lines = (await exported.text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as AuditEntry)).toEqual(all);
});

test("a long export arrives whole", async () => {
  await using app = await openTestApp();
  const me = await app.session();
  for (let count = 0; count < 1_200; count++) {
    const policy = {
      policyId: `policy_${count}`,
      workspaceId: me.workspaceId,
      pattern: "a",
      decision: "allow",
      actorId: null,
      clientId: null,
      conditionsJson: "[]",
      priority: 0,
      createdAt: 1,
      createdBy: "x",
    };
    await app.store.createPolicy({ policy, by: { actorId: "x", clientId: "y" } });
  }
  const text = await (await app.call("GET", "/api/audit?format=ndjson", { token: me.sessionId })).text();
  const numbers = text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as AuditEntry).sequence);
  expect(numbers).toEqual(Array.from({ length: 1_201 }, (_, index) => 1_201 - index));
});
