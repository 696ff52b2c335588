/** Workspaces, bearers, keys, codes and policies. */
import { describe, expect, test } from "bun:test";
import { countWinners, inWorld, newId, type OpenStore, refusal, type World } from "./world.ts";

const IDLE_MS = 1_000;

const find = ({ store, now }: World, hash: string) => store.findBearer({ hash, now, sessionIdleMs: IDLE_MS });

function code(world: World, patch: object = {}) {
  const codeId = newId("invite");
  return {
    codeId,
    hash: `hash of ${codeId}`,
    kind: "invite",
    workspaceId: world.workspaceId,
    role: "reviewer",
    installationAdmin: 0,
    createdBy: world.by.actorId,
    createdAt: world.now,
    expiresAt: world.now + 1_000,
    ...patch,
  };
}

export function describeIdentity(open: OpenStore): void {
  describe("identity", () => {
    test(
      "a workspace comes with its first bearer, and making it again changes nothing",
      inWorld(open, async (world) => {
        const { store, now } = world;
        const workspaceId = newId("ws");
        const bearer = world.bearer({ workspaceId });
        const first = await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now });
        const again = await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: now + 5 });
        expect(first).toEqual({ ...bearer, createdAt: now, lastSeenAt: now, revokedAt: null });
        expect(again).toEqual(first);
        expect(await store.readWorkspace({ workspaceId })).toEqual({
          workspaceId,
          kind: "anonymous",
          createdAt: now,
          eventSeq: 0,
          auditSeq: 1,
        });
        expect(await store.readWorkspace({ workspaceId: newId("ws") })).toBeNull();
      }),
    );

    test(
      "a bearer is found by its hash, and nobody by another",
      inWorld(open, async (world) => {
        const bearer = world.bearer({ kind: "key" });
        const made = await world.store.createBearer({ bearer, by: world.by, now: world.now });
        expect(await find(world, bearer.hash)).toEqual(made);
        expect(await find(world, "hash of nobody")).toBeNull();
      }),
    );

    test(
      "a session that idles ends, one that was touched and a key do not",
      inWorld(open, async (world) => {
        const [idle, touched, key] = [world.bearer(), world.bearer(), world.bearer({ kind: "key" })];
        for (const bearer of [idle, touched, key])
          await world.store.createBearer({ bearer, by: world.by, now: world.now });
        await world.store.touchBearer({ bearerId: touched.bearerId, now: world.now + IDLE_MS });
        world.now += IDLE_MS + 1;
        expect(await find(world, idle.hash)).toBeNull();
        expect((await find(world, touched.hash))?.bearerId).toBe(touched.bearerId);
        expect((await find(world, key.hash))?.bearerId).toBe(key.bearerId);
      }),
    );

    test(
      "touching a bearer that is not there does nothing",
      inWorld(open, async ({ store, now }) => {
        await store.touchBearer({ bearerId: newId("key"), now });
      }),
    );

    test(
      "a revoked key lets nobody in and is no longer listed; only its own workspace can revoke it, once",
      inWorld(open, async (world) => {
        const { store, workspaceId, by, now } = world;
        const [kept, revoked] = [
          world.bearer({ kind: "key", label: "kept" }),
          world.bearer({ kind: "key", label: "revoked" }),
        ];
        for (const bearer of [kept, revoked]) await store.createBearer({ bearer, by, now });
        const revoke = (workspace: string) =>
          store.revokeBearer({ bearerId: revoked.bearerId, workspaceId: workspace, by, now });
        expect(await revoke(newId("ws"))).toBe(false);
        expect(await revoke(workspaceId)).toBe(true);
        expect(await revoke(workspaceId)).toBe(false);
        expect(await find(world, revoked.hash)).toBeNull();
        expect((await store.listKeys({ workspaceId })).map((key) => key.label)).toEqual(["kept"]);
        expect(await world.audit("key.revoked")).toHaveLength(1);
      }),
    );

    test(
      "a code is traded for a bearer once, and decides workspace and role",
      inWorld(open, async (world) => {
        const { store, by, now } = world;
        const invite = code(world);
        await store.createCode({ code: invite, by, now });
        const stranger = world.bearer({ workspaceId: newId("ws"), role: "owner", installationAdmin: 1 });
        const bearer = await store.redeemCode({ hash: invite.hash, bearer: stranger, now });
        expect(bearer).toMatchObject({ workspaceId: world.workspaceId, role: "reviewer", installationAdmin: 0 });
        expect(await find(world, stranger.hash)).toEqual(bearer);
        await refusal(store.redeemCode({ hash: invite.hash, bearer: world.bearer(), now }), "auth.code_invalid");
      }),
    );

    test(
      "an expired or unknown code is refused",
      inWorld(open, async (world) => {
        const { store, by, now } = world;
        const invite = code(world);
        await store.createCode({ code: invite, by, now });
        await refusal(
          store.redeemCode({ hash: invite.hash, bearer: world.bearer(), now: invite.expiresAt }),
          "auth.code_invalid",
        );
        await refusal(store.redeemCode({ hash: "hash of no code", bearer: world.bearer(), now }), "auth.code_invalid");
      }),
    );

    test(
      "of 8 who trade one code at once, one gets a bearer",
      inWorld(open, async (world) => {
        const { store, by, now } = world;
        const invite = code(world);
        await store.createCode({ code: invite, by, now });
        const trades = Array.from({ length: 8 }, () =>
          store.redeemCode({ hash: invite.hash, bearer: world.bearer(), now }),
        );
        expect(await countWinners(trades, "auth.code_invalid")).toBe(1);
      }),
    );
  });

  describe("policies", () => {
    test(
      "are listed in their workspace until they are deleted there",
      inWorld(open, async (world) => {
        const { store, workspaceId, by, now } = world;
        const [first, second] = [
          world.policy({ pattern: "a.*" }),
          world.policy({ pattern: "b.*", actorId: by.actorId, createdAt: now + 1 }),
        ];
        expect(await store.createPolicy({ policy: first, by })).toEqual(first);
        await store.createPolicy({ policy: second, by });
        expect(await store.listPolicies({ workspaceId })).toEqual([first, second]);
        expect(await store.listPolicies({ workspaceId: newId("ws") })).toEqual([]);
        await refusal(
          store.deletePolicy({ policyId: first.policyId, workspaceId: newId("ws"), by, now }),
          "policy.not_found",
        );
        await store.deletePolicy({ policyId: first.policyId, workspaceId, by, now });
        await refusal(store.deletePolicy({ policyId: first.policyId, workspaceId, by, now }), "policy.not_found");
        expect(await store.listPolicies({ workspaceId })).toEqual([second]);
        expect((await world.audit()).slice(0, 3).map((entry) => entry.action)).toEqual([
          "policy.deleted",
          "policy.created",
          "policy.created",
        ]);
      }),
    );

    test(
      "come with a claim",
      inWorld(open, async (world) => {
        const policy = world.policy();
        await world.store.createPolicy({ policy, by: world.by });
        expect((await world.claim(await world.create())).policies).toEqual([policy]);
      }),
    );
  });
}
