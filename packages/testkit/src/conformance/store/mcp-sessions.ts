/** Sessions of MCP clients: whose they are, how long they live, how many there may be. */
import { describe, expect, test } from "bun:test";
import { inWorld, newId, type OpenStore, type World } from "./world.ts";

const IDLE_MS = 1_000;

async function openSession(world: World, bearerId: string, maxPerBearer = 10) {
  const sessionHash = newId("session");
  const { now } = world;
  const session = { sessionHash, bearerId, initJson: '{"a":1}', createdAt: now, seenAt: now };
  const { closed } = await world.store.openMcpSession({ session, maxPerBearer, idleMs: IDLE_MS });
  return { session, sessionHash, closed };
}

const read = ({ store, now }: World, sessionHash: string, bearerId: string) =>
  store.readMcpSession({ sessionHash, bearerId, now, idleMs: IDLE_MS });

export function describeMcpSessions(open: OpenStore): void {
  describe("MCP sessions", () => {
    test(
      "a session is found by its bearer alone, until it is closed",
      inWorld(open, async (world) => {
        const [mine, other] = [newId("key"), newId("key")];
        const { session, sessionHash } = await openSession(world, mine);
        expect(await read(world, sessionHash, mine)).toEqual(session);
        expect(await read(world, sessionHash, other)).toBeNull();
        expect(await world.store.closeMcpSession({ sessionHash, bearerId: other })).toBe(false);
        expect(await world.store.closeMcpSession({ sessionHash, bearerId: mine })).toBe(true);
        expect(await read(world, sessionHash, mine)).toBeNull();
        expect(await world.store.closeMcpSession({ sessionHash, bearerId: mine })).toBe(false);
      }),
    );

    test(
      "one that idles ends, one that is touched does not; touching what is gone does nothing",
      inWorld(open, async (world) => {
        const mine = newId("key");
        const [idle, touched] = [await openSession(world, mine), await openSession(world, mine)];
        await world.store.touchMcpSession({ sessionHash: touched.sessionHash, now: world.now + IDLE_MS });
        world.now += IDLE_MS + 1;
        expect(await read(world, idle.sessionHash, mine)).toBeNull();
        expect((await read(world, touched.sessionHash, mine))?.seenAt).toBe(world.now - 1);
        await world.store.touchMcpSession({ sessionHash: newId("session"), now: world.now });
      }),
    );

    test(
      "a bearer has no more than it may: the one that was quiet longest makes room",
      inWorld(open, async (world) => {
        const mine = newId("key");
        const opened: string[] = [];
        for (let count = 0; count < 3; count++) {
          opened.push((await openSession(world, mine, 3)).sessionHash);
          world.now += 1;
        }
        await world.store.touchMcpSession({ sessionHash: opened[0] ?? "", now: world.now });
        const { closed, sessionHash } = await openSession(world, mine, 3);
        expect(closed).toContain(opened[1] ?? "");
        for (const [index, each] of [...opened, sessionHash].entries())
          expect([index, (await read(world, each, mine)) !== null]).toEqual([index, index !== 1]);
      }),
    );
  });
}
