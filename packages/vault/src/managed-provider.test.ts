/** The whole envelope: installation key, workspace key, record; on a real store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { AppError } from "@executor/contracts/error";
import type { Store } from "@executor/core/ports/store";
import type { SecretBinding } from "@executor/core/ports/vault";
import { openTemporaryStores, type TemporaryStores } from "@executor/testkit/vault/temporary-stores";
import { type InstallationKeys, newKeyText, toInstallationKey } from "./installation-key.ts";
import { createManagedProvider } from "./managed-provider.ts";
import { createSealer } from "./sealer.ts";
import { createWorkspaceKeys, rewrapWorkspaceKey } from "./workspace-keys.ts";

const SECRET = JSON.stringify({ token: "canary-5f1e" });
const newKey = () => toInstallationKey(randomBytes(32));

let stores: TemporaryStores;
let store: Store;
let workspaceId: string;
beforeEach(async () => {
  stores = openTemporaryStores();
  store = await stores.connect();
  workspaceId = await stores.addWorkspace(store);
});
afterEach(() => stores.stop());

const keysWith = (keys: InstallationKeys) =>
  createWorkspaceKeys({ store, installationKeys: async () => keys, now: Date.now });
const binding = (patch: Partial<SecretBinding> = {}): SecretBinding => ({
  workspaceId,
  sourceKey: "github",
  scope: "actor",
  actorId: "ann",
  name: "default",
  version: 1,
  ...patch,
});
async function unreadable(opening: Promise<unknown>): Promise<AppError> {
  const error = await opening.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe("credential.unreadable");
  expect(String(error)).not.toContain("canary");
  return error as AppError;
}

describe("a sealed secret", () => {
  test("opens where it belongs, in another process too", async () => {
    const keys = { current: newKey(), previous: [] };
    const kept = await createManagedProvider(keysWith(keys)).keep(binding(), SECRET);
    expect(await createManagedProvider(keysWith(keys)).reveal(binding(), kept)).toBe(SECRET);
  });

  test("opens nowhere else: each part of the binding counts", async () => {
    const keys = { current: newKey(), previous: [] };
    const provider = createManagedProvider(keysWith(keys));
    const kept = await provider.keep(binding(), SECRET);
    const other = await stores.addWorkspace(store);
    await provider.keep(binding({ workspaceId: other }), SECRET);
    const moves: Partial<SecretBinding>[] = [
      { workspaceId: other },
      { sourceKey: "gitlab" },
      { scope: "workspace" },
      { actorId: "bob" },
      { actorId: "" },
      { name: "work" },
      { version: 2 },
      { version: 0 },
      { sourceKey: "githubactor", scope: "" as "actor" },
    ];
    for (const move of moves) await unreadable(provider.reveal(binding(move), kept));
  });

  test("is no sealed text of another purpose, nor the other way round", async () => {
    const keys = keysWith({ current: newKey(), previous: [] });
    const [provider, sealer] = [createManagedProvider(keys), createSealer(keys)];
    await unreadable(sealer.open(workspaceId, "github", "default", await provider.keep(binding(), SECRET)));
    const sealed = await sealer.seal(workspaceId, "oauth-flow", "state", SECRET);
    expect(await sealer.open(workspaceId, "oauth-flow", "state", sealed)).toBe(SECRET);
    await unreadable(provider.reveal(binding(), sealed));
    await unreadable(sealer.open(workspaceId, "oauth-client", "state", sealed));
    await unreadable(sealer.open(workspaceId, "oauth-flow", "other", sealed));
  });

  test("is never an empty value: what is missing or cut is an error", async () => {
    const provider = createManagedProvider(keysWith({ current: newKey(), previous: [] }));
    const kept = await provider.keep(binding(), SECRET);
    for (const odd of ["", "{}", kept.slice(0, -1), SECRET]) await unreadable(provider.reveal(binding(), odd));
  });

  test("leaves nothing of itself in the database or its log", async () => {
    const provider = createManagedProvider(keysWith({ current: newKey(), previous: [] }));
    const kept = await provider.keep(binding(), SECRET);
    const credential = { ...binding(), credentialId: "c", provider: "managed", kind: "static", kept, expiresAt: null };
    const by = { actorId: "ann", clientId: "client" };
    await store.saveCredential({ credential, replaces: 0, by, now: 1 });
    for (const file of [stores.path, `${stores.path}-wal`])
      for (const spelling of ["canary-5f1e", Buffer.from("canary-5f1e").toString("base64").slice(1, 12)])
        expect(readFileSync(file).includes(spelling)).toBe(false);
  });
});

describe("the installation key", () => {
  test("that is another one is named as such, with what to do", async () => {
    const [mine, wrong] = [newKey(), newKey()];
    const kept = await createManagedProvider(keysWith({ current: mine, previous: [] })).keep(binding(), SECRET);
    const error = await unreadable(
      createManagedProvider(keysWith({ current: wrong, previous: [] })).reveal(binding(), kept),
    );
    expect(error.detail).toContain(mine.id);
    expect(error.detail).toContain(wrong.id);
    expect(error.detail).toContain("Restore the file secrets-key");
  });

  test("is replaced by wrapping the workspace key anew; records stay as they are", async () => {
    const [old, current] = [newKey(), newKey()];
    const kept = await createManagedProvider(keysWith({ current: old, previous: [] })).keep(binding(), SECRET);
    const rotating = createManagedProvider(keysWith({ current, previous: [old] }));
    expect(await rotating.reveal(binding(), kept)).toBe(SECRET);
    expect((await store.readWorkspaceKey({ workspaceId }))?.wrapped).toContain(current.id);
    const after = createManagedProvider(keysWith({ current, previous: [] }));
    expect(await after.reveal(binding(), kept)).toBe(SECRET);
  });

  test("re-wraps one key for whoever does it by hand, and only for its own workspace", async () => {
    const [from, to] = [newKey(), newKey()];
    const kept = await createManagedProvider(keysWith({ current: from, previous: [] })).keep(binding(), SECRET);
    const row = await store.readWorkspaceKey({ workspaceId });
    const wrapped = rewrapWorkspaceKey(row?.wrapped ?? "", workspaceId, { from, to });
    expect(() => rewrapWorkspaceKey(wrapped, "ws_other", { from: to, to: from })).toThrow(/credential.unreadable/);
    await store.replaceWorkspaceKey({ workspaceId, from: row?.wrapped ?? "", to: wrapped });
    expect(await createManagedProvider(keysWith({ current: to, previous: [] })).reveal(binding(), kept)).toBe(SECRET);
  });
});

describe("the key of a workspace", () => {
  test("swapped with that of another workspace, or damaged, opens nothing", async () => {
    const keys = { current: newKey(), previous: [] };
    const other = await stores.addWorkspace(store);
    const provider = createManagedProvider(keysWith(keys));
    const kept = await provider.keep(binding(), SECRET);
    await provider.keep(binding({ workspaceId: other }), SECRET);
    const [mine, theirs] = [
      (await store.readWorkspaceKey({ workspaceId }))?.wrapped ?? "",
      (await store.readWorkspaceKey({ workspaceId: other }))?.wrapped ?? "",
    ];
    let there = mine;
    for (const odd of [
      theirs,
      "",
      "k1",
      mine.replace(keys.current.id, "0".repeat(16)),
      mine.slice(0, -3),
      `x${mine}`,
    ]) {
      await store.replaceWorkspaceKey({ workspaceId, from: there, to: odd });
      there = odd;
      await unreadable(createManagedProvider(keysWith(keys)).reveal(binding(), kept));
    }
  });

  test("is not made by looking: without one nothing opens, and a later sealing makes it", async () => {
    const provider = createManagedProvider(keysWith({ current: newKey(), previous: [] }));
    const looking = unreadable(provider.reveal(binding(), "v1.x"));
    const sealing = provider.keep(binding(), SECRET);
    expect((await looking).detail).toContain("has no key");
    expect(await provider.reveal(binding(), await sealing)).toBe(SECRET);
  });

  test("is one, however many need it first", async () => {
    const keys = { current: newKey(), previous: [] };
    const providers = Array.from({ length: 10 }, () => createManagedProvider(keysWith(keys)));
    const kept = await Promise.all(providers.map((provider) => provider.keep(binding(), SECRET)));
    for (const each of kept) expect(await providers[0]?.reveal(binding(), each)).toBe(SECRET);
  });

  test("and the key text is 32 bytes of base64", () => {
    expect(Buffer.from(newKeyText(), "base64")).toHaveLength(32);
  });
});
