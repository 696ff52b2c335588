/**
 * Caps the tail: the one file where everything happens is where readers get lost.
 * Counts lines of a file; the length of functions is the linter's (max-lines-per-function).
 */
import { isTest, listSourceFiles, type SourceFile } from "./source-files.ts";

const MAX_LINES = 400;
/** Tests are lists and scripts stand alone: longer is still readable. */
const MAX_LINES_APART = 700;

interface Exception {
  path: string;
  maxLines: number;
  /** Date of the decision, as YYYY-MM-DD. */
  since: string;
  reason: string;
}

/** Short and dated. An entry that is no longer needed fails the check, so the list cannot rot. */
const EXCEPTIONS: Exception[] = [];

export function findOversized(files: SourceFile[], exceptions: Exception[] = EXCEPTIONS): string[] {
  const problems: string[] = [];
  for (const { path, text } of files) {
    const lines = text.split("\n").length - 1;
    const usual = isTest(path) || /^(scripts|e2e|bench)\//.test(path) ? MAX_LINES_APART : MAX_LINES;
    const exception = exceptions.find((entry) => entry.path === path);
    const max = exception?.maxLines ?? usual;
    if (lines > max) problems.push(`${path}: ${lines} lines, at most ${max}. Split it by idea.`);
    if (exception && lines <= usual) problems.push(`${path}: ${lines} lines need no exception. Remove its entry.`);
  }
  for (const { path } of exceptions) {
    if (!files.some((file) => file.path === path)) problems.push(`${path}: has an exception and does not exist.`);
  }
  return problems;
}

if (import.meta.main) {
  const problems = findOversized(await listSourceFiles());
  for (const problem of problems) console.log(problem);
  process.exit(problems.length > 0 ? 1 : 0);
}
