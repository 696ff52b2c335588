import { expect, test } from "bun:test";
import { startCompiler } from "./compiler-process.ts";
import { findCompiler } from "./find-compiler.ts";

test("whichever of code and tools changed is read again, and what did not is still there", async () => {
  const compiler = startCompiler(findCompiler() ?? "");
  const tools = (name: string): string =>
    `declare const tools: { readonly ${name}: (input: { id: number }) => any };\n`;
  const found = async (name: string, code: string): Promise<number[]> =>
    (await compiler.check(tools(name), `export {};\n${code}`)).map((problem) => problem.code);
  const callA = "tools.a({ id: 1 });";
  expect(await found("a", callA)).toEqual([]);
  expect(await found("a", 'tools.a({ id: "1" });')).toEqual([2322]);
  expect(await found("a", callA)).toEqual([]);
  expect(await found("b", callA)).toEqual([2339]);
  expect(await found("b", callA)).toEqual([2339]);
  expect(await found("a", callA)).toEqual([]);
  expect(await found("b", "tools.b({ id: 1 }); return (;")).toContain(1109);
  compiler.kill("done");
});
