import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { transpileTask } from "./transpile-task.ts";

/** Runs the script here: it was written by this test. */
async function run(code: string): Promise<unknown> {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  return JSON.parse(JSON.stringify(await runInNewContext(task.script)()));
}

describe("transpileTask", () => {
  test("types go, values stay, return and await work at the top", async () => {
    expect(
      await run(
        "interface A { x: number }\nconst a: A = { x: await Promise.resolve(2) };\nreturn (a as A).x satisfies number;",
      ),
    ).toBe(2);
    expect(await run("enum E { A, B = 5 }\nconst enum C { Q = 9 }\nreturn [E.B, E[0], C.Q];")).toEqual([5, "A", 9]);
    expect(
      await run(
        "class P { constructor(private readonly n: number) {} get() { return this.n; } }\nreturn new P(3).get();",
      ),
    ).toBe(3);
    expect(await run("const id = <T,>(x: T): T => x;\nreturn id<string>('s')!;")).toBe("s");
  });

  test("nothing of this process is put into the script", () => {
    const task = transpileTask("return [process.env.NODE_ENV, typeof require, import.meta.url];");
    expect(task.ok && task.script).toContain("process.env.NODE_ENV");
  });

  test("using works, with its disposal order and a failing disposal", async () => {
    expect(
      await run(
        "const log: string[] = [];\nconst make = (n: string) => ({ [Symbol.dispose]() { log.push(n); } });\n{ using a = make('a'); using b = make('b'); using none = null; log.push('body'); }\nreturn log;",
      ),
    ).toEqual(["body", "b", "a"]);
    expect(
      await run(
        "const log: string[] = [];\n{ await using a = { async [Symbol.asyncDispose]() { await null; log.push('a'); } }; }\nreturn log;",
      ),
    ).toEqual(["a"]);
    expect(run("using a = { [Symbol.dispose]() { throw new Error('in dispose'); } };")).rejects.toThrow("in dispose");
  });

  const refused: [name: string, code: string, line: number, column: number, message: RegExp][] = [
    ["a syntax error", "const a = 1;\nconst b = ;\n", 2, 11, /Unexpected/],
    ["an import", "// first\nimport fs from 'node:fs';\nreturn fs;", 2, 8, /import is not available/],
    ["a type import", "import type { A } from 'a';", 1, 8, /import is not available/],
    ["an export", "export const a = 1;", 1, 1, /return/],
    ["a macro", 'import { w } from "m" with { type: "macro" };', 1, 8, /import is not available/],
    ["a decorator", "function d(..._: unknown[]) {}\n@d class A {}", 2, 1, /decorators/],
    ["one brace too many", "return 1\n}", 2, 2, /./],
    ["an open brace", "if (true) {", 1, 12, /./],
    ["an open comment", "return 1 /* ", 1, 1, /./],
    ["an open template", "return `abc", 1, 1, /./],
  ];
  test.each(refused)("%s is refused with its place", (_name, code, line, column, message) => {
    const task = transpileTask(code);
    if (task.ok) throw new Error(`it was accepted: ${task.script}`);
    expect(task.message).toMatch(message);
    expect(task.line).toBe(line);
    if (column > 1) expect(task.column).toBe(column);
  });

  test("code cannot close the wrapper and stand outside of it", () => {
    for (const code of [
      "} console.log(1); {",
      "} async function x() {",
      "}); console.log(1); (async () => {",
      "}, async () => {",
      "}) /* */ ; (() => {",
      "}\n)\n;(async()=>{",
      "} // \n async function q() {",
      "}); export default (async () => {",
    ]) {
      expect({ code, ok: transpileTask(code).ok }).toEqual({ code, ok: false });
    }
  });

  test("a macro import never runs, wherever it stands", () => {
    const macro =
      'import { writeFileSync } from "node:fs" with { type: "macro" }; writeFileSync("/tmp/executor-macro-ran", "1");';
    for (const code of [macro, `} ${macro} {`, `}); ${macro} (async () => {`, `}\n${macro}\nasync function y() {`])
      expect(transpileTask(code).ok).toBe(false);
    expect(existsSync("/tmp/executor-macro-ran")).toBe(false);
  });

  test("deep nesting is an error or a script, never a crash", () => {
    for (const code of [
      "(".repeat(20_000),
      `return ${"[".repeat(20_000)}${"]".repeat(20_000)}`,
      `return ${"1+".repeat(50_000)}1`,
      `return ${"a?.b:".repeat(3_000)}`,
    ])
      expect(typeof transpileTask(code).ok).toBe("boolean");
  });
});
