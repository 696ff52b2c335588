/** Claims, leases, the fence, and who is next. */
import { describe, expect, test } from "bun:test";
import { FROM_START, inWorld, LEASE_MS, newId, type OpenStore, refusal, RUNTIME, type World } from "./world.ts";

const tryClaim = ({ store, now }: World, taskId: string, workerId: string) =>
  store.claimTask({ taskId, workerId, leaseMs: LEASE_MS, now });

export function describeQueue(open: OpenStore, backlog: number): void {
  describe("claimTask", () => {
    test(
      "gives a task to one of 16 workers",
      inWorld(open, async (world) => {
        const taskId = await world.create();
        const claims = await Promise.all(
          Array.from({ length: 16 }, (_, worker) => tryClaim(world, taskId, `worker_${worker}`)),
        );
        const won = claims.filter((claim) => claim !== null);
        expect(won).toHaveLength(1);
        expect(won[0]?.task).toMatchObject({
          taskId,
          status: "running",
          attempt: 1,
          startedAt: world.now,
          leaseUntil: world.now + LEASE_MS,
          queuedAt: null,
          script: "return 1;",
        });
        expect((await world.read(taskId)).task.workerId).toBe(won[0]?.task.workerId ?? "");
      }),
    );

    test(
      "gives each of 50 tasks to one of 16 workers that want them all",
      inWorld(open, async (world) => {
        const taskIds = await Promise.all(Array.from({ length: 50 }, () => world.create()));
        const work = async (_: unknown, worker: number) => {
          const won: string[] = [];
          const offset = Math.floor((worker * taskIds.length) / 16);
          for (const taskId of [...taskIds.slice(offset), ...taskIds.slice(0, offset)]) {
            if (await tryClaim(world, taskId, `worker_${worker}`)) won.push(taskId);
          }
          return won;
        };
        const won = (await Promise.all(Array.from({ length: 16 }, work))).flat();
        expect(won.toSorted()).toEqual(taskIds.toSorted());
      }),
    );

    test(
      "knows no task that is not there",
      inWorld(open, async (world) => {
        expect(await tryClaim(world, newId("task"), "w")).toBeNull();
      }),
    );
  });

  describe("leases", () => {
    test(
      "one that ran out is recovered, and the next claim is the next attempt",
      inWorld(open, async (world) => {
        const fence = await world.running();
        world.now += LEASE_MS;
        expect((await recover(world)).includes(fence.taskId)).toBe(false);
        world.now += 1;
        expect((await recover(world)).includes(fence.taskId)).toBe(true);
        expect((await world.read(fence.taskId)).task).toMatchObject({
          status: "queued",
          workerId: null,
          leaseUntil: null,
          queuedAt: world.now,
        });
        const { task } = await world.claim(fence.taskId);
        expect(task).toMatchObject({ attempt: 2, startedAt: world.now - LEASE_MS - 1 });
        expect(await world.eventTypes(fence.taskId)).toEqual([
          "task.created",
          "task.queued",
          "task.running",
          "task.queued",
          "task.resumed",
        ]);
      }),
    );

    test(
      "one that was renewed is not recovered, and the lost ones are named",
      inWorld(open, async (world) => {
        const workerId = newId("worker");
        const [kept, cancelled] = [await world.create(), await world.create()];
        for (const taskId of [kept, cancelled]) await world.claim(taskId, workerId);
        await world.cancel(cancelled);
        world.now += LEASE_MS - 1;
        const unknown = newId("task");
        const leases = [kept, cancelled, unknown].map((taskId) => ({ taskId, attempt: 1 }));
        expect((await world.store.renewLeases({ workerId, leases, leaseMs: LEASE_MS, now: world.now })).lost).toEqual([
          cancelled,
          unknown,
        ]);
        world.now += LEASE_MS;
        expect((await recover(world)).includes(kept)).toBe(false);
        await world.store.removeWorker({ workerId });
      }),
    );

    test(
      "another worker or attempt cannot renew one",
      inWorld(open, async (world) => {
        const { taskId, workerId } = await world.running();
        const renew = (worker: string, attempt: number) =>
          world.store.renewLeases({ workerId: worker, leases: [{ taskId, attempt }], leaseMs: 1, now: world.now });
        expect((await renew("another", 1)).lost).toEqual([taskId]);
        expect((await renew(workerId, 2)).lost).toEqual([taskId]);
        expect((await renew(workerId, 1)).lost).toEqual([]);
      }),
    );

    test(
      "one that was given back frees the task at once, and only its holder can do so",
      inWorld(open, async (world) => {
        const fence = await world.running();
        expect(await world.store.releaseTask({ fence: { ...fence, attempt: 2 }, now: world.now })).toBe(false);
        expect(await world.store.releaseTask({ fence, now: world.now })).toBe(true);
        expect(await world.store.releaseTask({ fence, now: world.now })).toBe(false);
        expect((await world.claim(fence.taskId)).task.attempt).toBe(2);
      }),
    );

    test(
      "workers are counted while they are seen and until they leave",
      inWorld(open, async ({ store }) => {
        // So far ahead that no other worker is seen there.
        const now = Date.now() + 1e12 + Math.floor(Math.random() * 1e12);
        const workerIds = [newId("worker"), newId("worker")];
        for (const workerId of workerIds) await store.renewLeases({ workerId, leases: [], leaseMs: 1, now });
        await store.renewLeases({ workerId: workerIds[0] ?? "", leases: [], leaseMs: 1, now: now + 10 });
        expect(await store.countWorkers({ seenSince: now - 1 })).toBe(2);
        expect(await store.countWorkers({ seenSince: now })).toBe(1);
        for (const workerId of workerIds) await store.removeWorker({ workerId });
        expect(await store.countWorkers({ seenSince: now - 1 })).toBe(0);
      }),
    );
  });

  describe("the fence", () => {
    test(
      "refuses every write of an attempt that was taken over, and writes nothing of it",
      inWorld(open, async (world) => {
        const { store } = world;
        const stale = await world.running();
        world.now += LEASE_MS + 1;
        await recover(world);
        const { fence } = await world.claim(stale.taskId);
        const before = [await world.read(stale.taskId), await world.eventTypes(stale.taskId), await world.audit()];
        const { entries, interactionId } = world.ask(0);
        await refusal(
          store.recordProgress({ fence: stale, entries: [...entries, world.output("stale")] }),
          "lease.lost",
        );
        await refusal(
          store.pauseTask({ fence: stale, entries, waitingFor: [interactionId], runMs: 1, now: world.now }),
          "lease.lost",
        );
        await refusal(world.settle(stale, "1", entries), "lease.lost");
        expect(await store.releaseTask({ fence: stale, now: world.now })).toBe(false);
        expect([await world.read(stale.taskId), await world.eventTypes(stale.taskId), await world.audit()]).toEqual(
          before,
        );
        expect((await store.readJournal({ taskId: stale.taskId, ...FROM_START, limit: 10 })).calls).toEqual([]);
        expect(await store.readInteraction({ interactionId, workspaceId: world.workspaceId })).toBeNull();
        await world.settle(fence);
      }),
    );

    test(
      "lets a run write whose lease ran out but was not taken over",
      inWorld(open, async (world) => {
        const fence = await world.running();
        world.now += LEASE_MS * 2;
        await world.settle(fence);
        expect(await world.status(fence.taskId)).toBe("completed");
      }),
    );
  });

  describe("peekQueue", () => {
    test(
      `shows a tenant's one task behind another's ${backlog}`,
      inWorld(open, async (world) => {
        const other = newId("ws");
        await world.store.createWorkspace({
          workspaceId: other,
          kind: "anonymous",
          bearer: world.bearer({ workspaceId: other }),
          now: world.now,
        });
        for (let made = 0; made < backlog; made += 50)
          await Promise.all(Array.from({ length: Math.min(50, backlog - made) }, () => world.create()));
        world.now += 1_000;
        const taskId = await world.create({ workspaceId: other });
        const queued = [...(await peekAt(world, world.workspaceId)), ...(await peekAt(world, other))];
        expect(queued.some((task) => task.taskId === taskId)).toBe(true);
        expect(queued.some((task) => task.workspaceId === world.workspaceId)).toBe(true);
        expect(queued.length).toBeLessThan(backlog);
      }),
    );

    test(
      "shows a workspace's oldest tasks first, and only those of the runtimes asked for",
      inWorld(open, async (world) => {
        const taskIds: string[] = [];
        for (const runtimeId of [RUNTIME, "other", RUNTIME]) {
          world.now += 1;
          taskIds.push(await world.create({ runtimeId }));
        }
        const own = (await peekAt(world, world.workspaceId)).filter((task) => task.workspaceId === world.workspaceId);
        expect(own.map((task) => task.taskId)).toEqual([taskIds[0] ?? "", taskIds[2] ?? ""]);
        expect(own[0]).toEqual({
          taskId: taskIds[0] ?? "",
          workspaceId: world.workspaceId,
          runtimeId: RUNTIME,
          queuedAt: world.now - 2,
        });
      }),
    );

    test(
      "names each task once, wherever the walk begins",
      inWorld(open, async (world) => {
        const taskId = await world.create();
        for (const afterWorkspaceId of [world.workspaceId, `${world.workspaceId}~`, "~"]) {
          const queued = await world.store.peekQueue({ runtimeIds: [RUNTIME], afterWorkspaceId });
          const found = queued.filter((task) => task.taskId === taskId);
          expect(found.length).toBeLessThanOrEqual(1);
        }
      }),
    );

    test(
      "shows nothing that is claimed, waiting or ended",
      inWorld(open, async (world) => {
        await world.running();
        await world.waiting();
        await world.settle(await world.running());
        expect(
          (await peekAt(world, world.workspaceId)).filter((task) => task.workspaceId === world.workspaceId),
        ).toEqual([]);
      }),
    );
  });
}

async function recover({ store, now }: World): Promise<string[]> {
  return (await store.recoverLeases({ now, limit: 200 })).recovered;
}

/** Begins the walk right before the workspace, for a deployment may hold many others. */
const peekAt = ({ store }: World, workspaceId: string) =>
  store.peekQueue({ runtimeIds: [RUNTIME], afterWorkspaceId: workspaceId.slice(0, -1) });
