/**
 * Turns a task's TypeScript into the script a guest runs: a program whose value is one async function.
 * The source is data of an untrusted caller: macros would run in this process, so they are off; nothing may stand outside the wrapper.
 */
import { preludeVersion } from "./prelude.ts";

/** `preludeVersion`: what the script was made to run on. */
export type TranspiledTask =
  | { ok: true; script: string; preludeVersion: number }
  | { ok: false; message: string; line: number; column: number };

export function transpileTask(code: string): TranspiledTask {
  const transpiler = (shared ??= createTranspiler());
  try {
    // Code that closes the wrapper by hand fits only one of the two: after `}` one wants `)` or `,`, the other a new statement.
    transpiler.transformSync(`async function task() {\n${code}\n}`);
    return finishScript(code, transpiler.transformSync(`(async () => {\n${code}\n});`));
  } catch (error) {
    return explainFailure(code, error);
  }
}

/** It keeps nothing between two tasks, and making one costs more than using it. */
let shared: Bun.Transpiler | undefined;

function createTranspiler(): Bun.Transpiler {
  return new Bun.Transpiler({
    loader: "ts",
    target: "browser",
    macro: false as never,
    treeShaking: false,
    trimUnusedImports: false,
    deadCodeElimination: false,
    inline: false,
    define: { "process.env.NODE_ENV": "process.env.NODE_ENV" },
    tsconfig: JSON.stringify({ compilerOptions: { experimentalDecorators: false } }),
  });
}

/** Bun writes `using`, decorators and `accessor` with helpers it imports; a guest has no imports, so `using` gets its own and the rest is refused. */
function finishScript(code: string, output: string): TranspiledTask {
  const helpers = /^import \{ (.*) \} from "bun:wrap";$/m.exec(output);
  if (helpers === null) return { ok: true, script: output, preludeVersion };
  const definitions: string[] = [];
  for (const pair of (helpers[1] ?? "").split(", ")) {
    const [name = "", alias = name] = pair.split(" as ");
    const source = usingHelpers[name];
    if (source === undefined)
      return { ok: false, message: "decorators and `accessor` are not available in a task", ...findFeature(code) };
    definitions.push(`${alias} = ${source}`);
  }
  // One line for one line, so that the lines below keep their numbers.
  const script = output.replace(helpers[0], () => `const ${definitions.join(", ")};`);
  return { ok: true, script, preludeVersion };
}

/** Explicit resource management: `stack` holds [async, dispose, value] of each `using`. */
const usingHelpers: Partial<Record<string, string>> = {
  __using: `(stack, value, async) => { if (value === null || value === undefined) { if (async) stack.push([async]); return value; } const dispose = (async ? value[Symbol.asyncDispose] : undefined) ?? value[Symbol.dispose]; if (typeof dispose !== "function") throw new TypeError("the value of using has no dispose method"); stack.push([async, dispose, value]); return value; }`,
  __callDispose: `(stack, error, failed) => { const fail = (next) => { error = failed ? new SuppressedError(next, error, "an error was suppressed during disposal") : next; failed = true; }; const run = () => { for (let item = stack.pop(); item !== undefined; item = stack.pop()) { try { const done = item[1]?.call(item[2]); if (item[0]) return Promise.resolve(done).then(run, (next) => { fail(next); return run(); }); } catch (next) { fail(next); } } if (failed) throw error; }; return run(); }`,
};

function findFeature(code: string): { line: number; column: number } {
  const lines = code.split("\n");
  const line = lines.findIndex((text) => /(^|\s)@\w|\baccessor\b/.test(text));
  return { line: Math.max(line, 0) + 1, column: Math.max(lines[line]?.search(/@\w|\baccessor\b/) ?? 0, 0) + 1 };
}

function explainFailure(code: string, error: unknown): TranspiledTask {
  const first = firstProblem(error);
  if (first === undefined)
    return { ok: false, message: error instanceof Error ? error.message : String(error), line: 1, column: 1 };
  const lines = code.split("\n");
  const line = Math.min(Math.max(first.line - 1, 1), lines.length);
  const column = first.line - 1 > lines.length ? (lines.at(-1)?.length ?? 0) + 1 : Math.max(first.column, 1);
  const text = lines[line - 1] ?? "";
  return { ok: false, message: addHint(first.message, text, column), line, column };
}

function addHint(message: string, lineText: string, column: number): string {
  if (/macro/i.test(message))
    return "import is not available in a task (macros are off); what it needs comes from tools.*";
  if (/(^|[;}\s])import\b(?!\s*\()/.test(lineText.slice(0, column + 8)) && /unexpected|expected/i.test(message))
    return `${message}: import is not available in a task; what it needs comes from tools.*`;
  if (/unexpected export/i.test(message)) return `${message}: a task returns its result with \`return\``;
  return message;
}

function firstProblem(error: unknown): { message: string; line: number; column: number } | undefined {
  const candidates: unknown[] = error instanceof AggregateError ? error.errors : [error];
  for (const candidate of candidates) {
    if (typeof candidate !== "object" || candidate === null || !("message" in candidate) || !("position" in candidate))
      continue;
    const position = candidate.position as { line?: number; column?: number } | null;
    return { message: String(candidate.message), line: position?.line ?? 2, column: position?.column ?? 1 };
  }
  return undefined;
}
