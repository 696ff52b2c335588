/**
 * Code against the tools its caller may use, before anything runs: what does not fit, where, and what would. When the types cannot
 * be checked it says so and leaves it at the syntax.
 */
import type { Diagnostic, TypecheckResult } from "@executor/contracts/typecheck";
import { nearestVisible, type ToolView } from "@executor/core/tools/describe-tools";
import type { TypeProblem } from "@executor/typecheck/type-checker";
import type { AppDeps } from "../deps.ts";
import { type Declared, declareMentioned } from "./declare-tools.ts";
import { findMentions, type Mention, withPlainNames } from "./find-mentions.ts";

/** A hint that is longer than this is not read. */
const MAX_SIGNATURE = 400;
/** Looking for names that look alike goes over the whole catalog. */
const MAX_NEAREST = 5;
/** How far behind a tool's name its arguments may be wrong. */
const CALL_REACH = 3_000;

export async function typecheckCode(
  { typeChecker }: Pick<AppDeps, "typeChecker">,
  view: ToolView,
  code: string,
): Promise<TypecheckResult> {
  const found = findMentions(code);
  const declared = await declareMentioned(view, code, found);
  const result = await typeChecker.check(withPlainNames(code, found), declared.text);
  if (result.kind === "unchecked")
    return { ok: true, checked: "syntax", diagnostics: [], notes: [`Types were not checked: ${result.reason}.`] };
  const diagnostics = result.problems.map((problem, index) =>
    explain(problem, code, view, declared, found.mentions, index < MAX_NEAREST),
  );
  return { ok: diagnostics.length === 0, checked: "types", diagnostics, notes: declared.notes };
}

function explain(
  { line, column, message, code: number }: TypeProblem,
  code: string,
  view: ToolView,
  declared: Declared,
  mentions: readonly Mention[],
  isNear: boolean,
): Diagnostic {
  const at = offsetOf(code, line, column);
  const unknown = declared.unknown.find(({ start, end }) => start <= at && at <= end);
  if (unknown) {
    const path = unknown.chain.join(".");
    const nearest = isNear ? nearestVisible(view, path) : [];
    return {
      line,
      column,
      message: `There is no tool ${path.slice(0, 200)}.`,
      hint:
        nearest.length > 0
          ? `Nearest: ${nearest.map((name) => `tools.${name}`).join(", ")}.`
          : "Find tools with `await tools.discover({ query })`.",
    };
  }
  const hint = hintFor(number, message, at, declared, mentions);
  return { line, column, message, ...(hint !== null && { hint }) };
}

const NO_SUCH_NAME = [2304, 2552, 2580, 2584, 2591];
const ABOUT_ARGUMENTS = [2322, 2345, 2353, 2561, 2554, 2741, 2739, 2740, 2769];

function hintFor(
  number: number,
  message: string,
  at: number,
  declared: Declared,
  mentions: readonly Mention[],
): string | null {
  if (NO_SUCH_NAME.includes(number) && /'(fetch|XMLHttpRequest|process|require|Buffer|Bun|Deno|fs)'/.test(message))
    return "A task has no network, files or process of its own; what it needs comes from tools.*.";
  if (number === 2307) return "A task cannot import; what it needs comes from tools.*.";
  if (!ABOUT_ARGUMENTS.includes(number)) return null;
  const call = mentions.findLast(({ start, end }) => start <= at && at - end < CALL_REACH);
  const path = call?.chain.join(".");
  const signature = path === undefined ? undefined : declared.signatures.get(path);
  return signature === undefined ? null : `tools.${path} is ${signature.slice(0, MAX_SIGNATURE)}`;
}

function offsetOf(code: string, line: number, column: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed++) at = code.indexOf("\n", at) + 1;
  return at + column - 1;
}

/** For people and models, one line each. */
export const writeDiagnostic = ({ line, column, message, hint }: Diagnostic): string =>
  `${line}:${column} ${message}${hint === undefined ? "" : ` ${hint}`}`;
