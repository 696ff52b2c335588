/**
 * What every runtime must do, whatever evaluates the code: turns, order, limits, determinism, and no way out for hostile code.
 * It drives the port only, so it knows nothing about processes or engines. Limits are small, so that the whole suite stays fast.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { Delivery, GuestEnd, GuestLimits, GuestSession, Runtime, Turn } from "@executor/core/ports/runtime";
import {
  absentNames,
  badResults,
  cpuHogs,
  deepCode,
  escapeAttempts,
  hostTraces,
  memoryHogs,
  patchedPrototypes,
  programStartMs as startMs,
  returnedValues,
  thrownValues,
} from "@executor/runtimes/guest/sample-guests";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";

export interface RuntimeSuiteOptions {
  /** What an endless loop may cost in a test. */
  cpuMs?: number;
}

const seed = "00112233445566778899aabbccddeeff";

export function describeRuntime(
  name: string,
  makeRuntime: () => Promise<Runtime>,
  options: RuntimeSuiteOptions = {},
): void {
  const cpuMs = options.cpuMs ?? 150;
  const limits: GuestLimits = {
    cpuMs: 3_000,
    memoryBytes: 32_000_000,
    outputBytes: 20_000,
    calls: 200,
    callInputBytes: 100_000,
    resultBytes: 200_000,
  };
  let runtime: Runtime;

  const open = async (
    code: string,
    changed: Partial<GuestLimits> = {},
    program: { seed?: string; startMs?: number } = {},
  ): Promise<GuestSession> => {
    const task = transpileTask(code);
    if (!task.ok) throw new Error(`${task.line}:${task.column} ${task.message}`);
    return runtime.open({
      taskId: "task_test",
      script: task.script,
      seed,
      startMs,
      limits: { ...limits, ...changed },
      ...program,
    });
  };
  /** Runs to the first standstill. */
  const firstTurn = async (code: string, changed: Partial<GuestLimits> = {}): Promise<Turn> => {
    const session = await open(code, changed);
    const turn = await session.advance([]);
    await session.close();
    return turn;
  };
  const endOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<GuestEnd | undefined> =>
    (await firstTurn(code, changed)).end;
  const valueOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<unknown> => {
    const end = await endOf(code, changed);
    if (end?.kind !== "returned") throw new Error(`it did not return: ${JSON.stringify(end)}`);
    return JSON.parse(end.resultJson);
  };
  const codeOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<string> => {
    const end = await endOf(code, changed);
    return end?.kind === "stopped" ? end.code : `${end?.kind}: ${JSON.stringify(end)}`;
  };

  describe(name, () => {
    beforeAll(async () => void (runtime = await makeRuntime()));
    afterAll(() => runtime.close());

    describe("turns", () => {
      test("it is available", async () => {
        expect(await runtime.availability()).toEqual({ available: true });
      });

      test("returned values come back as JSON", async () => {
        for (const [code, value] of returnedValues)
          expect({ code, value: await valueOf(code) }).toEqual({ code, value });
      });

      test("a call waits for its result, and nothing runs before the first advance", async () => {
        const session = await open("const a: { v: number } = await tools.math.double({ n: 21 }); return a.v;");
        const turn = await session.advance([]);
        expect(turn.calls).toEqual([{ id: 0, path: "math.double", inputJson: '{"n":21}', after: 0 }]);
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
          { id: 3, path: "after", inputJson: '{"name":"b"}', after: 1 },
          { id: 4, path: "after", inputJson: '{"name":"a"}', after: 2 },
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
        for (let id = 0; id < 3; id += 1)
          turn = await session.advance([{ kind: "timer", id, atMs: startMs + 10 * id }]);
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

    describe("errors", () => {
      const failure: Delivery = {
        kind: "error",
        id: 0,
        error: { code: "call.failed", message: "boom", toolPath: "a.b", status: 502, bodyJson: '{"why":["x"]}' },
        atMs: startMs,
      };

      test("an error outcome is a ToolError with everything on it", async () => {
        const session = await open(
          "try { await tools.a.b(); } catch (e: any) { return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.message, e.toolPath, e.status, e.body]; }",
        );
        await session.advance([]);
        const { end } = await session.advance([failure]);
        expect(end).toEqual({
          kind: "returned",
          resultJson: JSON.stringify([true, true, "ToolError", "call.failed", "boom", "a.b", 502, { why: ["x"] }]),
        });
        await session.close();
      });

      test("an uncaught outcome is known by identity, with the line of the call", async () => {
        for (const [code, callId] of [
          ["await tools.a.b();", 0],
          ["try { await tools.a.b(); } catch (e) { throw e; }", 0],
          ["try { await tools.a.b(); } catch (e: any) { throw new ToolError(e.message); }", undefined],
          [
            "try { await tools.a.b(); } catch (e: any) { throw Object.assign(new Error(e.message), { code: e.code }); }",
            undefined,
          ],
        ] as const) {
          const session = await open(code);
          await session.advance([]);
          const { end } = await session.advance([failure]);
          expect(end?.kind).toBe("threw");
          if (end?.kind === "threw")
            expect({ code, callId: end.callId, message: end.message, line: typeof end.line }).toEqual({
              code,
              callId,
              message: "boom",
              line: "number",
            });
          await session.close();
        }
      });

      test("whatever is thrown gets a name and a message", async () => {
        for (const [code, expected] of thrownValues) {
          const end = await endOf(code);
          expect({ code, end: end?.kind === "threw" ? [end.name, end.message] : end }).toEqual({ code, end: expected });
        }
      });

      test("an error in a timer or a microtask ends the guest", async () => {
        const session = await open(
          "setTimeout(() => { throw new TypeError('late'); }, 1); await new Promise(() => {});",
        );
        await session.advance([]);
        expect((await session.advance([{ kind: "timer", id: 0, atMs: startMs }])).end).toMatchObject({
          kind: "threw",
          name: "TypeError",
          message: "late",
        });
        expect(
          await endOf("queueMicrotask(() => { throw new TypeError('micro'); }); await new Promise(() => {});"),
        ).toMatchObject({ kind: "threw", message: "micro" });
      });

      test("an outcome for a call that is not outstanding is a divergence", async () => {
        for (const delivery of [
          { kind: "result", id: 7, json: "1", atMs: startMs },
          { kind: "timer", id: 0, atMs: startMs },
        ] as const) {
          const session = await open("await tools.a();");
          await session.advance([]);
          expect((await session.advance([delivery])).end).toMatchObject({ kind: "stopped", code: "task.diverged" });
          await session.close();
        }
      });

      test("input that is no JSON, or too large, fails in the guest and is no call", async () => {
        for (const [input, code] of [
          ["{ n: 1n }", "call.input_invalid"],
          ["(() => { const o: any = {}; o.o = o; return o; })()", "call.input_invalid"],
          ["() => 1", "call.input_invalid"],
          ["Symbol()", "call.input_invalid"],
          ["'x'.repeat(200000)", "call.input_too_large"],
        ]) {
          const turn = await firstTurn(
            `try { await tools.a.b(${input} as never); } catch (e: any) { return [e instanceof ToolError, e.code, e.toolPath]; }`,
          );
          expect({ input, calls: turn.calls.length, end: turn.end }).toEqual({
            input: input ?? "",
            calls: 0,
            end: { kind: "returned", resultJson: JSON.stringify([true, code, "a.b"]) },
          });
        }
      });

      test("a failed call that nobody awaited is told on stderr", async () => {
        const session = await open("void tools.a.b(); await tools.c(); return 1;");
        await session.advance([]);
        const turn = await session.advance([failure, { kind: "result", id: 1, json: "1", atMs: startMs }]);
        expect(turn.output).toEqual([{ stream: "stderr", text: "[nobody handled this error] ToolError: boom" }]);
      });
    });

    describe("determinism", () => {
      test("time stands still between deliveries and is UTC", async () => {
        const session = await open(
          "const t = () => [Date.now(), new Date().getTime(), performance.now(), new Date().getTimezoneOffset()]; const a = t(); for (let i = 0; i < 1e5; i++); const b = t(); await tools.x(); return [a, b, t(), String(new Date(0)).includes('GMT+0000')];",
        );
        await session.advance([]);
        const { end } = await session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs + 1234 }]);
        expect(end?.kind === "returned" && JSON.parse(end.resultJson)).toEqual([
          [startMs, startMs, 0, 0],
          [startMs, startMs, 0, 0],
          [startMs + 1234, startMs + 1234, 1234, 0],
          true,
        ]);
        await session.close();
      });

      test("the same deliveries give the same turns, one by one or all at once; another seed does not", async () => {
        const code = `const out: unknown[] = []; for (let i = 0; i < 4; i++) { const [a, b] = await Promise.all([tools.a({ r: Math.random(), i }), tools.b({ id: crypto.randomUUID() })]); out.push(a, b, Math.random(), Date.now(), [...crypto.getRandomValues(new Uint8Array(4))]); console.log(out.length, new Date()); } return out;`;
        const deliveries = Array.from({ length: 8 }, (_, id): Delivery => ({
          kind: "result",
          id,
          json: `{"n":${id}}`,
          atMs: startMs + id * 7,
        }));
        const play = async (groups: Delivery[][], program = {}) => {
          const session = await open(code, {}, program);
          const calls: unknown[] = [];
          const output: unknown[] = [];
          let end: GuestEnd | undefined;
          for (const group of groups) {
            const turn = await session.advance(group);
            calls.push(...turn.calls.map(({ id, path, inputJson }) => [id, path, inputJson]));
            output.push(...turn.output);
            end = turn.end;
          }
          await session.close();
          return { calls, output, end };
        };
        const single = await play([[], ...deliveries.map((delivery) => [delivery])]);
        expect(single.end?.kind).toBe("returned");
        expect(await play([deliveries])).toEqual(single);
        expect(await play([[], deliveries.slice(0, 3), deliveries.slice(3)])).toEqual(single);
        expect(await play([deliveries], { seed: "ff".repeat(16) })).not.toEqual(single);
      });

      test("what differs from run to run, or reaches outside, is absent", async () => {
        expect(
          await valueOf(
            `return ${JSON.stringify(absentNames)}.filter((name) => name in globalThis || typeof (globalThis as any)[name] !== "undefined")`,
          ),
        ).toEqual([]);
      });
    });

    describe("limits", () => {
      test.each(cpuHogs)("CPU time ends %s", async (code) => {
        expect(await codeOf(code, { cpuMs })).toBe("task.cpu_limit");
      });
      test.each(memoryHogs)("memory ends %s", async (code) => {
        expect(await codeOf(code)).toBe("task.memory_limit");
      });
      test.each(deepCode)("depth ends %s", async (code) => {
        expect(["task.stack_overflow", "task.memory_limit"]).toContain(await codeOf(code));
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

    describe("hostile code", () => {
      test.each(escapeAttempts)("stays inside: %s", async (code) => {
        const end =
          await endOf(`const escaped = await (async () => { try { ${code} } catch (e) { return undefined; } })();
          return typeof escaped === "function" || typeof escaped === "object" && escaped !== null ? Object.getOwnPropertyNames(escaped).join() : String(escaped);`);
        const text = end?.kind === "returned" ? String(JSON.parse(end.resultJson)) : "";
        expect(["returned", "stopped", "threw"]).toContain(String(end?.kind));
        expect(text).not.toMatch(hostTraces);
      });

      test.each(patchedPrototypes)("patches stay the guest's own problem: %s", async (code) => {
        const session = await open(`${code}; const a = await tools.x.y({ n: [1, { z: 2 }] }); return a.v;`);
        const first = await session.advance([]);
        expect(first.calls).toEqual([{ id: 0, path: "x.y", inputJson: '{"n":[1,{"z":2}]}', after: 0 }]);
        expect((await session.advance([{ kind: "result", id: 0, json: '{"v":5}', atMs: startMs }])).end).toEqual({
          kind: "returned",
          resultJson: "5",
        });
        await session.close();
      });

      test("two guests share nothing", async () => {
        await firstTurn(
          "(globalThis as any).leak = 1; (Object.prototype as any).leak = 1; (Math as any).leak = 1; (tools as any).constructor; return 1;",
        );
        expect(
          await valueOf("return [typeof (globalThis as any).leak, typeof ({} as any).leak, typeof (Math as any).leak]"),
        ).toEqual(["undefined", "undefined", "undefined"]);
      });

      test("no stack shows a path of the host", async () => {
        const text = String(
          await valueOf(
            "const all: unknown[] = [new Error('x').stack]; try { (null as any).x } catch (e: any) { all.push(e.stack) } try { tools() } catch (e: any) { all.push(e.stack) } try { new URL('no') } catch (e: any) { all.push(e.stack) } try { await tools.a(1n as never) } catch (e: any) { all.push(e.stack) } return all.join('\\n');",
          ),
        );
        expect(text).not.toMatch(/\/work|\/home|\/tmp|node_modules|\.ts\b|file:/);
      });

      test("macros and imports never reach the host", () => {
        for (const code of [
          'import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1");',
          '} import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); {',
          '}); import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); (async () => {',
        ]) {
          expect(transpileTask(code).ok).toBe(false);
        }
        expect(existsSync("/tmp/executor-pwned")).toBe(false);
      });

      test("dynamic import fails clearly", async () =>
        expect(await endOf("await import('node:fs');")).toMatchObject({
          kind: "threw",
          message: expect.stringContaining("import is not available"),
        }));
    });

    test("a closed session takes nothing more; closing twice is fine", async () => {
      const session = await open("await tools.a();");
      await session.advance([]);
      await session.close();
      await session.close();
      expect(session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs }])).rejects.toThrow();
    });

    test("many guests at once keep to themselves", async () => {
      const results = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const session = await open(`const a = await tools.get({ i: ${index} }); return a + ${index};`);
          const [call] = (await session.advance([])).calls;
          const { end } = await session.advance([
            { kind: "result", id: 0, json: String(JSON.parse(call?.inputJson ?? "{}").i * 100), atMs: startMs },
          ]);
          await session.close();
          return end?.kind === "returned" ? Number(end.resultJson) : end;
        }),
      );
      expect(results).toEqual(Array.from({ length: 40 }, (_, index) => index * 101));
    });
  });
}
