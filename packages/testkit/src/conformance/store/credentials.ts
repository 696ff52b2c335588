/** Credentials, keys of workspaces and sign-ins: what the store promises about versions, claims and single use. */
import { describe, expect, test } from "bun:test";
import type { NewCredential } from "@executor/core/store/verbs/credentials";
import { inWorld, newId, type OpenStore, refusal, type World } from "./world.ts";

function credential(world: World, patch: Partial<NewCredential> = {}): NewCredential {
  return {
    credentialId: newId("credential"),
    workspaceId: world.workspaceId,
    sourceKey: "github",
    scope: "workspace",
    actorId: "",
    name: "default",
    provider: "managed",
    kind: "static",
    kept: "v1.sealed",
    expiresAt: null,
    ...patch,
  };
}

async function save(world: World, patch: Partial<NewCredential> = {}, replaces = 0) {
  const { store, by, now } = world;
  const saved = await store.saveCredential({ credential: credential(world, patch), replaces, by, now });
  if (saved.kind !== "saved") throw new Error("moved");
  return saved;
}

export function describeCredentials(open: OpenStore): void {
  describe("credentials", () => {
    describeSlots(open);
    describeRefreshes(open);
  });
  describeSignIns(open);
}

function describeSlots(open: OpenStore): void {
  test(
    "a slot holds one; a later save replaces it under the same id with the next version",
    inWorld(open, async (world) => {
      const { row } = await save(world, { kept: "first" });
      expect(row).toMatchObject({ version: 1, status: "ok", createdBy: world.by.actorId, kept: "first" });
      world.now += 5;
      const again = await save(world, { kept: "second", provider: "env" }, 1);
      expect(again.replaced).toEqual(row);
      expect(again.row).toEqual({ ...row, kept: "second", provider: "env", version: 2, updatedAt: world.now });
      expect(await world.store.readCredential({ credentialId: row.credentialId })).toEqual(again.row);
      expect((await world.audit()).slice(0, 2).map((entry) => entry.action)).toEqual([
        "credential.replaced",
        "credential.created",
      ]);
    }),
  );

  test(
    "of 8 who save the same version at once, one is taken and the others are told that it moved",
    inWorld(open, async (world) => {
      const { store, by, now } = world;
      const saves = Array.from({ length: 8 }, (_, n) =>
        store.saveCredential({ credential: credential(world, { kept: `kept ${n}` }), replaces: 0, by, now }),
      );
      const kinds = (await Promise.all(saves)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "saved")).toHaveLength(1);
      expect(await store.listCredentials({ workspaceId: world.workspaceId })).toHaveLength(1);
    }),
  );

  test(
    "are found by workspace, source, scope and actor, and listed without what they keep",
    inWorld(open, async (world) => {
      const { store, workspaceId } = world;
      await save(world, { name: "b" });
      await save(world, { name: "a" });
      await save(world, { scope: "actor", actorId: "ann" });
      await save(world, { sourceKey: "gitlab" });
      const find = (patch: object) =>
        store.findCredentials({ workspaceId, sourceKey: "github", scope: "workspace", actorId: "", ...patch });
      expect((await find({})).map((row) => row.name)).toEqual(["a", "b"]);
      expect(await find({ scope: "actor", actorId: "ann" })).toHaveLength(1);
      expect(await find({ scope: "actor", actorId: "bob" })).toEqual([]);
      expect(await find({ workspaceId: newId("ws") })).toEqual([]);
      const listed = await store.listCredentials({ workspaceId });
      expect(listed).toHaveLength(4);
      expect(JSON.stringify(listed)).not.toContain("v1.sealed");
    }),
  );

  test(
    "long sealed text comes back whole, after a replacement and a refresh too",
    inWorld(open, async (world) => {
      const long = (letter: string) => `v1.${letter.repeat(140_000)}`;
      const { row } = await save(world, { kept: long("a") });
      const { credentialId } = row;
      const read = async () => (await world.store.readCredential({ credentialId }))?.kept;
      expect(await read()).toBe(long("a"));
      await save(world, { kept: long("b") }, 1);
      expect(await read()).toBe(long("b"));
      const finished = { credentialId, version: 2, kept: long("c"), expiresAt: null, now: world.now };
      expect(await world.store.finishRefresh(finished)).toBe(true);
      expect(await read()).toBe(long("c"));
      const { workspaceId, by, now } = world;
      expect((await world.store.deleteCredential({ credentialId, workspaceId, by, now })).kept).toBe(long("c"));
      expect((await save(world, { kept: long("d") })).row.kept).toBe(long("d"));
    }),
  );

  test(
    "are deleted in their own workspace only, and by an actor only its own",
    inWorld(open, async (world) => {
      const { store, workspaceId, by, now } = world;
      const shared = (await save(world)).row;
      const own = (await save(world, { scope: "actor", actorId: "ann" })).row;
      const remove = (credentialId: string, patch: object = {}) =>
        store.deleteCredential({ credentialId, workspaceId, by, now, ...patch });
      await refusal(remove(shared.credentialId, { workspaceId: newId("ws") }), "credential.not_found");
      await refusal(remove(shared.credentialId, { onlyActorId: "ann" }), "credential.not_found");
      await refusal(remove(own.credentialId, { onlyActorId: "bob" }), "credential.not_found");
      expect((await remove(own.credentialId, { onlyActorId: "ann" })).kept).toBe("v1.sealed");
      await remove(shared.credentialId);
      await refusal(remove(shared.credentialId), "credential.not_found");
      expect(await store.listCredentials({ workspaceId })).toEqual([]);
      const removed = await world.audit("credential.removed");
      expect(removed).toHaveLength(2);
      expect(JSON.stringify(removed)).not.toContain("v1.sealed");
    }),
  );

  test(
    "of a source go together, and those of others stay",
    inWorld(open, async (world) => {
      const { store, workspaceId, by, now } = world;
      await save(world);
      await save(world, { scope: "actor", actorId: "ann" });
      await save(world, { sourceKey: "github2" });
      expect(await store.deleteSourceCredentials({ workspaceId, sourceKey: "github", by, now })).toHaveLength(2);
      const left = await store.listCredentials({ workspaceId });
      expect(left.map((row) => row.sourceKey)).toEqual(["github2"]);
    }),
  );
}

function describeRefreshes(open: OpenStore): void {
  const claim = (world: World, credentialId: string, claimId: string, version = 1) =>
    world.store.claimRefresh({ credentialId, version, claimId, now: world.now, until: world.now + 1_000 });

  test(
    "of 8 who want to refresh at once, one may; when its time is over, another",
    inWorld(open, async (world) => {
      const { credentialId } = (await save(world, { kind: "oauth2" })).row;
      const claims = await Promise.all(Array.from({ length: 8 }, (_, n) => claim(world, credentialId, `claim ${n}`)));
      expect(claims.toSorted()).toEqual([...Array.from({ length: 7 }, () => "busy" as const), "claimed"]);
      world.now += 1_001;
      expect(await claim(world, credentialId, "later")).toBe("claimed");
      expect(await claim(world, credentialId, "later")).toBe("claimed");
      expect(await claim(world, credentialId, "other")).toBe("busy");
    }),
  );

  test(
    "a refresh is written for the version it was made from, and frees the claim",
    inWorld(open, async (world) => {
      const { credentialId } = (await save(world, { kind: "oauth2", expiresAt: world.now })).row;
      await claim(world, credentialId, "one");
      const expiresAt = world.now + 60_000;
      const finish = { credentialId, version: 1, kept: "fresh", expiresAt, now: world.now };
      expect(await world.store.finishRefresh(finish)).toBe(true);
      expect(await world.store.finishRefresh({ ...finish, kept: "late" })).toBe(false);
      expect(await world.store.readCredential({ credentialId })).toMatchObject({
        kept: "fresh",
        version: 2,
        expiresAt,
        refreshBy: null,
        refreshUntil: null,
      });
      expect(await claim(world, credentialId, "two")).toBe("moved");
      expect(await claim(world, credentialId, "two", 2)).toBe("claimed");
      expect(await claim(world, newId("credential"), "two")).toBe("moved");
    }),
  );

  test(
    "a refresh that failed frees the claim; a dead one needs a person, and a save heals it",
    inWorld(open, async (world) => {
      const { credentialId } = (await save(world, { kind: "oauth2" })).row;
      const fail = (claimId: string, dead: boolean) =>
        world.store.failRefresh({ credentialId, version: 1, claimId, dead, now: world.now });
      await claim(world, credentialId, "one");
      await fail("stranger", false);
      expect(await claim(world, credentialId, "two")).toBe("busy");
      await fail("one", false);
      expect(await claim(world, credentialId, "two")).toBe("claimed");
      await fail("two", true);
      await fail("two", true);
      expect(await claim(world, credentialId, "three")).toBe("moved");
      expect(await world.store.readCredential({ credentialId })).toMatchObject({ status: "expired", version: 1 });
      expect(await world.audit("credential.expired")).toHaveLength(1);
      expect((await save(world, { kind: "oauth2" }, 1)).row).toMatchObject({ status: "ok", version: 2 });
    }),
  );
}

function describeSignIns(open: OpenStore): void {
  describe("keys and sign-ins", () => {
    test(
      "of 8 keys made for a workspace at once, one is kept and everybody gets it",
      inWorld(open, async ({ store, workspaceId, now }) => {
        expect(await store.readWorkspaceKey({ workspaceId })).toBeNull();
        const made = await Promise.all(
          Array.from({ length: 8 }, (_, n) => store.createWorkspaceKey({ workspaceId, wrapped: `key ${n}`, now })),
        );
        expect(new Set(made.map(({ wrapped }) => wrapped)).size).toBe(1);
        expect(await store.readWorkspaceKey({ workspaceId })).toEqual(made[0] ?? null);
      }),
    );

    test(
      "a key gets another wrapping only from the one that is there",
      inWorld(open, async ({ store, workspaceId, now }) => {
        await store.createWorkspaceKey({ workspaceId, wrapped: "old", now });
        expect(await store.replaceWorkspaceKey({ workspaceId, from: "other", to: "new" })).toBe(false);
        expect(await store.replaceWorkspaceKey({ workspaceId, from: "old", to: "new" })).toBe(true);
        expect((await store.readWorkspaceKey({ workspaceId }))?.wrapped).toBe("new");
        expect(await store.replaceWorkspaceKey({ workspaceId: newId("ws"), from: "old", to: "new" })).toBe(false);
      }),
    );

    const flow = ({ workspaceId, now, by }: World, patch: object = {}) => ({
      stateHash: newId("state"),
      workspaceId,
      sourceId: newId("source"),
      sourceKey: "github",
      scope: "workspace",
      actorId: "",
      name: "default",
      interactionId: null,
      sealed: "v1.verifier",
      startedBy: by.actorId,
      clientId: by.clientId,
      createdAt: now,
      expiresAt: now + 1_000,
      ...patch,
    });

    test(
      "a sign-in is used once: of 8 who bring its state, one gets it",
      inWorld(open, async (world) => {
        const { store, now } = world;
        const started = flow(world);
        await store.createOauthFlow({ flow: started, now });
        const { stateHash } = started;
        const used = await Promise.all(Array.from({ length: 8 }, () => store.useOauthFlow({ stateHash, now })));
        expect(used.filter((row) => row !== null)).toEqual([{ ...started, usedAt: now }]);
        expect(await store.useOauthFlow({ stateHash, now })).toBeNull();
        expect(await store.useOauthFlow({ stateHash: newId("state"), now })).toBeNull();
      }),
    );

    test(
      "a sign-in that took too long is not used, and is cleared away by a later one",
      inWorld(open, async (world) => {
        const { store } = world;
        const late = flow(world);
        await store.createOauthFlow({ flow: late, now: world.now });
        world.now += 1_000;
        expect(await store.useOauthFlow({ stateHash: late.stateHash, now: world.now })).toBeNull();
        world.now += 1;
        await store.createOauthFlow({ flow: flow(world), now: world.now });
        // Its key is free again, so it is gone.
        await store.createOauthFlow({ flow: { ...late, expiresAt: world.now + 1 }, now: world.now });
        expect(await store.useOauthFlow({ stateHash: late.stateHash, now: world.now })).not.toBeNull();
      }),
    );

    test(
      "clients are found by issuer, the newest first, and only in their workspace",
      inWorld(open, async ({ store, workspaceId, now }) => {
        const issuer = "https://issuer.test";
        const client = (patch: object = {}) => ({
          clientKey: newId("oauth"),
          workspaceId,
          issuer,
          sealed: "v1.client",
          createdAt: now,
          ...patch,
        });
        const registered = await Promise.all(
          Array.from({ length: 4 }, () => store.saveOauthClient({ client: client(), ifAbsent: true })),
        );
        expect(new Set(registered.map(({ clientKey }) => clientKey)).size).toBe(1);
        const newer = client({ createdAt: now + 1 });
        await store.saveOauthClient({ client: newer, ifAbsent: false });
        await store.saveOauthClient({ client: { ...newer, sealed: "v1.again" }, ifAbsent: false });
        expect(await store.findOauthClient({ workspaceId, issuer })).toEqual({ ...newer, sealed: "v1.again" });
        expect(await store.findOauthClient({ workspaceId: newId("ws"), issuer })).toBeNull();
        const older = { workspaceId, clientKey: registered[0]?.clientKey ?? "" };
        expect(await store.readOauthClient(older)).toEqual(registered[0] ?? null);
        expect(await store.readOauthClient({ ...older, workspaceId: newId("ws") })).toBeNull();
        const { clientKey } = newer;
        expect(await store.deleteOauthClient({ workspaceId: newId("ws"), clientKey })).toBe(false);
        expect(await store.deleteOauthClient({ workspaceId, clientKey })).toBe(true);
        expect(await store.findOauthClient({ workspaceId, issuer })).toEqual(registered[0] ?? null);
      }),
    );
  });
}
