/** Pauses, decisions, answers and what time does to them. */
import { describe, expect, test } from "bun:test";
import { countWinners, inWorld, newId, type OpenStore, refusal, upTo, type World } from "./world.ts";

export function describeInteractions(open: OpenStore): void {
  describe("pause and decision", () => {
    test(
      "a pause waits with its approval pending, and the decision queues the task",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting();
        const [interactionId = ""] = approvals;
        const waiting = await world.read(fence.taskId);
        expect(waiting.task).toMatchObject({
          status: "waiting",
          pendingCount: 1,
          waitingSince: world.now,
          workerId: null,
          leaseUntil: null,
          queuedAt: null,
          runMs: 5,
        });
        expect(waiting.pending.map((pending) => pending.interactionId)).toEqual([interactionId]);
        world.now += 250;
        const decided = await world.decide(interactionId, "denied");
        expect(decided).toMatchObject({
          interactionId,
          status: "denied",
          reviewerId: world.by.actorId,
          resolvedAt: world.now,
          taskId: fence.taskId,
        });
        const { task, pending } = await world.read(fence.taskId);
        expect(task).toMatchObject({
          status: "queued",
          queuedAt: world.now,
          pendingCount: 0,
          waitMs: 250,
          waitingSince: null,
        });
        expect(pending).toEqual([]);
        expect((await world.eventTypes(fence.taskId)).slice(-4)).toEqual([
          "approval.requested",
          "task.waiting",
          "approval.resolved",
          "task.queued",
        ]);
        const claim = await world.claim(fence.taskId);
        expect(claim.interactions.map(({ status }) => status)).toEqual(["denied"]);
      }),
    );

    test(
      "a decision that comes before the pause sends the task straight back to the queue",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const { entries, interactionId } = world.ask(0);
        await world.store.recordProgress({ fence, entries });
        await world.decide(interactionId);
        expect(await world.status(fence.taskId)).toBe("running");
        expect(
          await world.store.pauseTask({ fence, entries: [], waitingFor: [interactionId], runMs: 1, now: world.now }),
        ).toEqual({ status: "queued" });
        expect((await world.read(fence.taskId)).task).toMatchObject({
          status: "queued",
          queuedAt: world.now,
          waitingSince: null,
        });
      }),
    );

    test(
      "a pause and a decision at the same moment never leave the task waiting",
      inWorld(open, async (world) => {
        for (const round of upTo(4)) {
          const fence = await world.running();
          const { entries, interactionId } = world.ask(0);
          await world.store.recordProgress({ fence, entries });
          const pause = () =>
            world.store.pauseTask({ fence, entries: [], waitingFor: [interactionId], runMs: 1, now: world.now });
          const both =
            round % 2 === 0 ? [pause(), world.decide(interactionId)] : [world.decide(interactionId), pause()];
          await Promise.all(both);
          expect(await world.status(fence.taskId)).toBe("queued");
        }
      }),
    );

    test(
      "several decisions queue the task once",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting(3);
        await Promise.all(approvals.map((interactionId) => world.decide(interactionId)));
        const types = await world.eventTypes(fence.taskId);
        expect(types.filter((type) => type === "approval.resolved")).toHaveLength(3);
        expect(types.filter((type) => type === "task.queued")).toHaveLength(2);
        expect((await world.read(fence.taskId)).task).toMatchObject({ status: "queued", pendingCount: 0 });
      }),
    );

    test(
      "the second decision is refused and told the first",
      inWorld(open, async (world) => {
        const { approvals } = await world.waiting();
        await world.decide(approvals[0] ?? "");
        const error = await refusal(world.decide(approvals[0] ?? "", "denied"), "approval.already_decided");
        expect(error.data).toEqual({ status: "approved" });
      }),
    );

    test(
      "of 8 decisions at once, one counts",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting();
        const decisions = upTo(8).map((count) =>
          world.decide(approvals[0] ?? "", count % 2 === 0 ? "approved" : "denied"),
        );
        expect(await countWinners(decisions, "approval.already_decided")).toBe(1);
        expect((await world.eventTypes(fence.taskId)).filter((type) => type === "approval.resolved")).toHaveLength(1);
      }),
    );

    test(
      "a decision may leave a policy behind, in the same write",
      inWorld(open, async (world) => {
        const { approvals } = await world.waiting(2);
        const [first = "", second = ""] = approvals;
        const policy = world.policy();
        await world.decide(first, "approved", policy);
        expect(await world.store.listPolicies({ workspaceId: world.workspaceId })).toEqual([policy]);
        await refusal(world.decide(first, "approved", world.policy()), "approval.already_decided");
        await world.decide(second);
        expect(await world.store.listPolicies({ workspaceId: world.workspaceId })).toEqual([policy]);
      }),
    );

    test(
      "an approval is marked as used when its call is sent",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting();
        const [interactionId = ""] = approvals;
        const approval = await world.decide(interactionId);
        const next = (await world.claim(fence.taskId)).fence;
        await world.store.recordProgress({
          fence: next,
          entries: [{ kind: "sent", callId: approval.callId, at: world.now, approvalId: interactionId }],
        });
        expect((await world.store.readInteraction({ interactionId, workspaceId: world.workspaceId }))?.usedAt).toBe(
          world.now,
        );
      }),
    );
  });

  describe("resolveInteraction", () => {
    const resolve = (world: World, interactionId: string, answerJson: string | null) =>
      world.store.resolveInteraction({
        interactionId,
        workspaceId: world.workspaceId,
        answerJson,
        reason: null,
        by: world.by,
        now: world.now,
      });

    test(
      "takes an answer once and queues the task",
      inWorld(open, async (world) => {
        const { fence, approvals } = await world.waiting(1, {
          kind: "question",
          answerSchemaJson: '{"type":"object"}',
        });
        const answered = await resolve(world, approvals[0] ?? "", '{"$yes":true}');
        expect(answered).toMatchObject({ status: "resolved", answerJson: '{"$yes":true}' });
        expect(await world.status(fence.taskId)).toBe("queued");
        await refusal(resolve(world, approvals[0] ?? "", "1"), "interaction.already_resolved");
      }),
    );

    test(
      "takes a refusal to answer",
      inWorld(open, async (world) => {
        const { approvals } = await world.waiting(1, { kind: "elicitation" });
        expect(await resolve(world, approvals[0] ?? "", null)).toMatchObject({ status: "denied", answerJson: null });
      }),
    );

    test(
      "is the wrong door for an approval, and the other way round",
      inWorld(open, async (world) => {
        const approval = await world.waiting();
        const question = await world.waiting(1, { kind: "question" });
        await refusal(resolve(world, approval.approvals[0] ?? "", "1"), "interaction.wrong_door");
        await refusal(world.decide(question.approvals[0] ?? ""), "approval.not_found");
        await refusal(resolve(world, newId("question"), "1"), "interaction.not_found");
      }),
    );
  });

  describe("expireInteractions", () => {
    test(
      "expires what is due and nothing else, and the task goes on",
      inWorld(open, async (world) => {
        const due = await world.waiting();
        const later = await world.waiting(1, { expiresAt: world.now + 120_000 });
        world.now += 60_001;
        const { expired } = await world.store.expireInteractions({ now: world.now, limit: 200 });
        const ids = expired.map(({ interactionId }) => interactionId);
        expect(ids).toContain(due.approvals[0] ?? "");
        expect(ids).not.toContain(later.approvals[0] ?? "");
        expect(await world.status(due.fence.taskId)).toBe("queued");
        expect(await world.status(later.fence.taskId)).toBe("waiting");
        expect((await refusal(world.decide(due.approvals[0] ?? ""), "approval.already_decided")).data).toEqual({
          status: "expired",
        });
        expect((await world.audit("approval.expired")).map((entry) => entry.actorId)).toEqual(["system"]);
      }),
    );
  });

  describe("listInteractions", () => {
    const list = async (world: World, patch: Partial<Parameters<World["store"]["listInteractions"]>[0]> = {}) => {
      const found = await world.store.listInteractions({
        workspaceId: world.workspaceId,
        status: null,
        approvalsOnly: false,
        taskId: null,
        after: null,
        limit: 100,
        ...patch,
      });
      return found.map(({ interaction }) => interaction);
    };
    const idsOf = (rows: { interactionId: string }[]) => rows.map(({ interactionId }) => interactionId);

    test(
      "filters by status, by task and by kind",
      inWorld(open, async (world) => {
        const decided = await world.waiting();
        await world.decide(decided.approvals[0] ?? "");
        const pending = await world.waiting();
        const question = await world.waiting(1, { kind: "question" });
        expect(idsOf(await list(world)).toSorted()).toEqual(
          [...decided.approvals, ...pending.approvals, ...question.approvals].toSorted(),
        );
        expect(idsOf(await list(world, { status: "approved" }))).toEqual(decided.approvals);
        expect(idsOf(await list(world, { status: "pending", approvalsOnly: true }))).toEqual(pending.approvals);
        expect(idsOf(await list(world, { taskId: question.fence.taskId }))).toEqual(question.approvals);
        expect(idsOf(await list(world, { taskId: question.fence.taskId, approvalsOnly: true }))).toEqual([]);
      }),
    );

    test(
      "goes page by page, oldest first, also through those of one millisecond",
      inWorld(open, async (world) => {
        const first = await world.waiting(4);
        world.now += 1;
        const second = await world.waiting(2);
        const seen: string[] = [];
        for (let after: { createdAt: number; interactionId: string } | null = null; ;) {
          const page: { createdAt: number; interactionId: string }[] = await list(world, {
            status: "pending",
            after,
            limit: 3,
          });
          seen.push(...idsOf(page));
          const last = page.at(-1);
          if (!last) break;
          after = { createdAt: last.createdAt, interactionId: last.interactionId };
        }
        expect(seen).toEqual([...first.approvals.toSorted(), ...second.approvals.toSorted()]);
      }),
    );
  });
}
