/** What a run that died leaves behind, and how the next one goes on. Deaths of real processes are in e2e/crash. */
import { describe, expect, test } from "bun:test";
import { dyingStore } from "@executor/testkit/dying-store";
import { createEffects } from "@executor/testkit/tools/effects";
import type { TestTool } from "@executor/testkit/tools/test-tools";
import { useTaskHarness } from "@executor/testkit/use-task-harness";

const open = useTaskHarness();

describe("after a crash", () => {
  const killedAfterSend = async (more: Partial<TestTool> = {}) => {
    const { tool, happened } = createEffects("bank.pay", more);
    const h = await open([tool]);
    const id = await h.submit("try { return await tools.bank.pay({ n: 1 }) } catch (error) { return error.code }");
    const isOutcome = (_: string, args: unknown) => JSON.stringify(args).includes('"kind":"done"');
    await expect(h.run(id, { store: dyingStore(h.store, isOutcome) })).rejects.toThrow("killed here");
    expect(happened).toHaveLength(1);
    await h.expireLease();
    return { h, id, happened };
  };
  test("an unknown outcome of an unsafe call asks a person, told that it may already have happened; approve sends again", async () => {
    const { h, id, happened } = await killedAfterSend();
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    const [asked] = (await h.read(id)).pending;
    expect(asked).toMatchObject({ mayHaveRun: 1, toolPath: "bank.pay" });
    expect(happened).toHaveLength(1);
    await h.decide(asked?.interactionId ?? "", "approved");
    await h.run(id);
    expect(happened).toHaveLength(2);
    expect((await h.read(id)).result).toEqual({ paid: 2 });
  });
  test("deny gives the code call.outcome_unknown, and nothing is sent again", async () => {
    const { h, id, happened } = await killedAfterSend();
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "denied");
    await h.run(id);
    expect((await h.read(id)).result).toBe("call.outcome_unknown");
    expect(happened).toHaveLength(1);
  });
  test("an unknown outcome of a safe or idempotent call is simply asked for again", async () => {
    for (const more of [{ effect: "safe" }, { idempotent: true }] as const) {
      const { h, id, happened } = await killedAfterSend(more);
      await h.run(id);
      expect(happened).toHaveLength(2);
      expect((await h.read(id)).result).toEqual({ paid: 2 });
    }
  });
  test("a call whose sending was never written was not sent, and is sent once", async () => {
    const { tool, happened } = createEffects();
    const h = await open([tool]);
    const id = await h.submit("return await tools.bank.pay({ n: 1 })");
    const isSending = (_: string, args: unknown) => JSON.stringify(args).includes('"kind":"sent"');
    await expect(h.run(id, { store: dyingStore(h.store, isSending) })).rejects.toThrow("killed here");
    expect(happened).toHaveLength(0);
    await h.expireLease();
    await h.run(id);
    expect(happened).toHaveLength(1);
    expect((await h.read(id)).result).toEqual({ paid: 1 });
  });
  test("killed at every write in turn, a task with approvals, timers and effects comes to the same result, with no effect doubled", async () => {
    const code = `
      const a = await tools.bank.pay({ n: 1 });
      const [b, c] = await Promise.all([tools.bank.pay({ n: 2 }), tools.executor.echo({ value: "asked" })]);
      await new Promise<void>((done) => setTimeout(done, 5));
      console.log("almost");
      return [a, b, c, await tools.bank.pay({ n: 3 })];`;
    for (let deadly = 1; deadly < 30; deadly++) {
      const { tool, happened } = createEffects();
      const h = await open([tool]);
      await h.policy("executor.echo", "require_approval");
      const id = await h.submit(code);
      let writes = 0;
      let died = false;
      for (let round = 0; round < 12; round++) {
        const task = await h.read(id);
        if (task.status === "completed") break;
        if (task.status === "waiting") {
          for (const each of task.pending) await h.decide(each.interactionId, each.mayHaveRun ? "denied" : "approved");
        }
        const store = dyingStore(h.store, () => !died && ++writes === deadly && (died = true));
        await h.run(id, { store }).catch(() => h.expireLease());
      }
      const task = await h.read(id);
      const counts = [1, 2, 3].map((n) => happened.filter((each) => (each as { n: number }).n === n).length);
      expect(
        counts.every((count) => count === 1) ||
          (task.status === "failed" &&
            task.error?.code === "call.outcome_unknown" &&
            counts.every((count) => count <= 1)),
      ).toBe(true);
      if (task.status === "completed") expect((task.result as unknown[])[2]).toBe("asked");
      if (!died) return;
    }
    throw new Error("the task never got through without being killed");
  }, 60_000);
});
