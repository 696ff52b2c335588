/** Programs that mean harm, each with the codes it may end with. Lists, so that one more is one line. */
export interface Hostile {
  title: string;
  code: string;
  /** Error codes, any of them; none: it completes. */
  ends: string[];
  timeoutMs?: number;
}

const hostile = (title: string, code: string, ...ends: string[]): Hostile => ({ title, code, ends });

const CPU = "task.cpu_limit";
const MEMORY = "task.memory_limit";
const STACK = "task.stack_overflow";

export const hostileGuests: Hostile[] = [
  hostile("loops", "while (true) {}", CPU),
  hostile("loops inside a builtin", 'new Array(2 ** 31).join("ab")', CPU, MEMORY),
  hostile("loops after a call", "tools.executor.echo({}); while (true) {}", CPU),
  hostile("loops in a getter of its result", "return { get x() { while (true) {} } }", CPU),
  hostile("loops in a finally", "try { while (true) {} } finally { while (true) {} }", CPU),
  hostile("backtracks in a regular expression", '/(a+)+$/.test("a".repeat(60) + "b")', CPU),
  hostile(
    "makes microtasks without end",
    "const spin = () => { Promise.resolve().then(spin); }; spin(); await new Promise(() => {})",
    CPU,
  ),
  hostile("awaits without end", "for (;;) await null", CPU),
  hostile("fills arrays", "const a = []; for (;;) a.push(new Array(1000).fill(7))", MEMORY, CPU),
  hostile("makes small objects", "const a = []; for (;;) a.push({ a: 1, b: [2] })", MEMORY, CPU),
  hostile("doubles a string", "let s = 'x'; for (;;) s += s", MEMORY),
  hostile("keeps strings", "const a = []; for (let i = 0; ; i++) a.push(('k' + i).repeat(1000))", MEMORY, CPU),
  hostile("keeps ArrayBuffers", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))", MEMORY),
  hostile("asks for one huge ArrayBuffer", "return new ArrayBuffer(2 ** 32 - 1).byteLength", MEMORY, "task.failed"),
  hostile(
    "catches running out of memory and goes on",
    "const a = []; for (;;) try { a.push(new Uint8Array(1 << 20)); } catch { a.push([]); }",
    MEMORY,
    CPU,
  ),
  hostile("recurses", "const f = (): number => f() + 1; return f()", STACK),
  hostile("recurses through a proxy", "const p: any = new Proxy({}, { get: (_t, k) => p[k] }); return p.x", STACK),
  hostile(
    "nests its result too deeply",
    "let a: unknown = []; for (let i = 0; i < 200_000; i++) a = [a]; return a",
    STACK,
  ),
  hostile(
    "nests the input of a call too deeply",
    "let a: any = {}; for (let i = 0; i < 200_000; i++) a = { a }; await tools.executor.echo({ value: a })",
    STACK,
  ),
  hostile(
    "parses JSON that is nested too deeply",
    "return JSON.parse('['.repeat(300_000) + ']'.repeat(300_000))",
    STACK,
  ),
  hostile(
    "makes 100,000 calls at once",
    "for (let i = 0; i < 100_000; i++) tools.executor.echo({ value: i }); await new Promise(() => {})",
    "task.call_limit",
  ),
  hostile(
    "makes 100,000 calls one by one",
    "for (let i = 0; i < 100_000; i++) await tools.executor.echo({ value: i })",
    "task.call_limit",
    CPU,
    "task.timed_out",
  ),
  hostile("sends an input of 11 MB", "await tools.executor.echo({ value: 'x'.repeat(11e6) })", "call.input_too_large"),
  hostile("never settles", "await new Promise(() => {})", "task.never_settles"),
  {
    ...hostile("sleeps for ever", "for (;;) await new Promise((done) => setTimeout(done, 1e9))", "task.timed_out"),
    timeoutMs: 2_000,
  },
  hostile("returns 200 MB", "return 'x'.repeat(200e6)", MEMORY, "task.result_too_large"),
  hostile("returns 11 MB", "return 'x'.repeat(11e6)", "task.result_too_large"),
  hostile("returns a cycle", "const o: any = {}; o.o = o; return o", "task.result_not_json"),
  hostile("returns a function", "return () => 1", "task.result_not_json"),
  hostile(
    "throws something that cannot be read",
    "throw new Proxy({}, { get() { throw 1; }, ownKeys() { throw 2; } })",
    "task.failed",
  ),
  hostile(
    "sets 20,000 timers",
    "for (let i = 0; i < 20_000; i++) setTimeout(() => {}, 1); await new Promise((done) => setTimeout(done, 100))",
    "",
    CPU,
    "task.timed_out",
  ),
  hostile(
    "floods the log",
    "for (let i = 0; i < 30_000; i++) console.log('line', i, 'x'.repeat(90)); return 'done'",
    "",
  ),
  hostile(
    "nests a call and its result as deeply as the engine lets it",
    "let a: unknown = []; for (let i = 0; i < 3_000; i++) a = [a]; return await tools.executor.echo({ value: a })",
    "",
    "call.input_invalid",
    STACK,
  ),
  hostile(
    "breaks the prelude's ground",
    "for (const k of Reflect.ownKeys(globalThis)) try { delete (globalThis as any)[k]; } catch {} Object.prototype.toString = Array.prototype.push = (() => { throw 1; }) as never; return 1",
    "",
    "task.failed",
  ),
];

/** Ways to name a macro; `FILE` is a module whose function would write a file while the code is transpiled. */
export const macroImports: string[] = [
  'import { boom } from "FILE" with { type: "macro" }; return boom();',
  'import { boom } from "FILE" assert { type: "macro" }; return boom();',
  'import { boom } from "macro:FILE"; return boom();',
  '} import { boom } from "FILE" with { type: "macro" }; boom(); {',
  '}); import { boom } from "FILE" with { type: "macro" }; boom(); (async () => {',
  '}; import { boom } from "FILE" with { type: "macro" }; export const x = boom(); async function y() {',
  'import * as all from "FILE" with { type: "macro" }; return all.boom();',
  'export { boom } from "FILE" with { type: "macro" };',
];

const nest = (count: number, open: string, inside: string, close: string): string =>
  `return ${open.repeat(count)}${inside}${close.repeat(count)}`;

/** Nearly a megabyte each, and deeper than any parser's stack. */
export const parserBombs: string[] = [
  nest(400_000, "(", "1", ")"),
  nest(400_000, "[", "", "]"),
  nest(200_000, "{a:", "1", "}"),
  nest(150_000, "`${", "1", "}`"),
  nest(250_000, "a=>", "1", ""),
  nest(900_000, "!", "1", ""),
  nest(200_000, "1?", "1", ":1"),
  nest(150_000, "await ", "1", ""),
  nest(400_000, "", "a", ".b"),
  nest(180_000, "<any>", "1", ""),
  "{".repeat(900_000),
  `let a: ${"Array<".repeat(120_000)}1${">".repeat(120_000)}`,
  "function f(){".repeat(60_000) + "}".repeat(60_000),
  "class A { a = ".repeat(60_000) + "1" + "}".repeat(60_000),
];
