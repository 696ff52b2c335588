/** What a run and its guest in a VM leave for each other, and who may. */
import { describe, expect, test } from "bun:test";
import type { Fence } from "@executor/core/store/progress";
import { inWorld, newId, type OpenStore, refusal, type World } from "./world.ts";

const TTL_MS = 60_000;

async function openLink(world: World, fence: Fence) {
  const linkId = newId("run");
  const tokenHash = `hash of ${linkId}`;
  const { stale } = await world.store.openGuestLink({
    fence,
    linkId,
    tokenHash,
    expiresAt: world.now + TTL_MS,
    now: world.now,
  });
  const side = { linkId, tokenHash, runner: "r1", after: 0 };
  const send = (turn: number, part: number, text: string, last: boolean, patch = {}) =>
    world.store.sendFromGuest({ ...side, turn, part, text, last, now: world.now, ...patch });
  const read = (turn: number, patch = {}) => world.store.readForGuest({ ...side, turn, now: world.now, ...patch });
  return { linkId, stale, send, read };
}

export function describeGuestLinks(open: OpenStore): void {
  describe("a guest's link", () => {
    test(
      "carries turns and answers, each once, also when the guest repeats itself",
      inWorld(open, async (world) => {
        const link = await openLink(world, await world.running());
        expect(await world.store.readFromGuest({ linkId: link.linkId, after: 0 })).toMatchObject({
          texts: [],
          turn: 0,
        });
        await link.send(0, 0, "a", false);
        await link.send(0, 0, "a", false);
        await link.send(0, 1, "b", true);
        await link.send(0, 1, "b", true);
        expect(await world.store.readFromGuest({ linkId: link.linkId, after: 0 })).toEqual({
          texts: ["a", "b"],
          turn: 0,
          ended: true,
          runner: "r1",
        });
        expect(await link.read(0)).toMatchObject({ texts: [], last: false });
        await world.store.answerGuest({ linkId: link.linkId, turn: 0, text: "x", last: false, taken: 2 });
        expect(await link.read(0)).toMatchObject({ texts: ["x"], last: false });
        await world.store.answerGuest({ linkId: link.linkId, turn: 0, text: "y", last: true, taken: 2 });
        expect(await link.read(0)).toMatchObject({ texts: ["x", "y"], last: true });
        expect(await link.read(0, { after: 1 })).toMatchObject({ texts: ["y"], last: true });
        await link.send(1, 0, "c", true, { after: 2 });
        expect(await world.store.readFromGuest({ linkId: link.linkId, after: 2 })).toMatchObject({
          texts: ["c"],
          turn: 1,
          ended: true,
        });
        expect(await link.read(1, { after: 2 })).toMatchObject({ texts: [], last: false });
      }),
    );

    test(
      "takes nothing out of order and answers nothing that was not asked",
      inWorld(open, async (world) => {
        const link = await openLink(world, await world.running());
        await refusal(link.send(0, 1, "b", true), "request.invalid");
        await refusal(link.send(1, 0, "b", true), "request.invalid");
        const answer = { linkId: link.linkId, turn: 0, text: "x", last: true, taken: 0 };
        await refusal(world.store.answerGuest(answer), "lease.lost");
      }),
    );

    test(
      "is silent for another token, another process, after its time and once the run no longer holds the lease",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const link = await openLink(world, fence);
        const other = await openLink(world, await world.running());
        await link.send(0, 0, "a", true);
        const bad = [
          { tokenHash: "" },
          { tokenHash: `hash of ${other.linkId}` },
          { linkId: other.linkId },
          { linkId: newId("run") },
          { runner: "r2" },
          { now: world.now + TTL_MS },
        ];
        for (const patch of bad) {
          await refusal(link.send(0, 0, "a", true, patch), "auth.invalid");
          await refusal(link.read(0, patch), "auth.invalid");
          const { linkId, tokenHash } = { linkId: link.linkId, tokenHash: `hash of ${link.linkId}` };
          const check = world.store.checkGuest({ linkId, tokenHash, now: world.now, ...patch });
          if ("runner" in patch) await check;
          else await refusal(check, "auth.invalid");
        }
        await world.store.pauseTask({ fence, entries: [], waitingFor: [], runMs: 1, now: world.now });
        await refusal(link.send(1, 0, "b", true), "auth.invalid");
        await refusal(link.read(0), "auth.invalid");
        await refusal(openLink(world, fence), "lease.lost");
      }),
    );

    test(
      "of an older guest of the task dies when a new one is opened, and can be removed",
      inWorld(open, async (world) => {
        const fence = await world.running();
        const old = await openLink(world, fence);
        await old.send(0, 0, "a", false);
        const link = await openLink(world, fence);
        expect(link.stale).toEqual([old.linkId]);
        await refusal(old.send(0, 1, "b", true), "auth.invalid");
        expect(await world.store.readFromGuest({ linkId: old.linkId, after: 0 })).toBeNull();
        expect(await world.store.closeGuestLink({ linkId: old.linkId })).toBe(true);
        expect((await openLink(world, fence)).stale).toEqual([link.linkId]);
        const expired = (now: number) => world.store.listExpiredGuestLinks({ now, limit: 1_000 });
        expect(await expired(world.now)).not.toContain(link.linkId);
        expect(await expired(world.now + TTL_MS + 1)).toContain(link.linkId);
      }),
    );

    test(
      "carries long text in pieces, which go once they were read",
      inWorld(open, async (world) => {
        const link = await openLink(world, await world.running());
        const text = "ä😀x".repeat(1_100_000);
        const parts = [text.slice(0, 2_000_000), text.slice(2_000_000)];
        for (const [part, body] of parts.entries()) await link.send(0, part, body, part === 1);
        let read = "";
        let taken = 0;
        for (let ended = false; !ended;) {
          const found = await world.store.readFromGuest({ linkId: link.linkId, after: taken });
          if (!found) throw new Error("the link is gone");
          read += found.texts.join("");
          taken += found.texts.length;
          ended = found.ended;
          await world.store.dropGuestText({ linkId: link.linkId, box: "up", below: taken });
        }
        expect(read === text).toBe(true);
        expect(taken).toBeGreaterThan(16);
        expect((await world.store.readFromGuest({ linkId: link.linkId, after: 0 }))?.texts).toEqual([]);
        await world.store.answerGuest({
          linkId: link.linkId,
          turn: 0,
          text: text.slice(0, 2_000_000),
          last: true,
          taken,
        });
        expect((await link.read(0)).texts.join("").length).toBe(2_000_000);
        for (let done = false; !done;) done = await world.store.closeGuestLink({ linkId: link.linkId });
        await refusal(link.read(0), "auth.invalid");
      }),
    );
  });
}
