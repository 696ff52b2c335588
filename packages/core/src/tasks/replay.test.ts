/**
 * The rules that make replay true (docs/architecture.md names them), each by a test. On a real store and a real engine;
 * a run ends at each pause and a new one starts from the journal, as after a crash.
 */
import { describe, expect, test } from "bun:test";
import { createEffects } from "@executor/testkit/tools/effects";
import { result, type TestTool } from "@executor/testkit/tools/test-tools";
import { useTaskHarness } from "@executor/testkit/use-task-harness";
import type { Store } from "../ports/store.ts";

const open = useTaskHarness();

describe("a run", () => {
  test("returns a JSON value", async () => {
    const h = await open();
    const id = await h.submit("const n: number = 1; return { sum: n + 1 }");
    expect(await h.run(id)).toEqual({ kind: "settled", status: "completed" });
    expect((await h.read(id)).result).toEqual({ sum: 2 });
  });
  test("that throws fails with the line of the submitted code", async () => {
    const h = await open();
    const id = await h.submit(
      ["interface A {", "  x: number;", "}", "const a: A = { x: 1 };", "", "throw new TypeError('no ' + a.x);"].join(
        "\n",
      ),
    );
    await h.run(id);
    expect(await h.read(id)).toMatchObject({
      status: "failed",
      error: { code: "task.failed", message: "TypeError: no 1", line: 6 },
    });
  });
  test("that awaits what can never happen says so", async () => {
    const h = await open();
    const id = await h.submit("await new Promise(() => {}); return 1");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "failed", error: { code: "task.never_settles" } });
  });
  test("streams its output to the events, each line once", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "console.log('before'); await tools.executor.echo({ value: 1 }); console.error('after'); return 1",
    );
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const events = await h.store.readTaskEvents({ taskId: id, afterSeq: 0, limit: 100 });
    const lines = events
      .filter((event) => /std/.test(event.type))
      .map((event) => [event.type, JSON.parse(event.dataJson).text]);
    expect(lines).toEqual([
      ["task.stdout", "before"],
      ["task.stderr", "after"],
    ]);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  });
});

describe("key: path + canonical input + how many equal calls came before", () => {
  test("equal calls have outcomes of their own, and parallel calls keep theirs", async () => {
    const { tool } = createEffects("bank.pay", { effect: "safe" });
    const h = await open([tool]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const [a, b] = await Promise.all([tools.bank.pay({ n: 1, m: 2 }), tools.bank.pay({ m: 2, n: 1 })]);
      await tools.executor.echo({ value: 0 });
      return [a, b, await tools.bank.pay({ n: 1, m: 2 })];`);
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    expect((await h.read(id)).result).toEqual([{ paid: 1 }, { paid: 2 }, { paid: 3 }]);
  });
});

describe("delivery order", () => {
  test("a replay gives outcomes in the order they came, so a race comes out the same", async () => {
    let slow = true;
    const race: TestTool = {
      path: "race.lap",
      effect: "safe",
      run: async (call) => {
        const { name } = call.input as { name: string };
        // In the first run a loses; on a replay it would win if outcomes were asked for again.
        if (name === "a" && slow) await Bun.sleep(40);
        return result(name);
      },
    };
    const h = await open([race]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const order: string[] = [];
      const lap = async (name: string) => { order.push(await tools.race.lap({ name }) as string, String(Math.random())); };
      await Promise.all([lap("a"), lap("b")]);
      await tools.executor.echo({ value: 1 });
      return order;`);
    await h.run(id);
    slow = false;
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const order = (await h.read(id)).result as string[];
    expect([order[0], order[2]]).toEqual(["b", "a"]);
  });
  test("microtasks are drained between two deliveries that came at once", async () => {
    const both: TestTool = { path: "t.x", effect: "safe", run: (call) => result(call.input) };
    const h = await open([both]);
    const id = await h.submit(`
      const seen: string[] = [];
      const go = async (n: string) => { await tools.t.x({ n }); seen.push(n + 1); await null; await null; await null; seen.push(n + 2); };
      await Promise.all([go("a"), go("b")]);
      return seen;`);
    await h.run(id);
    expect((await h.read(id)).result).toEqual(["a1", "a2", "b1", "b2"]);
  });
  test("random numbers and ids are the same on a replay", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "const before = [Math.random(), crypto.randomUUID()]; const shown = await tools.executor.echo({ value: before }); return { before, shown };",
    );
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const { before, shown } = (await h.read(id)).result as { before: unknown; shown: unknown };
    expect(before).toEqual(shown);
  });
});

describe("pause is quiescence", () => {
  test("two parallel calls that ask are both pending with their exact input; the third asks only after them", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const first = await Promise.all([tools.executor.echo({ value: "a" }), tools.executor.echo({ value: "b" })]);
      return [...first, await tools.executor.echo({ value: "c" })];`);
    expect(await h.run(id)).toEqual({ kind: "paused", status: "waiting" });
    const { pending } = await h.read(id);
    expect(pending.map((each) => JSON.parse(each.inputJson))).toEqual([{ value: "a" }, { value: "b" }]);
    for (const each of pending) await h.decide(each.interactionId, "approved");
    expect(await h.run(id)).toEqual({ kind: "paused", status: "waiting" });
    const third = (await h.read(id)).pending;
    expect(third.map((each) => JSON.parse(each.inputJson))).toEqual([{ value: "c" }]);
    await h.decide(third[0]?.interactionId ?? "", "approved");
    await h.run(id);
    expect((await h.read(id)).result).toEqual(["a", "b", "c"]);
    expect((await h.calls(id)).map((call) => [call.status, call.sends])).toEqual([
      ["completed", 1],
      ["completed", 1],
      ["completed", 1],
    ]);
  });
  test("siblings go on until nothing else can move, and calls in flight finish and are journaled", async () => {
    const { tool, happened } = createEffects();
    const h = await open([{ ...tool, run: async (call) => (await Bun.sleep(30), tool.run(call)) }]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const branch = (async () => { await tools.bank.pay({ n: 1 }); return await tools.bank.pay({ n: 2 }); })();
      return [await tools.executor.echo({ value: 1 }), await branch];`);
    await h.run(id);
    expect(happened).toEqual([{ n: 1 }, { n: 2 }]);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    expect((await h.read(id)).result).toEqual([1, { paid: 2 }]);
    expect(happened).toHaveLength(2);
  });
  test("an approval tells the line of the submitted code that made the call, the same after a replay", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const code = [
      "interface Value {",
      "  value: number;",
      "}",
      "",
      "const send = (input: Value) => tools.executor.echo(input);",
      "await send({ value: 1 });",
      "",
      "for (const value of [2, 3])",
      "  await tools.executor",
      "    .echo({ value });",
      "return 0;",
    ];
    const id = await h.submit(code.join("\n"));
    const lines: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      await h.run(id);
      const [asked] = (await h.read(id)).pending;
      lines.push([asked?.inputJson, code[(asked?.line ?? 0) - 1]]);
      await h.decide(asked?.interactionId ?? "", "approved");
    }
    await h.run(id);
    expect((await h.read(id)).status).toBe("completed");
    expect(lines).toEqual([
      ['{"value":1}', code[4]],
      ['{"value":2}', expect.stringMatching(/tools\.executor|\.echo/)],
      ['{"value":3}', expect.stringMatching(/tools\.executor|\.echo/)],
    ]);
  });

  test("asking again finds the pending approval: a second run of the same state asks nobody twice", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "return await Promise.all([tools.executor.echo({ value: 1 }), tools.executor.echo({ value: 2 })])",
    );
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    expect(await h.run(id)).toEqual({ kind: "paused", status: "waiting" });
    expect(
      await h.store.listInteractions({
        workspaceId: h.workspaceId,
        status: null,
        approvalsOnly: true,
        taskId: id,
        after: null,
        limit: 10,
      }),
    ).toHaveLength(2);
  });
  test("a decision that comes before the pause is written sends the task straight back to the queue", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await tools.executor.echo({ value: 1 })");
    const early = new Proxy(h.store, {
      get: (target, verb: keyof Store) =>
        verb !== "pauseTask"
          ? target[verb]
          : async (args: Parameters<Store["pauseTask"]>[0]) => {
              await target.recordProgress({ fence: args.fence, entries: args.entries });
              await h.decide(args.waitingFor[0] ?? "", "approved");
              return await target.pauseTask({ ...args, entries: [] });
            },
    });
    expect(await h.run(id, { store: early })).toEqual({ kind: "paused", status: "queued" });
    await h.run(id);
    expect((await h.read(id)).result).toBe(1);
  });
  test("if the code returns first, its pending approvals are cancelled", async () => {
    const h = await open([{ path: "t.fast", effect: "safe", run: () => result("fast") }]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await Promise.race([tools.executor.echo({ value: 1 }), tools.t.fast()])");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: "fast", pending: [] });
    const [asked] = await h.store.listInteractions({
      workspaceId: h.workspaceId,
      status: null,
      approvalsOnly: true,
      taskId: id,
      after: null,
      limit: 10,
    });
    expect(asked?.interaction.status).toBe("cancelled");
  });
  test("a call the code does not await is performed before the task ends", async () => {
    const { tool, happened } = createEffects();
    const h = await open([tool]);
    const id = await h.submit("tools.bank.pay({ n: 1 }); return 'done'");
    await h.run(id);
    expect(happened).toEqual([{ n: 1 }]);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: "done" });
  });
});

describe("divergence", () => {
  test("a call that is not in the journal while outcomes are unconsumed stops the run before anything is sent", async () => {
    const { tool, happened } = createEffects();
    const h = await open([tool]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "await tools.bank.pay({ n: 1 }); await tools.executor.echo({ value: 1 }); await tools.bank.pay({ n: 2 }); return 1",
    );
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    // As if the engine had changed under the task: other code for the same journal.
    await h.run(id, { script: "(async () => { await tools.bank.pay({ n: 666 }); return 1; });" });
    expect(await h.read(id)).toMatchObject({ status: "failed", error: { code: "task.diverged" } });
    expect(happened).toEqual([{ n: 1 }]);
  });
});

describe("time", () => {
  test("the guest's clock moves only at deliveries and replays", async () => {
    const h = await open([{ path: "t.slow", effect: "safe", run: async () => (await Bun.sleep(20), result(1)) }]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const t0 = Date.now(); for (let i = 0; i < 300000; i++) {} const t1 = Date.now();
      await tools.t.slow(); const t2 = Date.now();
      const shown = await tools.executor.echo({ value: [t0, t1, t2] }); return { now: [t0, t1, t2], shown, last: Date.now() };`);
    await h.run(id);
    h.advanceWall(3_600_000);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const { now, shown, last } = (await h.read(id)).result as { now: number[]; shown: number[]; last: number };
    expect(now).toEqual(shown);
    expect(now[1]).toBe(now[0] ?? 0);
    expect((now[2] ?? 0) - (now[1] ?? 0)).toBeGreaterThanOrEqual(15);
    expect(last - (now[2] ?? 0)).toBeGreaterThanOrEqual(3_600_000);
  });
  test("a race with a timeout never times a person out: timers freeze while only people are awaited", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "const late = new Promise((done) => setTimeout(() => done('late'), 50)); return await Promise.race([tools.executor.echo({ value: 'person' }), late]);",
    );
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    h.advanceWall(86_000_000);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    expect((await h.read(id)).result).toBe("person");
  });
  test("timers run on the run clock, in order, and replay as they fired", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(`
      const seen: string[] = [];
      const sleep = (ms: number, n: string) => new Promise<void>((done) => setTimeout(() => { seen.push(n); done(); }, ms));
      await Promise.all([sleep(30, "slow"), sleep(5, "fast")]);
      await tools.executor.echo({ value: seen });
      await sleep(5, "after"); return seen;`);
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    expect((await h.read(id)).result).toEqual(["fast", "slow", "after"]);
    expect((await h.read(id)).runMs).toBeGreaterThanOrEqual(30);
  });
  test("of two timers that are due together, the first may still clear the second", async () => {
    const h = await open();
    const id = await h.submit(`
      const seen: string[] = [];
      const second = setTimeout(() => seen.push("second"), 1);
      await new Promise<void>((done) => { setTimeout(() => { seen.push("third"); done(); }, 30); setTimeout(() => clearTimeout(second), 0); for (let i = 0; i < 3e6; i++) {} });
      return seen;`);
    await h.run(id);
    expect((await h.read(id)).result).toEqual(["third"]);
  });
  test("the run clock stops while a person thinks, and replay does not count", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("await tools.executor.echo({ value: 1 }); return 1", { timeoutMs: 1_000 });
    await h.run(id);
    await Bun.sleep(1_200);
    h.advanceWall(3_600_000);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.run(id);
    const task = await h.read(id);
    expect(task.status).toBe("completed");
    expect(task.runMs).toBeLessThan(1_000);
    expect(task.waitMs).toBeGreaterThanOrEqual(3_600_000);
  });
  test("a task that runs too long times out and its pending approvals are cancelled", async () => {
    const h = await open([
      {
        path: "t.never",
        effect: "safe",
        run: (call) =>
          new Promise((done) =>
            call.signal.addEventListener("abort", () => done({ ok: false, code: "call.failed", message: "aborted" })),
          ),
      },
    ]);
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await Promise.all([tools.executor.echo({ value: 1 }), tools.t.never()])", {
      timeoutMs: 150,
    });
    expect(await h.run(id)).toEqual({ kind: "settled", status: "timed_out" });
    expect(await h.read(id)).toMatchObject({ status: "timed_out", error: { code: "task.timed_out" }, pending: [] });
  });
});

describe("denials", () => {
  test("a denial the code does not catch ends the task denied, with the reason", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await tools.executor.echo({ value: 1 })");
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "denied", "not today");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({
      status: "denied",
      error: { code: "approval.denied", message: expect.stringContaining("not today") },
    });
  });
  test("a denial the code catches is an ordinary error to it", async () => {
    const h = await open();
    await h.policy("executor.echo", "deny");
    const id = await h.submit(
      "try { await tools.executor.echo({ value: 1 }) } catch (error) { return [error instanceof ToolError, error.code, error.toolPath] }",
    );
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "completed", result: [true, "policy.denied", "executor.echo"] });
  });
  test("denied is judged by the host's own error, not by text", async () => {
    const h = await open();
    const id = await h.submit(
      "const error = new ToolError('policy.denied'); error.code = 'policy.denied'; throw error",
    );
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "failed", error: { code: "task.failed" } });
  });
  test("the same path and input denied once is refused again without asking", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "const codes: string[] = []; for (let i = 0; i < 3; i++) { try { await tools.executor.echo({ value: 1 }) } catch (error) { codes.push(error.code) } } return codes",
    );
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "denied");
    expect(await h.run(id)).toEqual({ kind: "settled", status: "completed" });
    expect((await h.read(id)).result).toEqual(["approval.denied", "approval.denied", "approval.denied"]);
  });
  test("approvals nobody decides expire and the code goes on with approval.expired", async () => {
    const h = await open([], { approvalExpiryMs: 1_000 });
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await tools.executor.echo({ value: 1 })");
    await h.run(id);
    h.advanceWall(2_000);
    await h.store.expireInteractions({ now: h.host.now(), limit: 10 });
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "denied", error: { code: "approval.expired" } });
  });
  test("a task asks for no more approvals than its cap", async () => {
    const h = await open([], { pendingApprovals: 3 });
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit(
      "const all = await Promise.allSettled([1, 2, 3, 4, 5].map((value) => tools.executor.echo({ value }))); return all.map((each) => each.reason?.code ?? 'ok')",
    );
    await h.run(id);
    const { pending } = await h.read(id);
    expect(pending).toHaveLength(3);
    for (const each of pending) await h.decide(each.interactionId, "approved");
    await h.run(id);
    expect((await h.read(id)).result).toEqual(["ok", "ok", "ok", "approval.limit", "approval.limit"]);
  });
});

describe("the world changes while a task waits", () => {
  test("a policy that came meanwhile denies even what was approved", async () => {
    const h = await open();
    await h.policy("executor.echo", "require_approval");
    const id = await h.submit("return await tools.executor.echo({ value: 1 })");
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    await h.policy("executor.*", "deny");
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "denied", error: { code: "policy.denied" } });
  });
  test("a changed schema asks again, a removed tool throws", async () => {
    const { tool, happened } = createEffects("bank.pay", { approval: "required", schemaHash: "v1" });
    const tools = [tool];
    const h = await open(tools);
    const id = await h.submit("return await tools.bank.pay({ n: 1 })");
    await h.run(id);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    tools[0] = { ...tool, schemaHash: "v2" };
    expect(await h.run(id)).toMatchObject({ kind: "paused" });
    expect(happened).toEqual([]);
    await h.decide((await h.read(id)).pending[0]?.interactionId ?? "", "approved");
    tools.length = 0;
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "failed", error: { code: "tool.not_found" } });
  });
  test("a policy written during a run counts for its next call", async () => {
    const h = await open([
      { path: "t.note", effect: "safe", run: async () => (await h.policy("executor.echo", "deny"), result(1)) },
    ]);
    const id = await h.submit(
      "await tools.executor.echo({ value: 1 }); await tools.t.note(); return await tools.executor.echo({ value: 2 })",
    );
    await h.run(id);
    expect(await h.read(id)).toMatchObject({ status: "denied", error: { code: "policy.denied" } });
  });
});

describe("fence", () => {
  test("a run that lost its lease sends nothing more", async () => {
    const { tool, happened } = createEffects();
    const h = await open([
      { path: "t.steal", effect: "safe", run: async () => (await h.expireLease(), result(1)) },
      tool,
    ]);
    const id = await h.submit("await tools.t.steal(); await tools.bank.pay({ n: 1 }); return 1");
    await expect(h.run(id)).rejects.toThrow("lease.lost");
    expect(happened).toEqual([]);
    expect((await h.read(id)).status).toBe("queued");
  });
  test("a late outcome of a cancelled task is kept as audit only", async () => {
    const { tool } = createEffects();
    const by = { actorId: "a", clientId: "c" };
    const stop = new AbortController();
    const h = await open([
      {
        ...tool,
        run: async (call) => {
          await h.store.cancelTask({
            taskId: call.taskId,
            workspaceId: h.workspaceId,
            by,
            onlyOwn: false,
            now: h.host.now(),
          });
          stop.abort("cancelled");
          return result("late");
        },
      },
    ]);
    const id = await h.submit("return await tools.bank.pay({ n: 1 })");
    expect(await h.run(id, { signal: stop.signal })).toEqual({ kind: "stopped" });
    expect(await h.read(id)).toMatchObject({ status: "cancelled", error: { code: "task.cancelled" } });
    const audit = await h.store.listAudit({
      workspaceId: h.workspaceId,
      action: "call.late_outcome",
      actorId: null,
      since: null,
      beforeSeq: null,
      limit: 5,
    });
    expect(audit).toHaveLength(1);
  });
});

test("very much progress at once is written in batches, in order", async () => {
  const h = await open();
  const id = await h.submit(
    "for (let i = 0; i < 3000; i++) console.log(i); await Promise.all(Array.from({ length: 1200 }, (_, value) => tools.executor.echo({ value }))); return 1",
  );
  await h.run(id);
  expect((await h.read(id)).status).toBe("completed");
  const events = await h.store.readTaskEvents({ taskId: id, afterSeq: 0, limit: 10_000 });
  const lines = events.filter((event) => event.type === "task.stdout").map((event) => JSON.parse(event.dataJson).text);
  expect(lines).toEqual(Array.from({ length: 3_000 }, (_, n) => String(n)));
  expect((await h.calls(id)).filter((call) => call.status === "completed")).toHaveLength(1_200);
});

test("a task whose calls carry too much in all is ended, before the worker's memory is", async () => {
  const h = await open([], { journalBytes: 3_000_000 });
  const id = await h.submit(
    "const s = 'x'.repeat(400_000); for (let i = 0; ; i++) await tools.executor.echo({ value: s + i })",
  );
  await h.run(id);
  expect(await h.read(id)).toMatchObject({ status: "failed", error: { code: "task.journal_limit" } });
  expect((await h.calls(id)).length).toBeLessThan(10);
});
