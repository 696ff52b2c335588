/**
 * Runs a guest that does a little of everything, in a machine of its own that is dropped: the code that the real guest's first turn goes
 * through is compiled then. Nothing of it leaves this process.
 */
import type { Engine } from "./engine.ts";
import { GuestDesk, type GuestWire } from "./run-guest.ts";
import { V8Machine } from "./v8-machine.ts";

const script =
  "(async () => { console.log('warm', { a: [1] }); setTimeout(() => {}, 1); const a = await tools.a.b({ at: Date.now(), r: Math.random() }); try { await tools.c(); } catch (error) { return [a, error.message, new URL('http://a/b').href]; } })";

export async function warmUp(engine: Engine): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wire: GuestWire = {
    toolCall: () => undefined,
    idle: () => undefined,
    ended: () => resolve(),
    outputNow: () => undefined,
    endedNow: () => engine.exit(1),
  };
  const mega = 1_000_000;
  const limits = {
    cpuMs: mega,
    memoryBytes: 100 * mega,
    outputBytes: mega,
    calls: 10,
    callInputBytes: mega,
    resultBytes: mega,
  };
  const params = { runId: "", taskId: "", sessionToken: "", script, seed: "0".repeat(32), startMs: 0, limits };
  const desk = new GuestDesk(engine, new V8Machine(engine), params, wire);
  const step = (act: () => void): Promise<void> =>
    new Promise((done) =>
      engine.setImmediate(() => {
        act();
        desk.advance();
        done();
      }),
    );
  await step(() => undefined);
  await step(() => desk.deliver(0, 0, 1, '{"a":1}'));
  await step(() => desk.deliver(1, 1, 2, '{"code":"call.failed","message":"m","toolPath":"c"}'));
  await promise;
}
