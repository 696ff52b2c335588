/** The real compiler, as a real process. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTypeChecker } from "./type-checker.ts";

const checker = createTypeChecker();
afterAll(() => checker.close());

const tools = `declare const tools: { readonly a: { b(input: { x: number; y?: string }): Promise<{ id: string }> } };`;
const problems = async (code: string) => {
  const result = await checker.check(code, tools);
  if (result.kind !== "checked") throw new Error(result.reason);
  return result.problems;
};

test("code that fits has no problems; await, return and the guest's globals are known", async () => {
  expect(
    await problems(`const { id } = await tools.a.b({ x: 1 });
      console.log(id.toUpperCase(), new URL("https://a.b").host, structuredClone([1]), crypto.randomUUID());
      try { await tools.a.b({ x: 2 }) } catch (error) { return error.code }
      setTimeout(() => console.warn("late"), 5);
      return id;`),
  ).toEqual([]);
});

test("problems come with the place in the author's own lines", async () => {
  const found = await problems(`const one = 1;\nawait tools.a.b({ x: "1" });\nreturn tools.a.c();`);
  expect(found.map(({ line, column, code }) => [line, column, code])).toEqual([
    [2, 19, 2322],
    [3, 16, 2339],
  ]);
  expect(found[0]?.message).toContain("'string' is not assignable to type 'number'");
});

test("ordinary JavaScript passes: what no run would die of is no problem", async () => {
  expect(
    await problems(`const out = {}; out.name = "x"; const counts = {}; for (const k of ["a"]) counts[k] = (counts[k] ?? 0) + 1;
      const list = []; list.push(1); list.push("two"); let cursor = null; cursor = "next";
      const settled = await Promise.allSettled([tools.a.b({ x: 1 })]); const ids = settled.map((each) => each.value?.id ?? each.reason);
      const age = new Date() - new Date(0); if (typeof age === "nonsense") return 0;
      const groups = Object.groupBy([1, 2], (n) => (n > 1 ? "big" : "small")); const both = new Set([1]).union(new Set([2]));
      function pick(item, key) { return item[key] } const { promise, resolve } = Promise.withResolvers(); resolve(pick({ a: 1 }, "a"));
      try { JSON.parse("{") } catch (error) { console.log(error.message, error.code) }
      using file = { [Symbol.dispose]() {} };
      return { out, ids, groups, size: both.size, text: await promise, at: [1].at(-1).toFixed(), upper: \`\${age}\`.replaceAll("a", "b") };`),
  ).toEqual([]);
});

test("what a guest does not have is a problem; files and packages of this machine are not there", async () => {
  const found = await problems(`await fetch("https://a.b");\nprocess.exit();\nconst x: Buffer = 1 as any;`);
  expect(found.map(({ line }) => line)).toEqual([1, 2, 3]);
  const imports = await problems(`type A = typeof import("node:fs"); type B = typeof import("/etc/passwd"); return 1`);
  expect(imports.map(({ code }) => code)).toEqual([2591, 2307]);
});

test("one check does not see another's code or tools", async () => {
  await problems("const leaked = 1; return leaked");
  expect(await problems("return leaked")).toHaveLength(1);
  expect(await checker.check("return tools.other.x()", "declare const tools: { other: { x(): number } };")).toEqual({
    kind: "checked",
    problems: [],
  });
  expect(await problems("return tools.other.x()")).toHaveLength(1);
});

test("types that take for ever end the compiler, not the server; the next check has a new one", async () => {
  const hasty = createTypeChecker({ timeoutMs: 700 });
  const bomb = `type N<T extends any[], D extends any[] = []> = D["length"] extends 900 ? T : N<[...T, ...T], [...D, 1]> ;
    type F<A> = A extends string ? \`\${A}\${A}\` : never;
    type G<A extends string, D extends 1[] = []> = D["length"] extends 24 ? A : G<\`\${A}\${"a" | "b" | "c"}\`, [...D, 1]>;
    const x: G<"a"> = 1 as any; const y: N<[1, 2]> = 1 as any; return x`;
  const startedAt = performance.now();
  const result = await hasty.check(bomb, tools);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
  // TypeScript may also refuse to go that deep, which is an answer too.
  if (result.kind === "unchecked") expect(result.reason).toContain("took too");
  else expect(result.problems.length).toBeGreaterThan(0);
  expect(await hasty.check("return 1", tools)).toEqual({ kind: "checked", problems: [] });
  hasty.close();
});

test("a compiler that hangs is killed in time and said so", async () => {
  const folder = mkdtempSync(join(tmpdir(), "executor-typecheck-"));
  const compilerPath = join(folder, "tsc");
  writeFileSync(compilerPath, "#!/bin/sh\nexec /bin/sleep 60\n", { mode: 0o700 });
  const hanging = createTypeChecker({ timeoutMs: 200, compilerPath });
  expect(await hanging.check("return 1", "")).toEqual({
    kind: "unchecked",
    reason: "checking the types took too long",
  });
  expect(hanging.pid()).toBeNull();
  hanging.close();
  rmSync(folder, { recursive: true });
});

test("without a compiler, and with one that cannot be started, it says that nothing was checked", async () => {
  expect(await createTypeChecker({ compilerPath: null }).check("return 1", "")).toEqual({
    kind: "unchecked",
    reason: "there is no type checker for this platform",
  });
  expect((await createTypeChecker({ compilerPath: "/nonexistent" }).check("return 1", "")).kind).toBe("unchecked");
});

test("stops when nobody needs it, has no environment, and starts again", async () => {
  const short = createTypeChecker({ idleMs: 50 });
  await short.check("return 1", tools);
  const pid = short.pid();
  if (process.platform === "linux") {
    const environment = (await Bun.file(`/proc/${pid}/environ`).text()).split("\0").filter(Boolean);
    expect(environment.toSorted()).toEqual(["GOMAXPROCS=2", "GOMEMLIMIT=160MiB"]);
  }
  await Bun.sleep(150);
  expect(short.pid()).toBeNull();
  // What was answered before needs no compiler.
  expect((await short.check("return 1", tools)).kind).toBe("checked");
  expect(short.pid()).toBeNull();
  expect((await short.check("return 2", tools)).kind).toBe("checked");
  expect(short.pid()).not.toBeNull();
  short.close();
});

test("many at once are answered one after the other, and beyond a bound not at all", async () => {
  const results = await Promise.all(
    Array.from({ length: 60 }, (_, index) => checker.check(`return ${index} + 1_000`, tools)),
  );
  expect(results.filter(({ kind }) => kind === "checked")).toHaveLength(32);
  expect(results.filter(({ kind }) => kind === "unchecked")).toHaveLength(28);
});
