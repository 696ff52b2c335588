/** What a run writes: progress, its end, and outcomes that come too late. */
import { describe, expect, test } from "bun:test";
import type { JournalPage } from "@executor/core/store/verbs/reads";
import { FROM_START, inWorld, type OpenStore, refusal, upTo, type World } from "./world.ts";

export function describeRuns(open: OpenStore): void {
  describe("progress", () => {
    test(
      "is read back by the next run as it was written",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const [first, second] = [world.call(0), world.call(1)];
        await world.store.recordProgress({
          fence,
          entries: [first, { kind: "sent", callId: first.callId, at: world.now, approvalId: null }, second],
        });
        const timer = { timerId: 7, deliverySeq: 0, deliveredAtMs: world.now, deliveredRunMs: 0.25 };
        const error = {
          status: "failed",
          outcomeKind: "error",
          outcomeJson: '{"code":"call.failed","message":"no"}',
        } as const;
        await world.store.recordProgress({
          fence,
          entries: [{ kind: "timer", ...timer }, world.done(second.callId, 1, error), world.done(first.callId, 2)],
        });
        const { calls, timers, next } = await world.store.readJournal({
          taskId: fence.taskId,
          ...FROM_START,
          limit: 10,
        });
        expect(next).toBeNull();
        expect(timers).toEqual([{ timerKey: `${fence.taskId}/7`, taskId: fence.taskId, ...timer }]);
        expect(calls).toHaveLength(2);
        expect(calls[0]).toMatchObject({
          callId: first.callId,
          ordinal: 0,
          callKey: first.callKey,
          sends: 1,
          sentAt: world.now,
          status: "completed",
          deliverySeq: 2,
          deliveredRunMs: 1.5,
          outcomeJson: '{"deliverySeq":2}',
        });
        expect(calls[1]).toMatchObject({
          callId: second.callId,
          ordinal: 1,
          sends: 0,
          sentAt: null,
          status: "failed",
          deliverySeq: 1,
          outcomeKind: "error",
          outcomeJson: error.outcomeJson,
        });
      }),
    );

    test(
      "of one batch may make, send and finish a call",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const call = world.call(0);
        await world.store.recordProgress({
          fence,
          entries: [
            call,
            { kind: "sent", callId: call.callId, at: world.now, approvalId: null },
            world.done(call.callId, 0),
          ],
        });
        const [read] =
          (await world.store.listCalls({
            taskId: fence.taskId,
            workspaceId: world.workspaceId,
            afterOrdinal: -1,
            limit: 10,
          })) ?? [];
        expect(read).toMatchObject({ inputJson: call.inputJson, sends: 1, status: "completed" });
        expect((await world.eventTypes(fence.taskId)).slice(-2)).toEqual(["tool.call.started", "tool.call.completed"]);
        expect((await world.audit("call.completed")).map((entry) => entry.subject)).toEqual([call.callId]);
      }),
    );

    test(
      "is all or nothing: an entry that cannot be written takes the batch with it",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const entries = [world.output("first"), world.call(0), world.done("call_unknown", 0)];
        expect(
          await world.store.recordProgress({ fence, entries }).then(
            () => "written",
            () => "refused",
          ),
        ).toBe("refused");
        expect((await world.read(fence.taskId)).task).toMatchObject({ outputLines: 0, callCount: 0 });
        expect(await world.eventTypes(fence.taskId)).toEqual(["task.created", "task.queued", "task.running"]);
      }),
    );

    test(
      "keeps output lines as they are, in order",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const lines = ["", "plain", "\u0000 nul", "\u0000=", "ünïcode 😀", '"quotes" and \\', "x".repeat(5_000)];
        await world.store.recordProgress({ fence, entries: lines.map((line) => world.output(line)) });
        const events = await world.store.readTaskEvents({ taskId: fence.taskId, afterSeq: 3, limit: 100 });
        expect(events.map((event) => (JSON.parse(event.dataJson) as { text: string }).text)).toEqual(lines);
        expect((await world.read(fence.taskId)).task.outputLines).toBe(lines.length);
      }),
    );

    test(
      "takes a batch of 1,000 entries",
      inWorld(open, async (world) => {
        const fence = await world.running();
        await world.store.recordProgress({ fence, entries: upTo(1_000).map((line) => world.output(`line ${line}`)) });
        expect((await world.read(fence.taskId)).task).toMatchObject({ outputLines: 1_000, eventSeq: 1_003 });
      }),
    );
  });

  describe("readJournal", () => {
    test(
      "goes page by page, through calls and timers, however many there are of each",
      inWorld(open, async (world) => {
        for (const [callCount, timerCount] of [
          [5, 1],
          [1, 5],
          [4, 4],
          [0, 3],
        ] as const) {
          const fence = await world.running();
          const calls = upTo(callCount).map((count) => world.call(count - 1));
          const timers = upTo(timerCount).map(
            (timerId) =>
              ({ kind: "timer", timerId, deliverySeq: timerId - 1, deliveredAtMs: 1, deliveredRunMs: 1 }) as const,
          );
          await world.store.recordProgress({ fence, entries: [...calls, ...timers] });
          const pages = await readPages(world, fence.taskId, 2);
          expect(pages.every((page) => page.calls.length <= 2 && page.timers.length <= 2)).toBe(true);
          expect(pages.flatMap((page) => page.calls.map((call) => call.ordinal + 1))).toEqual(upTo(callCount));
          expect(pages.flatMap((page) => page.timers.map((timer) => timer.timerId))).toEqual(upTo(timerCount));
        }
      }),
    );

    test(
      "is empty for a task that made no call",
      inWorld(open, async (world) => {
        const { taskId } = await world.running();
        expect(await world.store.readJournal({ taskId, ...FROM_START, limit: 2 })).toEqual({
          calls: [],
          timers: [],
          next: null,
        });
      }),
    );
  });

  describe("settleTask", () => {
    test(
      "keeps result, times and the last entries, in one write",
      inWorld(open, async (world) => {
        const fence = await world.running();
        world.now += 50;
        await world.settle(fence, '{"a":[1]}', [world.output("last")]);
        expect((await world.read(fence.taskId)).task).toMatchObject({
          status: "completed",
          resultJson: '{"a":[1]}',
          errorJson: null,
          runMs: 5,
          finishedAt: world.now,
          leaseUntil: null,
          workerId: null,
          outputLines: 1,
        });
        expect((await world.eventTypes(fence.taskId)).slice(-2)).toEqual(["task.stdout", "task.completed"]);
        await refusal(world.settle(fence), "lease.lost");
      }),
    );

    test(
      "keeps the error of a task that failed",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const error = { code: "task.failed", message: "boom", line: 3 };
        await world.store.settleTask({
          fence,
          entries: [],
          end: { status: "failed", resultJson: null, error },
          runMs: 0.125,
          now: world.now,
        });
        const { task } = await world.read(fence.taskId);
        expect(JSON.parse(task.errorJson ?? "")).toEqual(error);
        expect(task).toMatchObject({ status: "failed", resultJson: null, runMs: 0.125 });
      }),
    );

    test(
      "cancels what is still pending, and it cannot be decided any more",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const { entries, interactionId } = world.ask(0);
        await world.settle(fence, "1", entries);
        const { task, pending } = await world.read(fence.taskId);
        expect(task).toMatchObject({ status: "completed", pendingCount: 0 });
        expect(pending).toEqual([]);
        expect((await refusal(world.decide(interactionId), "approval.already_decided")).data).toEqual({
          status: "cancelled",
        });
        expect((await world.eventTypes(fence.taskId)).slice(-3)).toEqual([
          "approval.requested",
          "approval.resolved",
          "task.completed",
        ]);
      }),
    );
  });

  describe("recordLateOutcome", () => {
    test(
      "is kept for the audit and told to nobody else, once",
      inWorld(open, async (world) => {
        const { fence, callId } = await cancelledDuringCall(world);
        const before = [await world.read(fence.taskId), await world.eventTypes(fence.taskId)];
        const late = {
          taskId: fence.taskId,
          callId,
          outcomeKind: "result",
          outcomeJson: '"late"',
          now: world.now,
        } as const;
        await world.store.recordLateOutcome(late);
        await world.store.recordLateOutcome({ ...late, outcomeJson: '"later"' });
        expect([await world.read(fence.taskId), await world.eventTypes(fence.taskId)]).toEqual(before);
        expect((await world.audit("call.late_outcome")).map((entry) => entry.subject)).toEqual([callId]);
        const [call] = (await world.store.readJournal({ taskId: fence.taskId, ...FROM_START, limit: 1 })).calls;
        expect(call).toMatchObject({ status: "completed", outcomeJson: '"late"', deliverySeq: null });
      }),
    );

    test(
      "is ignored while a run holds the task",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const call = world.call(0);
        await world.store.recordProgress({ fence, entries: [call] });
        await world.store.recordLateOutcome({
          taskId: fence.taskId,
          callId: call.callId,
          outcomeKind: "result",
          outcomeJson: "1",
          now: world.now,
        });
        const [read] = (await world.store.readJournal({ taskId: fence.taskId, ...FROM_START, limit: 1 })).calls;
        expect(read).toMatchObject({ status: "requested", outcomeJson: null });
      }),
    );
  });
}

export async function readPages({ store }: World, taskId: string, limit: number): Promise<JournalPage[]> {
  const pages: JournalPage[] = [];
  for (let from: JournalPage["next"] = FROM_START; from !== null;) {
    const page: JournalPage = await store.readJournal({ taskId, ...from, limit });
    pages.push(page);
    if (pages.length > 100) throw new Error(`the journal of ${taskId} never ends`);
    from = page.next;
  }
  return pages;
}

async function cancelledDuringCall(world: World) {
  const fence = await world.running();
  const call = world.call(0);
  await world.store.recordProgress({
    fence,
    entries: [call, { kind: "sent", callId: call.callId, at: world.now, approvalId: null }],
  });
  await world.cancel(fence.taskId);
  return { fence, callId: call.callId };
}
