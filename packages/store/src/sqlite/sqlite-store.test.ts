import { afterEach, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hint, Store } from "@executor/core/ports/store";
import { tables } from "@executor/core/store/tables";
import { describeStore } from "@executor/testkit/conformance/store";
import { createSystemHost } from "../system-host.ts";
import { initialSchema } from "./migrations/0001-initial.ts";
import { migrate, schemaVersion } from "./migrations.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const dirs: string[] = [];
const newDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "executor-sqlite-"));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

describeStore("sqlite", async () => {
  const dir = mkdtempSync(join(tmpdir(), "executor-sqlite-"));
  const store = await openSqliteStore({ path: join(dir, "executor.db") });
  return {
    store,
    stop: async () => {
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
});

const host = createSystemHost();
async function addWorkspace(store: Store): Promise<string> {
  const workspaceId = host.newId("ws");
  const bearer = {
    bearerId: host.newId("session"),
    hash: host.newSeed(),
    kind: "session",
    workspaceId,
    actorId: "a",
    clientId: "c",
    role: "admin",
    label: "",
    installationAdmin: 0,
    mayElicit: 0,
  };
  await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
  return workspaceId;
}
const newTask = (workspaceId: string) => ({
  taskId: host.newId("task"),
  workspaceId,
  actorId: "a",
  clientId: "c",
  runtimeId: "in-process",
  code: "return 1",
  script: "return 1",
  seed: host.newSeed(),
  preludeVersion: 1,
  timeoutMs: 1_000,
  metadataJson: "{}",
  idempotencyKey: null,
  requestDigest: "",
});

describe("the file", () => {
  test("is readable by its owner only, in a directory for its owner only", async () => {
    const path = join(newDir(), "deep", "executor.db");
    const store = await openSqliteStore({ path });
    await addWorkspace(store);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    await store.close();
  });
  test("keeps what was written when it is opened again", async () => {
    const path = join(newDir(), "executor.db");
    const first = await openSqliteStore({ path });
    const workspaceId = await addWorkspace(first);
    await first.close();
    const second = await openSqliteStore({ path });
    expect(await second.readWorkspace({ workspaceId })).not.toBeNull();
    await second.close();
  });
  test("R05: of the first schema is brought to today's, and keeps what was in it", async () => {
    const path = join(newDir(), "executor.db");
    const old = new Database(path);
    old.run(initialSchema);
    old.run("INSERT INTO workspaces VALUES ('ws_old', 'anonymous', 1, 7, 0)");
    old.run("PRAGMA user_version = 1");
    old.close();
    const store = await openSqliteStore({ path });
    expect(await store.readWorkspace({ workspaceId: "ws_old" })).toMatchObject({ workspaceId: "ws_old" });
    expect(await store.listSources({ workspaceId: "ws_old" })).toEqual([]);
    expect(await store.listCredentials({ workspaceId: "ws_old" })).toEqual([]);
    await store.close();
  });
  test("written by a newer version is refused with what to do", async () => {
    const path = join(newDir(), "executor.db");
    await (await openSqliteStore({ path })).close();
    const db = new Database(path);
    db.run(`PRAGMA user_version = ${schemaVersion + 1}`);
    db.close();
    await expect(openSqliteStore({ path })).rejects.toThrow(/store.newer_schema.*Start the newer version again/);
  });
  test("that is no database is refused with a clear message, and left as it is", async () => {
    const path = join(newDir(), "executor.db");
    writeFileSync(path, "this is not a database ".repeat(100));
    await expect(openSqliteStore({ path })).rejects.toThrow(/store.unavailable.*executor.db/);
    expect(await Bun.file(path).text()).toStartWith("this is not a database");
  });
  test("in a directory that cannot be written is refused with a clear message", async () => {
    const dir = newDir();
    chmodSync(dir, 0o500);
    if (process.getuid?.() === 0) rmSync(dir, { recursive: true });
    if (process.getuid?.() === 0) writeFileSync(dir, "a file where the directory should be");
    await expect(openSqliteStore({ path: join(dir, "x", "executor.db") })).rejects.toThrow(/store.unavailable/);
  });
  test("commits are on disk before they are answered: synchronous is FULL, the journal is WAL", async () => {
    const path = join(newDir(), "executor.db");
    const store = await openSqliteStore({ path });
    const db = new Database(path);
    expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
    await store.close();
  });
});

test("the migrations make exactly the tables that core describes", () => {
  const db = new Database(":memory:");
  migrate(db, ":memory:");
  for (const [name, table] of Object.entries(tables)) {
    const columns = db.query(`PRAGMA table_info(${name})`).all() as {
      name: string;
      type: string;
      notnull: number;
      pk: number;
    }[];
    const made = Object.fromEntries(
      columns.map((column) => [
        column.name,
        { TEXT: "text", INTEGER: "int", REAL: "real" }[column.type] + (column.notnull ? "" : "?"),
      ]),
    );
    expect({ [name]: made }).toEqual({ [name]: table.columns });
    expect(columns.filter((column) => column.pk).map((column) => column.name)).toEqual([table.key]);
    for (const [index, indexed] of Object.entries(table.indexes)) {
      const found = (db.query(`PRAGMA index_info(${name}_${index})`).all() as { name: string }[]).map(
        (column) => column.name,
      );
      expect({ [`${name}.${index}`]: found }).toEqual({ [`${name}.${index}`]: [...indexed] });
    }
  }
  db.close();
});

test("a verb that refuses takes nothing of its neighbours in the same commit with it", async () => {
  const store = await openSqliteStore({ path: join(newDir(), "executor.db") });
  const workspaceId = await addWorkspace(store);
  const good = [newTask(workspaceId), newTask(workspaceId)];
  const bad = { ...newTask(workspaceId), taskId: good[0]?.taskId ?? "" };
  const results = await Promise.allSettled(
    [good[0], bad, good[1]].map((task) => store.createTask({ task: task as never, now: 1 })),
  );
  expect(results.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await store.readTaskEvents({ taskId: good[1]?.taskId ?? "", afterSeq: 0, limit: 10 })).toHaveLength(2);
  const events = await store.readWorkspaceEvents({ workspaceId, afterSeq: 0, limit: 100 });
  expect(events.map((event) => event.workspaceSeq)).toEqual([1, 2, 3, 4]);
  await store.close();
});

describe("two processes", () => {
  const child = async (script: string, ...args: string[]): Promise<unknown> => {
    const run = Bun.spawn([process.execPath, join(import.meta.dir, "testing", script), ...args], {
      stdout: "pipe",
      stderr: "inherit",
    });
    return JSON.parse(await new Response(run.stdout).text());
  };
  test("share the file: every task is claimed exactly once, and event numbers have no gap", async () => {
    const path = join(newDir(), "executor.db");
    const store = await openSqliteStore({ path });
    const workspaceId = await addWorkspace(store);
    const tasks = Array.from({ length: 200 }, () => newTask(workspaceId));
    await Promise.all(tasks.map((task) => store.createTask({ task, now: 1 })));
    const claimed = (await Promise.all(
      ["w1", "w2"].map((worker) => child("claim-all.ts", path, worker)),
    )) as string[][];
    expect(claimed.flat().toSorted()).toEqual(tasks.map((task) => task.taskId).toSorted());
    const events = await store.readWorkspaceEvents({ workspaceId, afterSeq: 0, limit: 10_000 });
    expect(events.map((event) => event.workspaceSeq)).toEqual(events.map((_, index) => index + 1));
    expect(events).toHaveLength(200 * 4);
    await store.close();
  }, 30_000);
  test("16 workers in two processes that want the same task: one gets it", async () => {
    const path = join(newDir(), "executor.db");
    const store = await openSqliteStore({ path });
    const task = newTask(await addWorkspace(store));
    await store.createTask({ task, now: 1 });
    const winners = (await Promise.all(
      ["p1", "p2"].map((process) => child("claim-one.ts", path, process, task.taskId)),
    )) as string[][];
    expect(winners.flat()).toHaveLength(1);
    await store.close();
  }, 30_000);
});

describe("hints", () => {
  const settle = async (condition: () => boolean): Promise<void> => {
    for (let n = 0; n < 200 && !condition(); n++) await Bun.sleep(10);
  };
  test("reach the other process's store, in both directions, and again after the hub was away", async () => {
    const dir = newDir();
    const path = join(dir, "executor.db");
    const socketPath = join(dir, "hints.sock");
    let hub = await openSqliteStore({ path, hints: { socketPath, role: "hub" } });
    const spoke = await openSqliteStore({ path, hints: { socketPath, role: "spoke" } });
    const heardBySpoke: Hint[] = [];
    const heardByHub: Hint[] = [];
    spoke.watch((hint) => heardBySpoke.push(hint));
    hub.watch((hint) => heardByHub.push(hint));
    await settle(() => heardBySpoke.length > 0);
    heardBySpoke.length = 0;

    const task = newTask(await addWorkspace(hub));
    await hub.createTask({ task, now: 1 });
    await settle(() => heardBySpoke.some((hint) => hint.kind === "queued"));
    expect(heardBySpoke).toContainEqual({ kind: "queued" });
    await spoke.claimTask({ taskId: task.taskId, workerId: "w", leaseMs: 1_000, now: 2 });
    const events: Hint = { kind: "events", taskId: task.taskId, workspaceId: task.workspaceId, settled: false };
    await settle(() => heardByHub.filter((hint) => hint.kind === "events").length > 1);
    expect(heardByHub).toContainEqual(events);

    await hub.close();
    hub = await openSqliteStore({ path, hints: { socketPath, role: "hub" } });
    heardBySpoke.length = 0;
    await settle(() => heardBySpoke.length > 0);
    expect(heardBySpoke).toContainEqual({ kind: "queued" });
    await spoke.close();
    await hub.close();
  });
});

test("what every call reads is read once until anybody writes, and a write of another process counts for the next read", async () => {
  const path = join(newDir(), "executor.db");
  const [store, other] = [await openSqliteStore({ path }), await openSqliteStore({ path })];
  const workspaceId = await addWorkspace(store);
  const place = { workspaceId, sourceKey: "forge", scope: "workspace" as const, actorId: "" };
  const save = (kept: string, replaces: number) =>
    other.saveCredential({
      credential: {
        ...place,
        name: "default",
        credentialId: host.newId("credential"),
        provider: "managed",
        kind: "static",
        kept,
        expiresAt: null,
      },
      replaces,
      by: { actorId: "actor_1", clientId: "client_1" },
      now: host.now(),
    });
  expect(await store.findCredentials(place)).toEqual([]);
  await save("first", 0);
  const [first] = await store.findCredentials(place);
  expect(first?.kept).toBe("first");
  expect((await store.findCredentials(place))[0]).toBe(first as never);
  await save("second", 1);
  expect((await store.findCredentials(place))[0]?.kept).toBe("second");
  await store.close();
  await other.close();
});
