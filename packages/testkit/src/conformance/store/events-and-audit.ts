/** The two logs, the hints, and what outlives the process. */
import { describe, expect, test } from "bun:test";
import type { Hint } from "@executor/core/ports/store";
import { inWorld, newId, type OpenStore, upTo, type World } from "./world.ts";

/** A task from claim to end, with an approval on the way and several calls that end in one write. */
async function liveOnce(world: World): Promise<string> {
  const { fence, approvals } = await world.waiting();
  await world.decide(approvals[0] ?? "");
  const next = (await world.claim(fence.taskId)).fence;
  const calls = [world.call(1), world.call(2)];
  const done = calls.map(({ callId }, deliverySeq) => world.done(callId, deliverySeq));
  await world.store.recordProgress({
    fence: next,
    entries: [world.output("one"), ...calls, ...done, world.output("two")],
  });
  await world.settle(next);
  return fence.taskId;
}

export function describeEventsAndAudit(open: OpenStore): void {
  describe("events", () => {
    test(
      "are numbered without a gap, within each task and within the workspace, whatever happens at once",
      inWorld(open, async (world) => {
        const taskIds = await Promise.all(upTo(12).map(() => liveOnce(world)));
        const all = await world.store.readWorkspaceEvents({
          workspaceId: world.workspaceId,
          afterSeq: 0,
          limit: 1_000,
        });
        expect(all.map((event) => event.workspaceSeq)).toEqual(upTo(all.length));
        for (const taskId of taskIds) {
          const own = all.filter((event) => event.taskId === taskId);
          expect(own.map((event) => event.seq)).toEqual(upTo(own.length));
          expect(own).toEqual(await world.store.readTaskEvents({ taskId, afterSeq: 0, limit: 1_000 }));
          expect((await world.read(taskId)).task.eventSeq).toBe(own.length);
        }
        expect((await world.store.readWorkspace({ workspaceId: world.workspaceId }))?.eventSeq).toBe(all.length);
      }),
    );

    test(
      "are read from where the reader stopped",
      inWorld(open, async (world) => {
        const taskId = await liveOnce(world);
        const all = await world.store.readTaskEvents({ taskId, afterSeq: 0, limit: 1_000 });
        const pages = [
          await world.store.readTaskEvents({ taskId, afterSeq: 0, limit: 4 }),
          await world.store.readTaskEvents({ taskId, afterSeq: 4, limit: 1_000 }),
        ];
        expect(pages.flat()).toEqual(all);
        expect(await world.store.readTaskEvents({ taskId, afterSeq: all.length, limit: 10 })).toEqual([]);
        const { workspaceId } = world;
        const workspacePages = [
          await world.store.readWorkspaceEvents({ workspaceId, afterSeq: 0, limit: 5 }),
          await world.store.readWorkspaceEvents({ workspaceId, afterSeq: 5, limit: 1_000 }),
        ];
        expect(workspacePages.flat()).toEqual(all);
      }),
    );
  });

  describe("audit", () => {
    const list = (world: World, patch: Partial<Parameters<World["store"]["listAudit"]>[0]>) =>
      world.store.listAudit({
        workspaceId: world.workspaceId,
        action: null,
        actorId: null,
        since: null,
        beforeSeq: null,
        limit: 1_000,
        ...patch,
      });

    test(
      "only grows: what was written stays as it was, and the numbers have no gap",
      inWorld(open, async (world) => {
        await liveOnce(world);
        const before = await world.audit();
        await Promise.all(upTo(6).map(() => liveOnce(world)));
        const after = await world.audit();
        expect(after.slice(-before.length)).toEqual(before);
        expect(after.map((entry) => entry.seq)).toEqual(upTo(after.length).toReversed());
        expect((await world.store.readWorkspace({ workspaceId: world.workspaceId }))?.auditSeq).toBe(after.length);
      }),
    );

    test(
      "is read page by page, newest first",
      inWorld(open, async (world) => {
        for (const _ of upTo(3)) await liveOnce(world);
        const all = await world.audit();
        const seen = [];
        for (let beforeSeq: number | null = null; ;) {
          const page: Awaited<ReturnType<typeof list>> = await list(world, { beforeSeq, limit: 4 });
          seen.push(...page);
          beforeSeq = page.at(-1)?.seq ?? null;
          if (page.length < 4) break;
        }
        expect(seen).toEqual(all);
      }),
    );

    test(
      "is filtered by action, by actor and by time",
      inWorld(open, async (world) => {
        const taskId = await liveOnce(world);
        const actorId = newId("actor");
        world.now += 1_000;
        const other = await world.create({ actorId });
        expect((await list(world, { action: "task.completed" })).map((entry) => entry.subject)).toEqual([taskId]);
        expect((await list(world, { actorId })).map((entry) => entry.subject)).toEqual([other]);
        expect((await list(world, { since: world.now })).map((entry) => entry.subject)).toEqual([other]);
        expect(await list(world, { workspaceId: newId("ws") })).toEqual([]);
      }),
    );
  });

  describe("watch", () => {
    test(
      "tells of what this process did, until it is stopped",
      inWorld(open, async (world) => {
        const hints: Hint[] = [];
        const stop = world.store.watch((hint) => hints.push(hint));
        const taskId = await world.create();
        expect(hints).toContainEqual({ kind: "queued" });
        expect(hints).toContainEqual({ kind: "events", taskId, workspaceId: world.workspaceId, settled: false });
        await world.cancel(taskId);
        expect(hints).toContainEqual({ kind: "cancelled", taskId });
        stop();
        const heard = hints.length;
        await world.create();
        expect(hints).toHaveLength(heard);
      }),
    );
  });

  describe("reopening", () => {
    test(
      "finds everything as it was, where the store can be reopened",
      inWorld(open, async (world) => {
        const taskId = await liveOnce(world);
        const before = [await world.read(taskId), await world.audit(), await world.eventTypes(taskId)];
        const reopened = await world.reopen?.();
        if (!reopened) return;
        const { workspaceId } = world;
        const events = await reopened.readTaskEvents({ taskId, afterSeq: 0, limit: 1_000 });
        const audit = await reopened.listAudit({
          workspaceId,
          action: null,
          actorId: null,
          since: null,
          beforeSeq: null,
          limit: 1_000,
        });
        expect([await reopened.readTask({ taskId, workspaceId }), audit, events.map((event) => event.type)]).toEqual(
          before as never,
        );
        await reopened.close();
      }),
    );
  });
}
