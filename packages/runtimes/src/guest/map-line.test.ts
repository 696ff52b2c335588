import { describe, expect, test } from "bun:test";
import { mapLine } from "./map-line.ts";
import { transpileTask } from "./transpile-task.ts";

/** Where the marker stands in the script, mapped back, and where it really stands in the source. */
function locate(code: string, marker: string): { mapped: number | undefined; real: number } {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  const lineOf = (text: string) => text.split("\n").findIndex((line) => line.includes(marker)) + 1;
  return { mapped: mapLine(code, task.script, lineOf(task.script)), real: lineOf(code) };
}

const plain = "const a = 1;\nconst b = 2;\nthrow new Error(`mark` + a + b);";
const typed = `interface Issue {
  id: number;
  title: string;
  nested: { id: number; title: string }[];
}

// mark is not here, but id and title are
type Pick2<T> = { [K in keyof T]: T[K] };

/* a longer
   comment about const title */
const list: Issue[] = await tools.github.list({ id: 1 } as { id: number });


const title: string = list[0]!.title as string;
function show<T extends Issue>(issue: T, title: string): string {
  return issue.title + title;
}
const id = show(list[0] as Issue, title); // the id
throw new Error("mark " + id);`;
const enums = `enum Color { Red, Green = "g", Blue = 4 }
const enum Size { S = 1, L }
abstract class Base<T> {
  constructor(private readonly value: T, public name?: string) {}
  abstract run(): Promise<T>;
  get(): T { return this.value; }
}
class Real extends Base<number> {
  declare hidden: string;
  async run(): Promise<number> {
    const red: Color = Color.Red;
    if (red === Color.Red)
      throw new RangeError("mark" + Size.L);
    return this.get();
  }
}
return new Real(1).run();`;
const templates =
  "const text = `first\nsecond ${1 + 1}\n  // no comment\nthird ${`inner\n${'deep'}`}`;\n\n\nconst other = 'it is // not a comment';\nthrow new Error('mark' + text + other);";
const objects =
  "const input = { a: 1, b: { c: [1, 2, 3], d: 'x' }, e: (x: number) => x };\nconst chain = [1, 2, 3]\n  .map((x) => x + 1)\n  .filter((x) => x > 1)\n  .join('-');\nif (!chain) return null; else\n  throw new Error('mark' + chain + input.a);";

describe("mapLine", () => {
  test.each([
    ["plain code", plain],
    ["types, interfaces, comments, blank lines", typed],
    ["enums and classes", enums],
    ["templates and strings", templates],
    ["objects and chains", objects],
  ])("finds the line in %s", (_name, code) => {
    const { mapped, real } = locate(code, "mark");
    expect(mapped).toBe(_name.startsWith("types") ? 20 : real);
  });

  test("repeated code is told apart by what stands around it", () => {
    const code = Array.from(
      { length: 200 },
      (_, index) =>
        `const v${index}: number = (await tools.get({ i: ${index} }) as any).v;\n\nif (v${index} < 0) throw new Error("negative");`,
    ).join("\n");
    const task = transpileTask(code);
    if (!task.ok) throw new Error(task.message);
    const lines = task.script.split("\n");
    for (const index of [0, 50, 123, 199]) {
      const at = lines.findIndex((line) => line.includes(`v${index} < 0`));
      expect(mapLine(code, task.script, at + 1)).toBe(index * 3 + 3);
      expect(mapLine(code, task.script, at + 2)).toBe(index * 3 + 3);
    }
  });

  test("a line beyond the script, and code too large to align, have no answer", () => {
    expect(mapLine("return 1", "async () => {\n  return 1;\n};", 99)).toBeUndefined();
    expect(mapLine("x".repeat(300_001), "x", 1)).toBeUndefined();
  });

  test("the largest code it accepts stays fast", () => {
    const code = Array.from(
      { length: 8_000 },
      (_, index) => `const a: Record<string, number> = await f(x);// ${index % 7}`,
    )
      .join("\n")
      .slice(0, 299_000);
    const script = code.replaceAll(": Record<string, number>", "").replaceAll(/\/\/.*/g, ";");
    const startedAt = performance.now();
    mapLine(code, script, 4_000);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
