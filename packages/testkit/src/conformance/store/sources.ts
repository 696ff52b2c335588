/** Sources and their stored indexes: who sees them, who reads them at the moment, and what stays in use when reading fails. */
import { describe, expect, test } from "bun:test";
import type { NewSource } from "@executor/core/store/verbs/sources";
import { inWorld, newId, type OpenStore, refusal, type World } from "./world.ts";

const LEASE = 60_000;

function source(world: World, patch: Partial<NewSource> = {}): NewSource {
  return {
    sourceId: newId("source"),
    workspaceId: world.workspaceId,
    origin: "workspace",
    shared: 0,
    namespace: "github",
    type: "openapi",
    name: "GitHub",
    definitionJson: '{"type":"openapi"}',
    specArtifact: null,
    ...patch,
  };
}

const add = ({ store, by, now }: World, given: NewSource) => store.createSource({ source: given, by, now });

/** Others may have left due sources in the deployment: only ours count. */
async function claim(world: World, by: string): Promise<string[]> {
  const { store, now } = world;
  const claimed = await store.claimIndexing({ by, now, untilMs: now + LEASE, limit: 50 });
  return claimed.filter(({ workspaceId }) => workspaceId === world.workspaceId).map(({ sourceId }) => sourceId);
}

const facts = (artifact: string, toolCount = 1) => ({
  artifact,
  title: "GitHub",
  toolCount,
  warningsJson: "[]",
  changesJson: '{"added":1,"removed":0,"changed":0}',
});

export function describeSources(open: OpenStore): void {
  describe("sources", () => {
    describeOwning(open);
    describeReading(open);
  });
  describeArtifacts(open);
}

function describeOwning(open: OpenStore): void {
  test(
    "a namespace belongs to one source, and a second one is refused",
    inWorld(open, async (world) => {
      const first = await add(world, source(world));
      expect(first).toMatchObject({ health: "indexing", toolCount: 0, revision: 1 });
      await refusal(add(world, source(world, { name: "Other" })), "source.conflict");
      expect(await world.store.listSources({ workspaceId: world.workspaceId })).toHaveLength(1);
    }),
  );
  test(
    "another workspace neither sees nor removes it, unless it is shared, and then only sees it",
    inWorld(open, async (world) => {
      const { sourceId } = await add(world, source(world));
      const stranger = newId("ws");
      expect(await world.store.readSource({ sourceId, workspaceId: stranger })).toBeNull();
      const { by, now } = world;
      await refusal(world.store.deleteSource({ sourceId, workspaceId: stranger, by, now }), "source.not_found");
      const namespace = `shared_${newId("source").slice(-12).toLowerCase()}`;
      const shared = source(world, { namespace, shared: 1, origin: "env" });
      const [saved] = await world.store.saveEnvSources({ workspaceId: world.workspaceId, sources: [shared], by, now });
      const seen = await world.store.listSources({ workspaceId: stranger });
      expect(seen.map((each) => each.sourceId)).toContain(saved?.sourceId ?? "");
      await world.store.saveEnvSources({ workspaceId: world.workspaceId, sources: [], by, now });
      const left = await world.store.listSources({ workspaceId: world.workspaceId });
      expect(left.map((each) => each.sourceId)).toEqual([sourceId]);
    }),
  );
  test(
    "what the environment describes keeps its id, and counts as new only when it changed",
    inWorld(open, async (world) => {
      const { workspaceId, by, now, store } = world;
      const save = (given: NewSource) => store.saveEnvSources({ workspaceId, sources: [given], by, now });
      const [first] = await save(source(world, { origin: "env" }));
      const [same] = await save(source(world, { origin: "env" }));
      expect(same).toMatchObject({ sourceId: first?.sourceId ?? "", revision: 1 });
      const [changed] = await save(source(world, { origin: "env", definitionJson: '{"type":"mcp"}' }));
      expect(changed).toMatchObject({ sourceId: first?.sourceId ?? "", revision: 2 });
      await refusal(store.deleteSource({ sourceId: first?.sourceId ?? "", workspaceId, by, now }), "source.invalid");
    }),
  );
}

function describeReading(open: OpenStore): void {
  test(
    "one reader at a time; a dead reader's lease ends by itself",
    inWorld(open, async (world) => {
      const { sourceId } = await add(world, source(world));
      expect(await claim(world, "a")).toEqual([sourceId]);
      expect(await claim(world, "b")).toEqual([]);
      world.now += LEASE;
      expect(await claim(world, "b")).toEqual([sourceId]);
      const late = { sourceId, by: "a", revision: 1, facts: facts("digest_a"), dueAt: null, now: world.now };
      expect(await world.store.finishIndexing(late)).toBeNull();
      expect(await world.store.finishIndexing({ ...late, by: "b" })).toMatchObject({
        health: "ok",
        artifact: "digest_a",
      });
      expect(await claim(world, "c")).toEqual([]);
    }),
  );
  test(
    "a reader that stops gives its source back; one that dies again and again leaves it failing",
    inWorld(open, async (world) => {
      const { sourceId, workspaceId } = await add(world, source(world));
      const { store } = world;
      await claim(world, "a");
      expect(await store.releaseIndexing({ sourceId, by: "b", now: world.now })).toBeNull();
      expect(await store.releaseIndexing({ sourceId, by: "a", now: world.now })).toMatchObject({ sourceId });
      expect(await store.hasDueSources({ now: world.now })).toBe(true);
      for (const by of ["b", "c", "d"]) {
        expect(await claim(world, by)).toEqual([sourceId]);
        world.now += LEASE;
      }
      expect(await claim(world, "e")).toEqual([]);
      const left = await store.readSource({ sourceId, workspaceId });
      expect(left).toMatchObject({ health: "failing", indexingBy: null, failures: 3 });
      expect(left?.errorJson).toContain("ended in the middle");
      await store.requestIndexing({ sourceId, workspaceId, now: world.now });
      expect(await claim(world, "f")).toEqual([sourceId]);
      await store.finishIndexing({ sourceId, by: "f", revision: 1, facts: facts("good"), dueAt: null, now: world.now });
      expect(await store.readSource({ sourceId, workspaceId })).toMatchObject({ health: "ok", failures: 0 });
    }),
  );
  test(
    "a failure leaves the last good index in use and is due again when told",
    inWorld(open, async (world) => {
      const { sourceId, workspaceId } = await add(world, source(world));
      const { store } = world;
      await claim(world, "a");
      const done = { sourceId, by: "a", revision: 1, now: world.now };
      await store.finishIndexing({ ...done, facts: facts("good", 7), dueAt: null });
      await store.requestIndexing({ sourceId, workspaceId, now: world.now });
      await claim(world, "a");
      const failed = await store.failIndexing({ ...done, errorJson: '{"code":"x"}', dueAt: world.now + 5_000 });
      expect(failed).toMatchObject({ health: "failing", artifact: "good", toolCount: 7, failures: 1 });
      expect(await claim(world, "a")).toEqual([]);
      world.now += 5_000;
      expect(await claim(world, "a")).toEqual([sourceId]);
    }),
  );
  test(
    "a refresh asked for while it is read, and a definition that changes meanwhile, are not lost",
    inWorld(open, async (world) => {
      const { sourceId, workspaceId } = await add(world, source(world));
      const { store, by } = world;
      await claim(world, "a");
      await store.requestIndexing({ sourceId, workspaceId, now: world.now });
      const done = { sourceId, by: "a", dueAt: null, now: world.now };
      await store.finishIndexing({ ...done, revision: 1, facts: facts("first") });
      expect(await claim(world, "a")).toEqual([sourceId]);
      const changed = { name: "New", definitionJson: '{"type":"openapi","name":"New"}', reread: true };
      await store.updateSource({ sourceId, workspaceId, ...changed, by, now: world.now });
      expect(await store.finishIndexing({ ...done, revision: 1, facts: facts("stale") })).toBeNull();
      expect(await store.readSource({ sourceId, workspaceId })).toMatchObject({ artifact: "first", revision: 2 });
      expect(await claim(world, "a")).toEqual([sourceId]);
    }),
  );
  test(
    "readings are told in the workspace's stream, without a gap",
    inWorld(open, async (world) => {
      const { sourceId, workspaceId } = await add(world, source(world));
      const { store } = world;
      await claim(world, "a");
      const progressJson = '{"phase":"indexing","done":3}';
      const about = { sourceId, by: "a", revision: 1, now: world.now };
      expect(await store.reportIndexing({ ...about, progressJson, untilMs: world.now + LEASE })).toBe(true);
      await store.finishIndexing({ ...about, facts: facts("digest"), dueAt: null });
      const events = await store.readWorkspaceEvents({ workspaceId, afterSeq: 0, limit: 10 });
      expect(events.map(({ type, workspaceSeq }) => [type, workspaceSeq])).toEqual([
        ["source.indexing", 1],
        ["source.indexing", 2],
        ["source.indexed", 3],
      ]);
    }),
  );
}

function describeArtifacts(open: OpenStore): void {
  test(
    "an artifact is there with its last part, is written once, and goes only when no source uses it",
    inWorld(open, async (world) => {
      const { store, by, workspaceId } = world;
      const digest = newId("source");
      const put = (part: number, body: string) =>
        store.putArtifactPart({ digest, part, parts: 3, bytes: 9, body, now: world.now });
      await put(0, "one");
      await put(1, "two");
      expect(await store.readArtifact({ digest })).toBeNull();
      await put(2, "three");
      await put(0, "other");
      expect(await store.readArtifact({ digest })).toEqual({ parts: 3, bytes: 9 });
      expect(await store.readArtifactParts({ digest, from: 1, limit: 5 })).toEqual(["two", "three"]);
      expect(await store.readArtifactParts({ digest, from: 0, limit: 1 })).toEqual(["one"]);
      const { sourceId } = await add(world, source(world, { specArtifact: digest }));
      expect(await store.removeArtifact({ digest })).toBe(false);
      await store.deleteSource({ sourceId, workspaceId, by, now: world.now });
      expect(await store.removeArtifact({ digest })).toBe(true);
      expect(await store.readArtifactParts({ digest, from: 0, limit: 5 })).toEqual([]);
    }),
  );
}
