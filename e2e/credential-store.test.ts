/** What lies on the disk (D06): sealed texts that were moved do not open, files are private, and without the key nothing opens. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Installation, newHome, startInstallation } from "@executor/testkit/installation/start-installation";
import { type OpenapiServer, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { type Person, personOf, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";
import { filesBelow } from "./support/canaries.ts";

const SECRET = "canary-store-77dd01";
let home: string;
let installation: Installation;
let api: OpenapiServer;
let person: Person;
beforeEach(async () => {
  home = newHome();
  api = startOpenapiServer({ token: SECRET });
  installation = await startInstallation({ home });
  person = await signIn(installation);
  await connect(person, "Pets", "workspace");
});
afterEach(async () => {
  await installation.stop();
  await api.stop();
  rmSync(home, { recursive: true, force: true });
});

async function connect({ executor }: Person, name: string, mode: "workspace" | "actor"): Promise<void> {
  const spec = `${api.url}/openapi.json`;
  const { sourceId } = await executor.sources.add({ type: "openapi", name, spec, auth: { mode, type: "bearer" } });
  await executor.sources.waitUntilRead(sourceId);
}
const give = (who: Person, token: string, more: object = {}) =>
  who.executor.credentials.set({ sourceKey: "pets", scope: "workspace", secretJson: { token }, ...more });
const call = (who: Person, path = "pets.pets.list_pets", account = "") =>
  who.executor.tasks.run(
    `try { return await tools.${path}(${account && JSON.stringify({ $account: account })}) } catch (e) { return { code: e.code, message: e.message } }`,
  );
const REX = [{ id: 1, name: "Rex" }];
const unreadable = { code: "credential.unreadable" };

function open(): Database {
  const db = new Database(join(home, "executor.db"));
  db.run("PRAGMA busy_timeout = 5000");
  return db;
}

/** Puts the sealed text of one row into another, as somebody with the file in hands can. */
function move(from: string, to: string): void {
  const db = open();
  const { kept } = db.query("SELECT kept FROM credentials WHERE credentialId = ?").get(from) as { kept: string };
  db.query("UPDATE credentials SET kept = ? WHERE credentialId = ?").run(kept, to);
  db.close();
}

test("D06: a sealed text that was put elsewhere is refused, whatever the place differs in", async () => {
  const other = await signIn(installation);
  await connect(other, "Pets", "workspace");
  await connect(person, "Cats", "workspace");
  await connect(person, "Mine", "actor");
  const good = await give(person, SECRET, { name: "good" });
  const places: [what: string, who: Person, path: string, more: object][] = [
    ["name", person, "pets", { name: "empty" }],
    ["source", person, "cats", { sourceKey: "cats", name: "good" }],
    ["workspace", other, "pets", { name: "good" }],
    ["scope", person, "mine", { sourceKey: "mine", scope: "actor", name: "good" }],
  ];
  for (const [what, who, path, more] of places) {
    const { credentialId, name } = await give(who, "nothing-of-worth", more);
    move(good.credentialId, credentialId);
    const outcome = await call(who, `${path}.pets.list_pets`, name);
    expect([what, outcome]).toEqual([what, expect.objectContaining(unreadable)]);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  }
  expect(await call(person, "pets.pets.list_pets", "good")).toEqual(REX);
}, 30_000);

test("D06: an earlier version of a credential that was put back is refused", async () => {
  const first = await give(person, SECRET);
  const db = open();
  const { kept } = db.query("SELECT kept FROM credentials WHERE credentialId = ?").get(first.credentialId) as {
    kept: string;
  };
  await give(person, "revoked-and-replaced");
  db.query("UPDATE credentials SET kept = ? WHERE credentialId = ?").run(kept, first.credentialId);
  db.close();
  expect(await call(person)).toMatchObject(unreadable);
});

test("D06: everything in the data directory is for its owner alone", async () => {
  await give(person, SECRET);
  await call(person);
  expect(statSync(home).mode & 0o777).toBe(0o700);
  const shared = filesBelow(home).filter((path) => (statSync(path).mode & 0o077) !== 0);
  expect(shared).toEqual([]);
  expect(filesBelow(home).map((path) => path.slice(home.length + 1))).toContain("secrets-key");
});

test("without its key, or with another one, nothing opens, and what to do is said; with the right one everything does", async () => {
  await give(person, SECRET);
  expect(await call(person)).toEqual(REX);
  const file = join(home, "secrets-key");
  const right = readFileSync(file, "utf8");
  rmSync(file);
  await installation.restart();
  const lost = await call(person);
  expect(lost).toMatchObject(unreadable);
  expect(JSON.stringify(lost)).toMatch(/secrets-key|EXECUTOR_SECRETS_KEY/);
  // What is given now must not be lost either, nor make the rest unreadable for good.
  await give(person, "given-meanwhile", { name: "second" }).catch(() => undefined);
  writeFileSync(file, "not a key", { mode: 0o600 });
  await installation.restart();
  expect(await call(person)).toMatchObject(unreadable);
  writeFileSync(file, right);
  chmodSync(file, 0o644);
  await installation.restart();
  expect(await call(person)).toEqual(REX);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(installation.logs).toContain("could be read by others");
}, 60_000);

test("D06: a copy of the database alone opens nowhere else", async () => {
  await give(person, SECRET);
  await installation.stop();
  const elsewhere = newHome();
  for (const name of ["executor.db", "executor.db-wal", "owner-key"])
    if (filesBelow(home).includes(join(home, name))) cpSync(join(home, name), join(elsewhere, name));
  const copy = await startInstallation({ home: elsewhere });
  try {
    expect(await call(personOf(copy.url, person.token, person.session))).toMatchObject(unreadable);
  } finally {
    await copy.stop();
    rmSync(elsewhere, { recursive: true, force: true });
  }
}, 30_000);

test("R03: an index that was damaged on the disk is read anew, and its tools come back", async () => {
  await give(person, SECRET);
  expect(await call(person)).toEqual(REX);
  const db = open();
  db.run("UPDATE chunks SET body = 'damaged' WHERE owner LIKE 'artifact/%' AND part > 0");
  db.close();
  await installation.restart();
  const paths = await until("the tools", async () => {
    const { items } = await person.executor.tools.list({ namespace: "pets" });
    return items.length > 0 && items.map(({ path }) => path);
  });
  expect(paths).toContain("pets.pets.list_pets");
  expect(await call(person)).toEqual(REX);
}, 30_000);
