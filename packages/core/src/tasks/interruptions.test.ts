/** Interruptions at the awkward moment: outcomes are in, and no guest has seen them yet; or the world changes meanwhile. */
import { expect, test } from "bun:test";
import { createEffects } from "@executor/testkit/tools/effects";
import type { TestTool } from "@executor/testkit/tools/test-tools";
import { useTaskHarness } from "@executor/testkit/use-task-harness";
import { GuestLost, type Runtime } from "../ports/runtime.ts";
import { DRAIN } from "./stop-switch.ts";

const open = useTaskHarness();

const chains = `
  const chain = async (n: number) => { await tools.bank.pay({ n }); await tools.bank.pay({ n: n + 10 }); return n; };
  return await Promise.all([chain(1), chain(2)]);`;

/** The first two payments happen and hold their answers back until `release`. */
function heldPayments(): { tool: TestTool; happened: unknown[]; both: Promise<void>; release(): void } {
  const { tool, happened } = createEffects();
  const gate = Promise.withResolvers<void>();
  const both = Promise.withResolvers<void>();
  const run: TestTool["run"] = async (call) => {
    const paid = await tool.run(call);
    if (happened.length === 2) both.resolve();
    if (happened.length <= 2) await gate.promise;
    return paid;
  };
  return { tool: { ...tool, run }, happened, both: both.promise, release: gate.resolve };
}

test("a drain with two calls in flight keeps both outcomes, and the task goes on from them", async () => {
  const { tool, happened, both, release } = heldPayments();
  const h = await open([tool]);
  const id = await h.submit(chains);
  const stop = new AbortController();
  const running = h.run(id, { signal: stop.signal });
  await both;
  stop.abort(DRAIN);
  await Bun.sleep(10);
  release();
  expect(await running).toEqual({ kind: "stopped" });
  await h.expireLease();
  await h.run(id);
  expect(await h.read(id)).toMatchObject({ status: "completed", result: [1, 2] });
  expect(happened).toHaveLength(4);
});

test("an engine that is lost with two outcomes undelivered is replaced, and nobody notices", async () => {
  const { tool, happened, both, release } = heldPayments();
  let isLost = false;
  const losing: Runtime = {
    id: open.runtime.id,
    label: open.runtime.label,
    description: open.runtime.description,
    preludeVersion: open.runtime.preludeVersion,
    availability: () => open.runtime.availability(),
    close: async () => undefined,
    open: async (program) => {
      const session = await open.runtime.open(program);
      return {
        close: () => session.close(),
        advance: async (deliveries) => {
          if (isLost || deliveries.length === 0) return await session.advance(deliveries);
          isLost = true;
          await Bun.sleep(10);
          throw new GuestLost("lost by the test");
        },
      };
    },
  };
  const h = await open([tool], {}, losing);
  const id = await h.submit(chains);
  const running = h.run(id);
  await both;
  release();
  await running;
  expect(isLost).toBe(true);
  expect(await h.read(id)).toMatchObject({ status: "completed", result: [1, 2] });
  expect(happened).toHaveLength(4);
});

test("the late outcome of a run that lost its lease does not pass for a delivered one", async () => {
  const { tool, happened } = createEffects();
  const slow: TestTool["run"] = async (call) => (happened.length === 0 && (await Bun.sleep(100)), await tool.run(call));
  const h = await open([{ ...tool, run: slow }]);
  const id = await h.submit("return await tools.bank.pay({ n: 1 })");
  const stop = new AbortController();
  const running = h.run(id, { signal: stop.signal });
  await Bun.sleep(40);
  await h.expireLease();
  stop.abort("lease lost");
  await running;
  expect(await h.run(id)).toMatchObject({ kind: "paused" });
  expect((await h.read(id)).pending[0]).toMatchObject({ mayHaveRun: 1 });
  const late = { workspaceId: h.workspaceId, action: "call.late_outcome", actorId: null, since: null, beforeSeq: null };
  expect(await h.store.listAudit({ ...late, limit: 5 })).toHaveLength(1);
});

for (const ms of [400, 1_600]) {
  test(`what a call did is kept when it ends ${ms} ms into a task of 200`, async () => {
    const { tool } = createEffects();
    const h = await open([{ ...tool, run: async (call) => (await Bun.sleep(ms), await tool.run(call)) }]);
    const id = await h.submit("return await tools.bank.pay({ n: 1 })", { timeoutMs: 200 });
    expect(await h.run(id)).toEqual({ kind: "settled", status: "timed_out" });
    for (let n = 0; n < 100 && (await h.calls(id))[0]?.outcomeKind === null; n++) await Bun.sleep(20);
    expect((await h.calls(id))[0]).toMatchObject({ status: "completed", outcomeKind: "result", deliverySeq: null });
  });
}

test("a deny that is written before a run's first call counts for it", async () => {
  const { tool, happened } = createEffects();
  const h = await open([tool]);
  const id = await h.submit(
    "await new Promise<void>((d) => setTimeout(d, 150)); return await tools.bank.pay({ n: 1 })",
  );
  const running = h.run(id);
  await Bun.sleep(60);
  await h.policy("bank.pay", "deny");
  await running;
  expect(happened).toEqual([]);
  expect((await h.read(id)).status).toBe("denied");
});

test("calls that wait for room are gated again when it is their turn", async () => {
  const { tool, happened } = createEffects();
  const slow: TestTool = { ...tool, run: async (call) => (await Bun.sleep(30), await tool.run(call)) };
  const h = await open([slow], { parallelCalls: 2 });
  const id = await h.submit(
    "return (await Promise.allSettled(Array.from({ length: 20 }, (_, n) => tools.bank.pay({ n })))).map((each) => each.reason?.code ?? 'paid')",
  );
  const running = h.run(id);
  await Bun.sleep(80);
  const before = happened.length;
  await h.policy("bank.pay", "deny");
  await running;
  expect(happened.length).toBeLessThanOrEqual(before + 3);
  expect(((await h.read(id)).result as string[]).filter((code) => code === "policy.denied").length).toBeGreaterThan(10);
});

test("all calls beyond the parallel limit are performed, each once", async () => {
  const { tool, happened } = createEffects();
  const h = await open([tool], { parallelCalls: 3 });
  const id = await h.submit(
    "return (await Promise.all(Array.from({ length: 50 }, (_, n) => tools.bank.pay({ n })))).length",
  );
  await h.run(id);
  expect((await h.read(id)).result).toBe(50);
  expect(happened).toHaveLength(50);
});

test("a drain begins no call that still waited for room; the next run does", async () => {
  const { tool, happened } = createEffects();
  const slow: TestTool = { ...tool, run: async (call) => (await Bun.sleep(60), await tool.run(call)) };
  const h = await open([slow], { parallelCalls: 2 });
  const id = await h.submit(
    "return (await Promise.all(Array.from({ length: 8 }, (_, n) => tools.bank.pay({ n })))).length",
  );
  const stop = new AbortController();
  const running = h.run(id, { signal: stop.signal });
  await Bun.sleep(40);
  stop.abort(DRAIN);
  expect(await running).toEqual({ kind: "stopped" });
  expect(happened.length).toBeLessThanOrEqual(2);
  await h.expireLease();
  await h.run(id);
  expect((await h.read(id)).result).toBe(8);
  expect(happened).toHaveLength(8);
});
