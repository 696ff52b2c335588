/** How a guest is driven: calls, deliveries, timers, output. */
import { describe, expect, test } from "bun:test";
import type { Delivery } from "@executor/core/ports/runtime";
import type { GuestBench } from "./guest-bench.ts";
import { returnedValues, startMs } from "./sample-guests.ts";

export function describeTurns(bench: GuestBench): void {
  const { open, firstTurn, valueOf } = bench;
  describe("turns", () => {
    test("it is available", async () => {
      expect(await bench.runtime.availability()).toMatchObject({ available: true });
    });

    test("returned values come back as JSON", async () => {
      for (const [code, value] of returnedValues) expect({ code, value: await valueOf(code) }).toEqual({ code, value });
    });

    test("a call waits for its result, and nothing runs before the first advance", async () => {
      const session = await open("const a: { v: number } = await tools.math.double({ n: 21 }); return a.v;");
      const turn = await session.advance([]);
      expect(turn.calls).toEqual([{ id: 0, path: "math.double", inputJson: '{"n":21}', after: 0, line: 2 }]);
      expect(turn.end).toBeUndefined();
      const last = await session.advance([{ kind: "result", id: 0, json: '{"v":42}', atMs: startMs + 1 }]);
      expect(last.end).toEqual({ kind: "returned", resultJson: "42" });
      await session.close();
    });

    test("paths are made by property or bracket, input defaults to {}", async () => {
      const { calls } = await firstTurn(
        `tools.a(); tools["b"].c(undefined); tools.d["e-f"]({ x: [1, "ä😀", null] }); tools["g.h"](7); await new Promise(() => {});`,
      );
      expect(calls.map(({ path, inputJson }) => [path, inputJson])).toEqual([
        ["a", "{}"],
        ["b.c", "{}"],
        ["d.e-f", '{"x":[1,"ä😀",null]}'],
        ["g.h", "7"],
      ]);
    });

    test("a call tells the line it was made on: in a function, after an await, in a callback of the engine", async () => {
      const session = await open(
        [
          "const ask = (n: number) => {",
          "  return tools.inner({ n });",
          "};",
          "await tools.first();",
          "",
          "await ask(1);",
          "await Promise.all([1, 2].map((n) =>",
          "  tools.mapped({ n })));",
        ].join("\n"),
      );
      const lines: unknown[] = [];
      for (let turn = await session.advance([]); turn.end === undefined;) {
        lines.push(...turn.calls.map(({ path, line }) => [path, line]));
        turn = await session.advance(turn.calls.map(({ id }) => ({ kind: "result", id, json: "1", atMs: startMs })));
      }
      await session.close();
      // Of the script, which opens with a line of its own and drops the empty one.
      expect(lines).toEqual([
        ["first", 5],
        ["inner", 3],
        ["mapped", 7],
        ["mapped", 7],
      ]);
    });

    test("code that spoils its stacks loses the line and nothing else", async () => {
      const spoils = [
        "(Error as any).prepareStackTrace = () => { throw new Error('no'); };",
        "Object.defineProperty(Error.prototype, 'stack', { get() { throw new Error('no'); } });",
        "(Error as any).stackTraceLimit = 0;",
        "String.prototype.indexOf = () => { throw new Error('no'); };",
      ];
      for (const spoil of spoils) {
        const { calls, end } = await firstTurn(`try { ${spoil} } catch {} tools.a(); await new Promise(() => {});`);
        expect({ spoil, paths: calls.map(({ path }) => path), end }).toEqual({ spoil, paths: ["a"], end: undefined });
      }
    });

    test("a step of tools is no promise and no JSON", async () => {
      expect(
        await valueOf(
          "return [typeof tools.a.then, typeof tools.toJSON, typeof tools.a[Symbol.iterator], typeof tools.a.b, await (async () => tools.x)() === tools.x]",
        ),
      ).toEqual(["undefined", "undefined", "undefined", "function", true]);
    });

    test("deliveries apply in order, with microtasks in between", async () => {
      const code = `const log: string[] = [];
        const run = async (name: string) => { const v = await tools.get({ name }); log.push(name + v); await null; log.push(name + "!"); await tools.after({ name }); };
        void run("a"); void run("b"); await tools.end(); return log;`;
      const session = await open(code);
      expect((await session.advance([])).calls.map((call) => call.id)).toEqual([0, 1, 2]);
      const turn = await session.advance([
        { kind: "result", id: 1, json: "1", atMs: startMs },
        { kind: "result", id: 0, json: "2", atMs: startMs },
      ]);
      expect(turn.calls).toEqual([
        { id: 3, path: "after", inputJson: '{"name":"b"}', after: 1, line: 8 },
        { id: 4, path: "after", inputJson: '{"name":"a"}', after: 2, line: 8 },
      ]);
      const { end } = await session.advance([{ kind: "result", id: 2, json: "null", atMs: startMs }]);
      expect(end).toEqual({ kind: "returned", resultJson: '["b1","b!","a2","a!"]' });
      await session.close();
    });

    test("a first advance may bring deliveries: the program starts before them", async () => {
      const session = await open("const a = await tools.a(); const b = await tools.b(); return [a, b];");
      const turn = await session.advance([
        { kind: "result", id: 0, json: "1", atMs: startMs },
        { kind: "result", id: 1, json: "2", atMs: startMs },
      ]);
      expect(turn.calls.map(({ path, after }) => [path, after])).toEqual([
        ["a", 0],
        ["b", 1],
      ]);
      expect(turn.end).toEqual({ kind: "returned", resultJson: "[1,2]" });
      await session.close();
    });

    test("a long replay in one advance keeps its order", async () => {
      const session = await open(
        "let sum = 0; for (let i = 0; i < 1000; i++) sum += await tools.n({ i }); return sum;",
        { calls: 1000 },
      );
      const turn = await session.advance(
        Array.from({ length: 1000 }, (_, id): Delivery => ({
          kind: "result",
          id,
          json: String(id),
          atMs: startMs + id,
        })),
      );
      expect(turn.calls.map((call) => call.after)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
      expect(turn.end).toEqual({ kind: "returned", resultJson: "499500" });
      await session.close();
    });

    test("large inputs and results go through whole", async () => {
      const text = "ä😀x".repeat(250_000);
      const session = await open("const a = await tools.echo({ t: 'ä😀x'.repeat(250000) }); return a.t;", {
        callInputBytes: 4_000_000,
        resultBytes: 4_000_000,
      });
      const { calls } = await session.advance([]);
      expect(JSON.parse(calls[0]?.inputJson ?? "null")).toEqual({ t: text });
      const { end } = await session.advance([
        { kind: "result", id: 0, json: JSON.stringify({ t: text }), atMs: startMs },
      ]);
      expect(end?.kind === "returned" && JSON.parse(end.resultJson) === text).toBe(true);
      await session.close();
    });

    test("timers are asked for, fired and cleared", async () => {
      const session = await open(`const log: unknown[] = [];
        const gone = setTimeout(() => log.push("never"), 5); clearTimeout(gone); clearTimeout(gone); clearTimeout(undefined);
        setTimeout((a: string, b: string) => log.push(a + b, Date.now()), "12" as never, "x", "y"); setTimeout(() => log.push("neg"), -4);
        await new Promise((done) => setTimeout(done, 50.5)); return log;`);
      const turn = await session.advance([]);
      expect(turn.timers).toEqual([
        { id: 0, delayMs: 5, after: 0 },
        { id: 1, delayMs: 12, after: 0 },
        { id: 2, delayMs: 0, after: 0 },
        { id: 3, delayMs: 50.5, after: 0 },
      ]);
      expect(turn.clearedTimers).toEqual([0]);
      const { end } = await session.advance([
        { kind: "timer", id: 2, atMs: startMs },
        { kind: "timer", id: 1, atMs: startMs + 12 },
        { kind: "timer", id: 3, atMs: startMs + 51 },
      ]);
      expect(end).toEqual({ kind: "returned", resultJson: JSON.stringify(["neg", "xy", startMs + 12]) });
      await session.close();
    });

    test("an interval asks again each time, until it is cleared", async () => {
      const session = await open(
        "let n = 0; await new Promise<void>((done) => { const h = setInterval(() => { if (++n === 3) { clearInterval(h); done(); } }, 10); }); return n;",
      );
      let turn = await session.advance([]);
      for (let id = 0; id < 3; id += 1) turn = await session.advance([{ kind: "timer", id, atMs: startMs + 10 * id }]);
      expect(turn.end).toEqual({ kind: "returned", resultJson: "3" });
      expect(turn.clearedTimers).toEqual([3]);
      await session.close();
    });

    test("output keeps its stream and order", async () => {
      const { output } = await firstTurn(
        `console.log("a", 1, { b: [1, "x"], c: undefined }); console.warn("w"); console.info(null); console.error(new Map([["k", new Set([1n])]])); console.debug(Symbol("s"), () => 1); const o: any = {}; o.me = o; console.log(o);`,
      );
      expect(output).toEqual([
        { stream: "stdout", text: 'a 1 { b: [1, "x"], c: undefined }' },
        { stream: "stderr", text: "w" },
        { stream: "stdout", text: "null" },
        { stream: "stderr", text: 'Map(1) { "k" => Set(1) { 1n } }' },
        { stream: "stdout", text: "Symbol(s) [Function]" },
        { stream: "stdout", text: "{ me: [Circular] }" },
      ]);
    });

    test("code that waits for nothing has neither calls nor timers nor an end", async () => {
      const turn = await firstTurn("await new Promise(() => {});");
      expect([turn.calls, turn.timers, turn.output, turn.end]).toEqual([[], [], [], undefined]);
    });

    test("nothing runs after the return", async () => {
      const turn = await firstTurn(
        "Promise.resolve().then(() => null).then(() => null).then(() => tools.late()); return 1;",
      );
      expect([turn.calls, turn.end]).toEqual([[], { kind: "returned", resultJson: "1" }]);
    });
  });
}
