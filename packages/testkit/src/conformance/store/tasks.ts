/** Submitting, finding, cancelling. */
import { describe, expect, test } from "bun:test";
import { inWorld, newId, type OpenStore, refusal, type World } from "./world.ts";

export function describeTasks(open: OpenStore): void {
  describe("tasks", () => {
    test(
      "a new task is queued and reads as it was submitted",
      inWorld(open, async (world) => {
        const task = world.task({ metadataJson: '{"$key":"ünïcode"}' });
        expect(await world.store.createTask({ task, now: world.now })).toEqual({
          taskId: task.taskId,
          status: "queued",
          created: true,
        });
        const { task: read, pending } = await world.read(task.taskId);
        expect(read).toMatchObject({
          ...task,
          script: "",
          status: "queued",
          attempt: 0,
          createdAt: world.now,
          queuedAt: world.now,
          startedAt: null,
          resultJson: null,
        });
        expect(pending).toEqual([]);
        expect(await world.eventTypes(task.taskId)).toEqual(["task.created", "task.queued"]);
        expect(await world.store.readTaskStatus({ taskId: task.taskId })).toEqual({
          workspaceId: world.workspaceId,
          status: "queued",
          eventSeq: 2,
          attempt: 0,
        });
      }),
    );

    test(
      "the same idempotency key and request give the same task, even 8 at once",
      inWorld(open, async (world) => {
        const submit = () => world.store.createTask({ task: world.task({ idempotencyKey: "k" }), now: world.now });
        const results = await Promise.all(Array.from({ length: 8 }, submit));
        expect(new Set(results.map((result) => result.taskId)).size).toBe(1);
        expect(results.filter((result) => result.created)).toHaveLength(1);
        const { workspaceId, actorId } = world.task();
        const found = { taskId: results[0]?.taskId ?? "", status: "queued" };
        expect(await submit()).toEqual({ ...found, created: false });
        expect(await world.store.findTask({ workspaceId, actorId, idempotencyKey: "k" })).toEqual(found);
        expect(await world.store.findTask({ workspaceId, actorId: newId("actor"), idempotencyKey: "k" })).toBeNull();
      }),
    );

    test(
      "the same idempotency key with another request is a conflict that names the task",
      inWorld(open, async (world) => {
        const taskId = await world.create({ idempotencyKey: "k" });
        const other = world.task({ idempotencyKey: "k", requestDigest: "other" });
        const error = await refusal(
          world.store.createTask({ task: other, now: world.now }),
          "task.idempotency_conflict",
        );
        expect(error.data).toEqual({ taskId });
        expect(await world.store.readTaskStatus({ taskId: other.taskId })).toBeNull();
      }),
    );

    test(
      "an idempotency key belongs to its actor",
      inWorld(open, async (world) => {
        const first = await world.create({ idempotencyKey: "k" });
        expect(await world.create({ idempotencyKey: "k", actorId: newId("actor"), requestDigest: "other" })).not.toBe(
          first,
        );
      }),
    );

    test(
      "an id that is taken is not taken twice",
      inWorld(open, async (world) => {
        const task = world.task();
        await world.store.createTask({ task, now: world.now });
        expect(
          await world.store.createTask({ task, now: world.now }).then(
            () => "made",
            () => "refused",
          ),
        ).toBe("refused");
        expect(await world.eventTypes(task.taskId)).toHaveLength(2);
      }),
    );

    test(
      "another workspace sees nothing and changes nothing",
      inWorld(open, async (world) => {
        const { store, by, now } = world;
        const { fence, approvals } = await world.waiting();
        const [interactionId = ""] = approvals;
        const foreign = { taskId: fence.taskId, workspaceId: newId("ws") };
        expect(await store.readTask(foreign)).toBeNull();
        expect(await store.listCalls({ ...foreign, afterOrdinal: -1, limit: 10 })).toBeNull();
        expect(await store.readInteraction({ interactionId, workspaceId: foreign.workspaceId })).toBeNull();
        expect(
          await store.listInteractions({ ...foreign, status: null, approvalsOnly: false, after: null, limit: 10 }),
        ).toEqual([]);
        expect(
          await store.listTasks({
            workspaceId: foreign.workspaceId,
            status: null,
            actorId: null,
            before: null,
            limit: 10,
          }),
        ).toEqual([]);
        await refusal(store.cancelTask({ ...foreign, by, onlyOwn: false, now }), "task.not_found");
        await refusal(
          store.decideApproval({
            interactionId,
            workspaceId: foreign.workspaceId,
            decision: "approved",
            reason: null,
            by,
            remember: null,
            now,
          }),
          "approval.not_found",
        );
        expect(await world.status(fence.taskId)).toBe("waiting");
      }),
    );
  });

  describe("listTasks", () => {
    test(
      "finds an actor's task of a status behind many newer ones of others",
      inWorld(open, async (world) => {
        const { store, workspaceId } = world;
        const mine = await world.create({ actorId: "actor_mine" });
        for (let n = 0; n < 120; n++) await world.create({ actorId: "actor_other" });
        const filter = { workspaceId, status: "queued", actorId: "actor_mine", before: null };
        const found = await store.listTasks({ ...filter, limit: 10 });
        expect(found.map(({ task }) => task.taskId)).toEqual([mine]);
        expect(await store.listTasks({ ...filter, status: "running", limit: 10 })).toEqual([]);
      }),
    );

    test(
      "goes page by page, newest first, also through tasks of one millisecond",
      inWorld(open, async (world) => {
        const made: string[] = [];
        for (const step of [0, 0, 0, 0, 1, 1, 1]) {
          world.now += step === 1 && made.length === 4 ? 1 : 0;
          made.push(await world.create());
        }
        const seen = await listAll(world, 3);
        const older = made.slice(0, 4).toSorted().toReversed();
        const newer = made.slice(4).toSorted().toReversed();
        expect(seen).toEqual([...newer, ...older]);
      }),
    );

    test(
      "filters by status and by actor",
      inWorld(open, async (world) => {
        const actorId = newId("actor");
        const queued = await world.create();
        const foreign = await world.create({ actorId });
        const { taskId } = await world.running();
        const list = async (status: string | null, actor: string | null) =>
          (
            await world.store.listTasks({
              workspaceId: world.workspaceId,
              status,
              actorId: actor,
              before: null,
              limit: 10,
            })
          )
            .map(({ task }) => task.taskId)
            .toSorted();
        expect(await list("running", null)).toEqual([taskId]);
        expect(await list(null, actorId)).toEqual([foreign]);
        expect(await list("queued", world.by.actorId)).toEqual([queued]);
        expect(await list(null, null)).toEqual([queued, foreign, taskId].toSorted());
      }),
    );
  });

  describe("cancelTask", () => {
    test(
      "ends a queued task, and nobody can claim it any more",
      inWorld(open, async (world) => {
        const taskId = await world.create();
        await world.cancel(taskId);
        expect((await world.read(taskId)).task).toMatchObject({
          status: "cancelled",
          finishedAt: world.now,
          queuedAt: null,
        });
        expect(await world.store.claimTask({ taskId, workerId: "w", leaseMs: 1, now: world.now })).toBeNull();
      }),
    );

    test(
      "ends a running task at once, and its run hears it at the next write and heartbeat",
      inWorld(open, async (world) => {
        const fence = await world.running();
        await world.cancel(fence.taskId);
        await refusal(world.store.recordProgress({ fence, entries: [world.output("late")] }), "lease.lost");
        const { lost } = await world.store.renewLeases({
          workerId: fence.workerId,
          leases: [fence],
          leaseMs: 1,
          now: world.now,
        });
        expect(lost).toEqual([fence.taskId]);
        expect(await world.status(fence.taskId)).toBe("cancelled");
      }),
    );

    test(
      "ends a waiting task with all it waits for",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting(2);
        world.now += 100;
        await world.cancel(fence.taskId);
        const { task, pending } = await world.read(fence.taskId);
        expect(task).toMatchObject({ status: "cancelled", pendingCount: 0, waitMs: 100, waitingSince: null });
        expect(pending).toEqual([]);
        const error = await refusal(world.decide(approvals[0] ?? ""), "approval.already_decided");
        expect(error.data).toEqual({ status: "cancelled" });
      }),
    );

    test(
      "refuses a task that has ended, in each way",
      inWorld(open, async (world) => {
        for (const status of ["completed", "failed", "timed_out", "denied"] as const) {
          const fence = await world.running();
          await world.store.settleTask({
            fence,
            entries: [],
            end: { status, resultJson: null, error: null },
            runMs: 1,
            now: world.now,
          });
          const error = await refusal(world.cancel(fence.taskId), "task.already_ended");
          expect(error.data).toEqual({ status });
        }
        const taskId = await world.create();
        await world.cancel(taskId);
        await refusal(world.cancel(taskId), "task.already_ended");
      }),
    );

    test(
      "lets an agent cancel only what is its own",
      inWorld(open, async (world) => {
        const foreign = await world.create({ actorId: newId("actor") });
        await refusal(world.cancel(foreign, true), "auth.forbidden");
        await world.cancel(await world.create(), true);
        await world.cancel(foreign);
      }),
    );
  });
}

async function listAll({ store, workspaceId }: World, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let before: { createdAt: number; taskId: string } | null = null; ;) {
    const page = await store.listTasks({ workspaceId, status: null, actorId: null, before, limit });
    seen.push(...page.map(({ task }) => task.taskId));
    const last = page.at(-1)?.task;
    if (!last || page.length < limit) return seen;
    before = { createdAt: last.createdAt, taskId: last.taskId };
  }
}
