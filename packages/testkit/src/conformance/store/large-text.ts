/** Text that is longer than one row of some database may be: it must come back as it went in, to the last half character. */
import { describe, expect, test } from "bun:test";
import { readPages } from "./runs.ts";
import { inWorld, type OpenStore, upTo } from "./world.ts";

const MB = 1_000_000;

/** Cheap to make, not to be mistaken for another, and with a pair of surrogates wherever a chunk may end. */
const emoji = (length: number, shift: number) => JSON.stringify("x".repeat(shift) + "😀".repeat((length - shift) / 2));
/** As data look: many quotes, which double when text is put into text. */
const records = (length: number) =>
  JSON.stringify(Array.from({ length: Math.ceil(length / 34) }, (_, id) => ({ id: id + 100_000, name: '"quoted"' })));

export function describeLargeText(open: OpenStore): void {
  describe("large text", () => {
    test(
      "a result of several chunks comes back whole, with no character cut in two",
      inWorld(open, async (world) => {
        for (const shift of [0, 1, 2]) {
          const fence = await world.running();
          const resultJson = emoji(600_000, shift);
          await world.settle(fence, resultJson);
          expect((await world.read(fence.taskId)).task.resultJson === resultJson).toBe(true);
        }
      }),
    );

    test(
      "a result of 9 MB comes back whole",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const resultJson = records(9 * MB);
        expect(resultJson.length).toBeGreaterThan(9 * MB);
        await world.settle(fence, resultJson);
        expect((await world.read(fence.taskId)).task.resultJson === resultJson).toBe(true);
      }),
    );

    test(
      "code and script of 1 MB come back whole, to the reader and to the run",
      inWorld(open, async (world) => {
        const [code, script] = [`// ${"ü".repeat(MB)}`, `"use strict"; // ${"a".repeat(MB)}`];
        const taskId = await world.create({ code, script });
        expect((await world.read(taskId)).task.code === code).toBe(true);
        expect((await world.claim(taskId)).task.script === script).toBe(true);
      }),
    );

    test(
      "text that looks like a store's own marks comes back as it is",
      inWorld(open, async (world) => {
        for (const code of ["\u0000chunks:2", "\u00000", "\u0000=", "\u0000"]) {
          const taskId = await world.create({ code });
          expect((await world.read(taskId)).task.code).toBe(code);
        }
      }),
    );

    test(
      "a call's long input and outcome reach the next run, and stay out of lists",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const call = world.call(0, { inputJson: emoji(2 * MB, 1) });
        const outcomeJson = records(3 * MB);
        await world.store.recordProgress({ fence, entries: [call] });
        await world.store.recordProgress({ fence, entries: [world.done(call.callId, 0, { outcomeJson })] });
        const [page] = await readPages(world, fence.taskId, 10);
        expect(page?.calls[0]?.outcomeJson === outcomeJson).toBe(true);
        const [listed] =
          (await world.store.listCalls({
            taskId: fence.taskId,
            workspaceId: world.workspaceId,
            afterOrdinal: -1,
            limit: 10,
          })) ?? [];
        expect(listed).toMatchObject({ inputJson: "", outcomeJson: "" });
      }),
    );

    test(
      "an outcome of 10 MB of quotes comes back whole",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const call = world.call(0);
        const outcomeJson = JSON.stringify('"'.repeat(5 * MB));
        await world.store.recordProgress({ fence, entries: [call, world.done(call.callId, 0, { outcomeJson })] });
        const [page] = await readPages(world, fence.taskId, 10);
        expect(page?.calls[0]?.outcomeJson === outcomeJson).toBe(true);
      }),
    );

    test(
      "a journal of long outcomes comes in pages that are not too long",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const outcomes = upTo(6).map((count) => JSON.stringify(String(count).repeat(MB)));
        for (const [ordinal, outcomeJson] of outcomes.entries()) {
          const call = world.call(ordinal);
          await world.store.recordProgress({
            fence,
            entries: [call, world.done(call.callId, ordinal, { outcomeJson })],
          });
        }
        const pages = await readPages(world, fence.taskId, 100);
        expect(pages.length).toBeGreaterThan(1);
        expect(
          pages
            .flatMap((page) => page.calls)
            .every((call, at) => call.ordinal === at && call.outcomeJson === outcomes[at]),
        ).toBe(true);
        for (const page of pages)
          expect(page.calls.reduce((sum, call) => sum + (call.outcomeJson?.length ?? 0), 0)).toBeLessThan(4 * MB);
      }),
    );

    test(
      "an approval shows the whole of a long input",
      inWorld(open, async (world) => {
        const inputJson = records(MB);
        const { approvals } = await world.waiting(1, { inputJson });
        const [interactionId = ""] = approvals;
        expect(
          (await world.store.readInteraction({ interactionId, workspaceId: world.workspaceId }))?.inputJson ===
            inputJson,
        ).toBe(true);
      }),
    );
  });
}
