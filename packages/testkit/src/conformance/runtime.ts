/**
 * What every runtime must do, whatever evaluates the code: turns, order, limits, determinism, and no way out for hostile code.
 * It drives the port only, so it knows nothing about processes or engines. Limits are small, so that the whole suite stays fast.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { Delivery, GuestEnd, GuestLimits, GuestSession, Runtime, Turn } from "@executor/core/ports/runtime";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";

export interface RuntimeSuiteOptions {
  /** What an endless loop may cost in a test. */
  cpuMs?: number;
}

const startMs = 1_700_000_000_000;
const seed = "00112233445566778899aabbccddeeff";

export function describeRuntime(name: string, makeRuntime: () => Promise<Runtime>, options: RuntimeSuiteOptions = {}): void {
  const cpuMs = options.cpuMs ?? 150;
  const limits: GuestLimits = { cpuMs: 3_000, memoryBytes: 32_000_000, outputBytes: 20_000, calls: 200, callInputBytes: 100_000, resultBytes: 200_000 };
  let runtime: Runtime;

  const open = async (code: string, changed: Partial<GuestLimits> = {}, program: { seed?: string; startMs?: number } = {}): Promise<GuestSession> => {
    const task = transpileTask(code);
    if (!task.ok) throw new Error(`${task.line}:${task.column} ${task.message}`);
    return runtime.open({ taskId: "task_test", script: task.script, seed, startMs, limits: { ...limits, ...changed }, ...program });
  };
  /** Runs to the first standstill. */
  const firstTurn = async (code: string, changed: Partial<GuestLimits> = {}): Promise<Turn> => {
    const session = await open(code, changed);
    const turn = await session.advance([]);
    await session.close();
    return turn;
  };
  const endOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<GuestEnd | undefined> => (await firstTurn(code, changed)).end;
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
        for (const [code, value] of returnedValues) expect({ code, value: await valueOf(code) }).toEqual({ code, value });
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
        const { calls } = await firstTurn(`tools.a(); tools["b"].c(undefined); tools.d["e-f"]({ x: [1, "ä😀", null] }); tools["g.h"](7); await new Promise(() => {});`);
        expect(calls.map(({ path, inputJson }) => [path, inputJson])).toEqual([["a", "{}"], ["b.c", "{}"], ["d.e-f", '{"x":[1,"ä😀",null]}'], ["g.h", "7"]]);
      });

      test("a step of tools is no promise and no JSON", async () => {
        expect(await valueOf("return [typeof tools.a.then, typeof tools.toJSON, typeof tools.a[Symbol.iterator], typeof tools.a.b, await (async () => tools.x)() === tools.x]")).toEqual(["undefined", "undefined", "undefined", "function", true]);
      });

      test("deliveries apply in order, with microtasks in between", async () => {
        const code = `const log: string[] = [];
          const run = async (name: string) => { const v = await tools.get({ name }); log.push(name + v); await null; log.push(name + "!"); await tools.after({ name }); };
          void run("a"); void run("b"); await tools.end(); return log;`;
        const session = await open(code);
        expect((await session.advance([])).calls.map((call) => call.id)).toEqual([0, 1, 2]);
        const turn = await session.advance([{ kind: "result", id: 1, json: "1", atMs: startMs }, { kind: "result", id: 0, json: "2", atMs: startMs }]);
        expect(turn.calls).toEqual([{ id: 3, path: "after", inputJson: '{"name":"b"}', after: 1 }, { id: 4, path: "after", inputJson: '{"name":"a"}', after: 2 }]);
        const { end } = await session.advance([{ kind: "result", id: 2, json: "null", atMs: startMs }]);
        expect(end).toEqual({ kind: "returned", resultJson: '["b1","b!","a2","a!"]' });
        await session.close();
      });

      test("a first advance may bring deliveries: the program starts before them", async () => {
        const session = await open("const a = await tools.a(); const b = await tools.b(); return [a, b];");
        const turn = await session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs }, { kind: "result", id: 1, json: "2", atMs: startMs }]);
        expect(turn.calls.map(({ path, after }) => [path, after])).toEqual([["a", 0], ["b", 1]]);
        expect(turn.end).toEqual({ kind: "returned", resultJson: "[1,2]" });
        await session.close();
      });

      test("a long replay in one advance keeps its order", async () => {
        const session = await open("let sum = 0; for (let i = 0; i < 1000; i++) sum += await tools.n({ i }); return sum;", { calls: 1000 });
        const turn = await session.advance(Array.from({ length: 1000 }, (_, id): Delivery => ({ kind: "result", id, json: String(id), atMs: startMs + id })));
        expect(turn.calls.map((call) => call.after)).toEqual(Array.from({ length: 1000 }, (_, index) => index));
        expect(turn.end).toEqual({ kind: "returned", resultJson: "499500" });
        await session.close();
      });

      test("large inputs and results go through whole", async () => {
        const text = "ä😀x".repeat(250_000);
        const session = await open("const a = await tools.echo({ t: 'ä😀x'.repeat(250000) }); return a.t;", { callInputBytes: 4_000_000, resultBytes: 4_000_000 });
        const { calls } = await session.advance([]);
        expect(JSON.parse(calls[0]?.inputJson ?? "null")).toEqual({ t: text });
        const { end } = await session.advance([{ kind: "result", id: 0, json: JSON.stringify({ t: text }), atMs: startMs }]);
        expect(end?.kind === "returned" && JSON.parse(end.resultJson) === text).toBe(true);
        await session.close();
      });

      test("timers are asked for, fired and cleared", async () => {
        const session = await open(`const log: unknown[] = [];
          const gone = setTimeout(() => log.push("never"), 5); clearTimeout(gone); clearTimeout(gone); clearTimeout(undefined);
          setTimeout((a: string, b: string) => log.push(a + b, Date.now()), "12" as never, "x", "y"); setTimeout(() => log.push("neg"), -4);
          await new Promise((done) => setTimeout(done, 50.5)); return log;`);
        const turn = await session.advance([]);
        expect(turn.timers).toEqual([{ id: 0, delayMs: 5, after: 0 }, { id: 1, delayMs: 12, after: 0 }, { id: 2, delayMs: 0, after: 0 }, { id: 3, delayMs: 50.5, after: 0 }]);
        expect(turn.clearedTimers).toEqual([0]);
        const { end } = await session.advance([{ kind: "timer", id: 2, atMs: startMs }, { kind: "timer", id: 1, atMs: startMs + 12 }, { kind: "timer", id: 3, atMs: startMs + 51 }]);
        expect(end).toEqual({ kind: "returned", resultJson: JSON.stringify(["neg", "xy", startMs + 12]) });
        await session.close();
      });

      test("an interval asks again each time, until it is cleared", async () => {
        const session = await open("let n = 0; await new Promise<void>((done) => { const h = setInterval(() => { if (++n === 3) { clearInterval(h); done(); } }, 10); }); return n;");
        let turn = await session.advance([]);
        for (let id = 0; id < 3; id += 1) turn = await session.advance([{ kind: "timer", id, atMs: startMs + 10 * id }]);
        expect(turn.end).toEqual({ kind: "returned", resultJson: "3" });
        expect(turn.clearedTimers).toEqual([3]);
        await session.close();
      });

      test("output keeps its stream and order", async () => {
        const { output } = await firstTurn(`console.log("a", 1, { b: [1, "x"], c: undefined }); console.warn("w"); console.info(null); console.error(new Map([["k", new Set([1n])]])); console.debug(Symbol("s"), () => 1); const o: any = {}; o.me = o; console.log(o);`);
        expect(output).toEqual([
          { stream: "stdout", text: 'a 1 { b: [1, "x"], c: undefined }' }, { stream: "stderr", text: "w" }, { stream: "stdout", text: "null" },
          { stream: "stderr", text: 'Map(1) { "k" => Set(1) { 1n } }' }, { stream: "stdout", text: "Symbol(s) [Function]" }, { stream: "stdout", text: "{ me: [Circular] }" },
        ]);
      });

      test("code that waits for nothing has neither calls nor timers nor an end", async () => {
        const turn = await firstTurn("await new Promise(() => {});");
        expect([turn.calls, turn.timers, turn.output, turn.end]).toEqual([[], [], [], undefined]);
      });

      test("nothing runs after the return", async () => {
        const turn = await firstTurn("Promise.resolve().then(() => null).then(() => null).then(() => tools.late()); return 1;");
        expect([turn.calls, turn.end]).toEqual([[], { kind: "returned", resultJson: "1" }]);
      });
    });

    describe("errors", () => {
      const failure: Delivery = { kind: "error", id: 0, error: { code: "call.failed", message: "boom", toolPath: "a.b", status: 502, bodyJson: '{"why":["x"]}' }, atMs: startMs };

      test("an error outcome is a ToolError with everything on it", async () => {
        const session = await open("try { await tools.a.b(); } catch (e: any) { return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.message, e.toolPath, e.status, e.body]; }");
        await session.advance([]);
        const { end } = await session.advance([failure]);
        expect(end).toEqual({ kind: "returned", resultJson: JSON.stringify([true, true, "ToolError", "call.failed", "boom", "a.b", 502, { why: ["x"] }]) });
        await session.close();
      });

      test("an uncaught outcome is known by identity, with the line of the call", async () => {
        for (const [code, callId] of [["await tools.a.b();", 0], ["try { await tools.a.b(); } catch (e) { throw e; }", 0], ["try { await tools.a.b(); } catch (e: any) { throw new ToolError(e.message); }", undefined], ["try { await tools.a.b(); } catch (e: any) { throw Object.assign(new Error(e.message), { code: e.code }); }", undefined]] as const) {
          const session = await open(code);
          await session.advance([]);
          const { end } = await session.advance([failure]);
          expect(end?.kind).toBe("threw");
          if (end?.kind === "threw") expect({ code, callId: end.callId, message: end.message, line: typeof end.line }).toEqual({ code, callId, message: "boom", line: "number" });
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
        const session = await open("setTimeout(() => { throw new TypeError('late'); }, 1); await new Promise(() => {});");
        await session.advance([]);
        expect((await session.advance([{ kind: "timer", id: 0, atMs: startMs }])).end).toMatchObject({ kind: "threw", name: "TypeError", message: "late" });
        expect(await endOf("queueMicrotask(() => { throw new TypeError('micro'); }); await new Promise(() => {});")).toMatchObject({ kind: "threw", message: "micro" });
      });

      test("an outcome for a call that is not outstanding is a divergence", async () => {
        for (const delivery of [{ kind: "result", id: 7, json: "1", atMs: startMs }, { kind: "timer", id: 0, atMs: startMs }] as const) {
          const session = await open("await tools.a();");
          await session.advance([]);
          expect((await session.advance([delivery])).end).toMatchObject({ kind: "stopped", code: "task.diverged" });
          await session.close();
        }
      });

      test("input that is no JSON, or too large, fails in the guest and is no call", async () => {
        for (const [input, code] of [["{ n: 1n }", "call.input_invalid"], ["(() => { const o: any = {}; o.o = o; return o; })()", "call.input_invalid"], ["() => 1", "call.input_invalid"], ["Symbol()", "call.input_invalid"], ["'x'.repeat(200000)", "call.input_too_large"]]) {
          const turn = await firstTurn(`try { await tools.a.b(${input} as never); } catch (e: any) { return [e instanceof ToolError, e.code, e.toolPath]; }`);
          expect({ input, calls: turn.calls.length, end: turn.end }).toEqual({ input: input ?? "", calls: 0, end: { kind: "returned", resultJson: JSON.stringify([true, code, "a.b"]) } });
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
        const session = await open("const t = () => [Date.now(), new Date().getTime(), performance.now(), new Date().getTimezoneOffset()]; const a = t(); for (let i = 0; i < 1e5; i++); const b = t(); await tools.x(); return [a, b, t(), String(new Date(0)).includes('GMT+0000')];");
        await session.advance([]);
        const { end } = await session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs + 1234 }]);
        expect(end?.kind === "returned" && JSON.parse(end.resultJson)).toEqual([[startMs, startMs, 0, 0], [startMs, startMs, 0, 0], [startMs + 1234, startMs + 1234, 1234, 0], true]);
        await session.close();
      });

      test("the same deliveries give the same turns, one by one or all at once; another seed does not", async () => {
        const code = `const out: unknown[] = []; for (let i = 0; i < 4; i++) { const [a, b] = await Promise.all([tools.a({ r: Math.random(), i }), tools.b({ id: crypto.randomUUID() })]); out.push(a, b, Math.random(), Date.now(), [...crypto.getRandomValues(new Uint8Array(4))]); console.log(out.length, new Date()); } return out;`;
        const deliveries = Array.from({ length: 8 }, (_, id): Delivery => ({ kind: "result", id, json: `{"n":${id}}`, atMs: startMs + id * 7 }));
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
        expect(await valueOf(`return ${JSON.stringify(absentNames)}.filter((name) => name in globalThis || typeof (globalThis as any)[name] !== "undefined")`)).toEqual([]);
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
        expect(await codeOf("for (let i = 0; i < 100000; i++) tools.executor.echo({ i }); await new Promise(() => {});")).toBe("task.call_limit");
        expect(await codeOf("for (;;) { try { tools.a(); } catch {} }")).toBe("task.call_limit");
        const turn = await firstTurn("for (let i = 0; i < 200; i++) tools.a({ i }); await new Promise(() => {});");
        expect([turn.calls.length, turn.end]).toEqual([200, undefined]);
      });

      test("inputs of calls made at once count as memory", async () => {
        expect(await codeOf("const t = 'x'.repeat(1e6); for (;;) tools.a({ t });", { callInputBytes: 2_000_000, calls: 10_000 })).toBe("task.memory_limit");
      });

      test("output is bounded and the cut is said once", async () => {
        const { output } = await firstTurn("for (let i = 0; i < 20000; i++) console.log('line ' + i); for (let i = 0; i < 1000; i++) console.log(''); console.error('x'.repeat(1e6)); return 1;");
        expect(output.reduce((sum, line) => sum + line.text.length, 0)).toBeLessThan(limits.outputBytes + 200);
        expect(output.filter((line) => line.stream === "stderr")).toHaveLength(1);
        expect(output.at(-1)?.text).toContain("20000");
      });

      test("CPU time is counted over all turns", async () => {
        const session = await open("for (;;) { const end = 3e5; for (let i = 0; i < end; i++); await tools.x(); }", { cpuMs, calls: 5_000 });
        let turn = await session.advance([]);
        for (let id = 0; id < 5_000 && turn.end === undefined; id += 1) turn = await session.advance([{ kind: "result", id, json: "1", atMs: startMs }]);
        expect(turn.end).toMatchObject({ kind: "stopped", code: "task.cpu_limit" });
      });
    });

    describe("hostile code", () => {
      test.each(escapeAttempts)("stays inside: %s", async (code) => {
        const end = await endOf(`const escaped = await (async () => { try { ${code} } catch (e) { return undefined; } })();
          return typeof escaped === "function" || typeof escaped === "object" && escaped !== null ? Object.getOwnPropertyNames(escaped).join() : String(escaped);`);
        const text = end?.kind === "returned" ? String(JSON.parse(end.resultJson)) : "";
        expect(["returned", "stopped", "threw"]).toContain(String(end?.kind));
        expect(text).not.toMatch(hostTraces);
      });

      test.each(patchedPrototypes)("patches stay the guest's own problem: %s", async (code) => {
        const session = await open(`${code}; const a = await tools.x.y({ n: [1, { z: 2 }] }); return a.v;`);
        const first = await session.advance([]);
        expect(first.calls).toEqual([{ id: 0, path: "x.y", inputJson: '{"n":[1,{"z":2}]}', after: 0 }]);
        expect((await session.advance([{ kind: "result", id: 0, json: '{"v":5}', atMs: startMs }])).end).toEqual({ kind: "returned", resultJson: "5" });
        await session.close();
      });

      test("two guests share nothing", async () => {
        await firstTurn("(globalThis as any).leak = 1; (Object.prototype as any).leak = 1; (Math as any).leak = 1; (tools as any).constructor; return 1;");
        expect(await valueOf("return [typeof (globalThis as any).leak, typeof ({} as any).leak, typeof (Math as any).leak]")).toEqual(["undefined", "undefined", "undefined"]);
      });

      test("no stack shows a path of the host", async () => {
        const text = String(await valueOf("const all: unknown[] = [new Error('x').stack]; try { (null as any).x } catch (e: any) { all.push(e.stack) } try { tools() } catch (e: any) { all.push(e.stack) } try { new URL('no') } catch (e: any) { all.push(e.stack) } try { await tools.a(1n as never) } catch (e: any) { all.push(e.stack) } return all.join('\\n');"));
        expect(text).not.toMatch(/\/work|\/home|\/tmp|node_modules|\.ts\b|file:/);
      });

      test("macros and imports never reach the host", () => {
        for (const code of ['import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1");', '} import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); {', '}); import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-pwned", "1"); (async () => {']) {
          expect(transpileTask(code).ok).toBe(false);
        }
        expect(existsSync("/tmp/executor-pwned")).toBe(false);
      });

      test("dynamic import fails clearly", async () =>
        expect(await endOf("await import('node:fs');")).toMatchObject({ kind: "threw", message: expect.stringContaining("import is not available") }));
    });

    test("a closed session takes nothing more; closing twice is fine", async () => {
      const session = await open("await tools.a();");
      await session.advance([]);
      await session.close();
      await session.close();
      expect(session.advance([{ kind: "result", id: 0, json: "1", atMs: startMs }])).rejects.toThrow();
    });

    test("many guests at once keep to themselves", async () => {
      const results = await Promise.all(Array.from({ length: 40 }, async (_, index) => {
        const session = await open(`const a = await tools.get({ i: ${index} }); return a + ${index};`);
        const [call] = (await session.advance([])).calls;
        const { end } = await session.advance([{ kind: "result", id: 0, json: String(JSON.parse(call?.inputJson ?? "{}").i * 100), atMs: startMs }]);
        await session.close();
        return end?.kind === "returned" ? Number(end.resultJson) : end;
      }));
      expect(results).toEqual(Array.from({ length: 40 }, (_, index) => index * 101));
    });
  });
}

const returnedValues: [string, unknown][] = [
  ["return 1 + 1", 2], ["", null], ["return undefined", null], ["return null", null], ["return { a: [1, 'ä', { b: true }], c: undefined }", { a: [1, "ä", { b: true }] }],
  ["return new Date()", new Date(startMs).toISOString()], ["return await Promise.all([1, Promise.resolve(2)])", [1, 2]],
  ["enum E { A = 2, B } return E.B", 3], ["interface X { a: number } const x: X = { a: 1 }; return x satisfies X", { a: 1 }],
  ["return new URL('/p?q=1', 'https://u:p@example.com:8443/x').href", "https://u:p@example.com:8443/p?q=1"],
  ["return [...new URLSearchParams({ a: '1 2', b: 'ä&' }).entries(), String(new URLSearchParams('a=1&a=2'))]", [["a", "1 2"], ["b", "ä&"], "a=1&a=2"]],
  ["return new TextDecoder().decode(new TextEncoder().encode('aä😀'))", "aä😀"], ["return [atob(btoa('hi')), btoa('ÿ')]", ["hi", "/w=="]],
  ["const a: any = { m: new Map([[1, new Set([2])]]), d: new Date(5) }; a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, b.m.get(1).has(2), +b.d]", [true, true, true, 5]],
  ["return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())", true],
  ["let log = ''; { using a = { [Symbol.dispose]() { log += 'd'; } }; log += 'b'; } return log", "bd"],
  ["return await new Promise((done) => queueMicrotask(() => done('m')))", "m"],
];

const thrownValues: [string, [string, string]][] = [
  ["throw new RangeError('r')", ["RangeError", "r"]], ["throw 'text'", ["Error", "text was thrown"]], ["throw undefined", ["Error", "undefined was thrown"]], ["throw null", ["Error", "null was thrown"]],
  ["throw { a: 1 }", ["Error", "{ a: 1 } was thrown"]], ["throw { name: 'N', message: 'm' }", ["N", "m"]], ["throw 7n", ["Error", "7n was thrown"]],
  ["throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; }, ownKeys() { throw 3; } })", ["Error", "[unreadable] was thrown"]],
  ["class MyError extends Error { name = 'MyError' } throw new MyError('mine')", ["MyError", "mine"]], ["throw Object.defineProperty(new Error('x'), 'message', { get() { throw 1; } })", ["Error", "[unreadable] was thrown"]],
  ["await Promise.reject(new EvalError('rejected'))", ["EvalError", "rejected"]], ["(null as any).x", ["TypeError", "cannot read property 'x' of null"]],
];

const absentNames = ["fetch", "XMLHttpRequest", "WebSocket", "require", "module", "process", "Bun", "Deno", "Buffer", "global", "window", "self", "navigator", "Intl", "Temporal", "WeakRef", "FinalizationRegistry", "Atomics", "SharedArrayBuffer", "WebAssembly", "Worker", "ShadowRealm", "os", "std", "bjson", "gc", "print", "scriptArgs", "host", "__host", "importScripts"];

const cpuHogs = ["while (true) {}", "for (;;) await null;", "tools.executor.echo({}); while (true) {}", "const f = async () => { for (;;) try { await f2(); } catch {} }; const f2 = async () => { while (true); }; await f();",
  "await new Promise(() => { const spin = () => { Promise.resolve().then(spin); }; spin(); });", "/(a+)+$/.test('a'.repeat(60) + 'b'); return 1;", "new Array(2 ** 31).join('ab');", "String.raw({ raw: { length: 2 ** 53 - 1 } } as never);", "try { while (true); } finally { while (true); }",
  "JSON.stringify({ toJSON() { while (true); } }); return 1;", "return { toJSON() { while (true); } };", "throw { get message() { while (true); } };"];

const memoryHogs = ["const a = []; for (;;) a.push(new Uint8Array(1 << 20));", "const a = []; for (;;) a.push({ a: 1, b: [2] });", "let s = 'x'; for (;;) s += s;", "const a: string[] = []; for (let i = 0; ; i++) a.push(('k' + i).repeat(100));",
  "const m = new Map(); for (let i = 0; ; i++) m.set(i, String(i));", "new ArrayBuffer(2 ** 30);", "const a: unknown[] = []; try { for (;;) a.push(new Array(1000).fill(a)); } catch { for (;;) a.push([a]); }", "const f = (): any => tools.x().then(f); const a = []; for (;;) a.push(() => a);"];

const deepCode = ["const f = (): number => f() + 1; return f();", "let a: any = []; for (let i = 0; i < 200000; i++) a = [a]; return a;", "let a: any = {}; for (let i = 0; i < 200000; i++) a = { a }; await tools.x(a);",
  "return JSON.parse('['.repeat(300000) + ']'.repeat(300000));", "return eval('('.repeat(100000) + '1' + ')'.repeat(100000));", "const o: any = { get x() { return this.x; } }; return o.x;", "const p: any = new Proxy({}, { get: (_t, k) => p[k] }); return p.x;", "let a: any = []; for (let i = 0; i < 200000; i++) a = [a]; return String(a.flat(Infinity));"];

const badResults: [string, string][] = [
  ["const o: any = {}; o.o = o; return o;", "task.result_not_json"], ["return 1n", "task.result_not_json"], ["return () => 1", "task.result_not_json"], ["return Symbol('x')", "task.result_not_json"], ["return { toJSON() { throw new Error('no'); } }", "task.result_not_json"],
  ["return 'x'.repeat(300000)", "task.result_too_large"], ["return 'x'.repeat(200e6)", "task.memory_limit task.result_too_large"], ["return Array.from({ length: 40 }, () => 'ä'.repeat(5000))", "task.result_too_large"],
];

const escapeAttempts = ["return Function('return this')().process;", "return (async () => {}).constructor('return process')();", "return [].constructor.constructor('return globalThis.Bun')();", "return ({} as any).constructor.constructor('return Deno')();", "return Function('return import(\"node:fs\")')();",
  "return await import('node:child_process');", "return await import('bun');", "return await import('bun:ffi');", "return (0, eval)('require(\"fs\")');", "return eval('process.env');", "return (tools as any).constructor.constructor('return process')();", "return tools.__proto__.constructor('return process')();", "return Reflect.getPrototypeOf(tools);",
  "return (console.log as any).constructor('return process')();", "return (setTimeout as any).constructor('return process')();", "(Error as any).prepareStackTrace = (_e: any, s: any) => s; return (new Error() as any).stack.map?.((f: any) => f.getThis?.() ?? f.getFunction?.()?.constructor('return process')());", "const e: any = new Error(); Error.captureStackTrace?.(e); return e.stack;",
  "return (async function* () {}).constructor('yield process')().next();", "class A extends Array { static get [Symbol.species]() { return Function; } } return new A(1).map(() => 'process');", "return new Proxy(tools, { get: (t, k, r) => Reflect.get(t, k, r) }).constructor;", "return Object.getOwnPropertyDescriptors(tools);", "return (arguments as any).callee.caller;", "return Function('return arguments.callee.caller')();",
  "return new (globalThis as any).SharedArrayBuffer(8);", "return new (globalThis as any).WebAssembly.Module(new Uint8Array(8));", "return new (globalThis as any).ShadowRealm().evaluate('Bun');", "return new (globalThis as any).Worker('data:,1');", "return (globalThis as any).std.loadFile('/etc/passwd');", "return (globalThis as any).os.exec(['id']);",
  "return Object.getOwnPropertySymbols(globalThis).map(String);", "const t: any = tools.a; t.then = 1; return t.then;", "return (import.meta as any).url;", "return new Date().constructor.constructor('return performance.timeOrigin + process')();", "return Symbol.for('host') in globalThis;", "return (ToolError as any).constructor('return this')().process;", "return (structuredClone as any)(tools);", "(globalThis as any).__proto__ = { process: 1 }; return (globalThis as any).process.pid;",
  "return JSON.parse('{\"__proto__\":{\"polluted\":1}}').polluted ?? ({} as any).polluted;", "return (globalThis as any).Reflect.construct(Function, ['return fetch'])();", "return (crypto.randomUUID as any).constructor('return require')();", "return await Promise.resolve({ then(done: any) { done(done.constructor('return process')()); } });", "return (globalThis as any)['qjs_eval'] ?? (globalThis as any)['host_call'];"];
const hostTraces = /\b(pid|execPath|spawn|readFileSync|argv|PATH|HOME|dlopen|exitCode|root:)\b/;

const patchedPrototypes = ["Promise.prototype.then = function () { throw new Error('patched'); } as never", "JSON.stringify = () => '\"fake\"'; JSON.parse = () => ({ v: 'fake' })", "Array.prototype.push = () => { throw 1; }", "Map.prototype.get = Map.prototype.set = Map.prototype.has = Map.prototype.delete = (() => { throw 1; }) as never",
  "for (const k of ['resolve', 'reject', 'path', 'site', 'value', 'get', 'set', 'then', 'code', 'id']) Object.defineProperty(Object.prototype, k, { __proto__: null, set() { throw 1; }, configurable: true } as never)", "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = (() => { throw 1; }) as never", "Object.defineProperty = Reflect.apply = (() => { throw 1; }) as never", "(globalThis as any).Promise = class {}; (globalThis as any).Error = 1; (globalThis as any).Map = 2; (globalThis as any).JSON = 3",
  "(Array.prototype as any)[Symbol.iterator] = () => { throw 1; }", "String.prototype.slice = String.prototype.indexOf = (() => { throw 1; }) as never", "Object.defineProperty(Promise, Symbol.species, { get() { throw 1; } })", "(WeakMap.prototype as any).get = () => 99", "for (const k of Reflect.ownKeys(globalThis)) if (k !== 'tools' && k !== 'undefined' && k !== 'NaN' && k !== 'Infinity') { try { delete (globalThis as any)[k]; } catch {} }"];
