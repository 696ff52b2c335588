/** Every limit ends a guest with its own code. */
import { describe, expect, test } from "bun:test";
import type { GuestBench } from "./guest-bench.ts";
import { badResults, cpuHogs, cpuOrMemoryHogs, deepCode, memoryHogs, startMs } from "./sample-guests.ts";

export function describeLimits(bench: GuestBench): void {
  const { open, firstTurn, codeOf, limits, cpuMs } = bench;
  describe("limits", () => {
    test.each(cpuHogs)("CPU time ends %s", async (code) => {
      expect(await codeOf(code, { cpuMs })).toBe("task.cpu_limit");
    });
    test.each(cpuOrMemoryHogs)("CPU time or memory ends %s", async (code) => {
      expect(["task.cpu_limit", "task.memory_limit"]).toContain(await codeOf(code, { cpuMs }));
    });
    test.each(memoryHogs)("memory ends %s", async (code) => {
      expect(await codeOf(code)).toBe("task.memory_limit");
    });
    test.each(deepCode)("depth ends %s", async (code) => {
      // An engine that does not recurse here gets as far as the size of what comes out.
      const ends = /^task\.(stack_overflow|memory_limit|result_too_large)$|"code":"call\.input_too_large"/;
      expect(await codeOf(code)).toMatch(ends);
    });
    test.each(badResults)("the result is refused: %s", async (code, expected) => {
      expect(expected.split(" ")).toContain(await codeOf(code));
    });

    test("calls end at their limit, awaited or not", async () => {
      expect(
        await codeOf("for (let i = 0; i < 100000; i++) tools.executor.echo({ i }); await new Promise(() => {});"),
      ).toBe("task.call_limit");
      expect(await codeOf("for (;;) { try { tools.a(); } catch {} }")).toBe("task.call_limit");
      const turn = await firstTurn("for (let i = 0; i < 200; i++) tools.a({ i }); await new Promise(() => {});");
      expect([turn.calls.length, turn.end]).toEqual([200, undefined]);
    });

    test("inputs of calls made at once count as memory", async () => {
      expect(
        await codeOf("const t = 'x'.repeat(1e6); for (;;) tools.a({ t });", {
          callInputBytes: 2_000_000,
          calls: 10_000,
        }),
      ).toBe("task.memory_limit");
    });

    test("output is bounded and the cut is said once", async () => {
      const { output } = await firstTurn(
        "for (let i = 0; i < 20000; i++) console.log('line ' + i); for (let i = 0; i < 1000; i++) console.log(''); console.error('x'.repeat(1e6)); return 1;",
      );
      expect(output.reduce((sum, line) => sum + line.text.length, 0)).toBeLessThan(limits.outputBytes + 200);
      expect(output.filter((line) => line.stream === "stderr")).toHaveLength(1);
      expect(output.at(-1)?.text).toContain("20000");
    });

    test("CPU time is counted over all turns", async () => {
      const session = await open("for (;;) { const end = 3e5; for (let i = 0; i < end; i++); await tools.x(); }", {
        cpuMs,
        calls: 5_000,
      });
      let turn = await session.advance([]);
      for (let id = 0; id < 5_000 && turn.end === undefined; id += 1)
        turn = await session.advance([{ kind: "result", id, json: "1", atMs: startMs }]);
      expect(turn.end).toMatchObject({ kind: "stopped", code: "task.cpu_limit" });
    });
  });
}
