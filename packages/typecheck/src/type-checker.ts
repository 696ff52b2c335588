/**
 * Checks code against declarations, one check after the other, on a compiler that is started when it is needed, kept warm, and
 * stopped when nobody needed it for a while. It answers in bounded time whatever the code is: when there is no answer
 * it says so (`unchecked`), and the caller goes on with the syntax alone.
 */
import { createHash } from "node:crypto";
import { type CompilerProblem, type CompilerProcess, startCompiler } from "./compiler-process.ts";
import { findCompiler } from "./find-compiler.ts";
import { isHarmless } from "./harmless.ts";

export interface TypeProblem {
  /** Of the submitted code, from 1. */
  line: number;
  column: number;
  message: string;
  /** TypeScript's number. */
  code: number;
}
export type TypeCheck = { kind: "checked"; problems: TypeProblem[] } | { kind: "unchecked"; reason: string };

export interface TypeChecker {
  check(code: string, declarations: string): Promise<TypeCheck>;
  /** Of the process, if one runs. */
  pid(): number | null;
  close(): void;
}

export interface TypeCheckerOptions {
  /** Null: there is none. Default: the one that is installed. */
  compilerPath?: string | null;
  timeoutMs?: number;
  idleMs?: number;
  maxBytes?: number;
}

/** More waiting checks than this are told to do without. */
const MAX_WAITING = 32;
const MAX_PROBLEMS = 20;
const MAX_MESSAGE = 600;
const WATCH_MS = 50;
/** A warm process that has grown beyond this is replaced before it is used again. */
const RETIRE_BYTES = 110_000_000;
/** Answers that are kept: an assistant often sends the same program again. */
const MAX_KEPT = 200;
/** Larger declarations are not worth the wait. */
const MAX_DECLARATIONS = 4_000_000;

/** `task` is how a run wraps it too, so that a top-level `return` and `await` are right. */
const HEAD = "export {};async function task(): Promise<any> {\n";
const TAIL = "\n}\n";

export function createTypeChecker(options: TypeCheckerOptions = {}): TypeChecker {
  const { timeoutMs = 4_000, idleMs = 60_000, maxBytes = 400_000_000 } = options;
  let compiler: CompilerProcess | null = null;
  let lastCheck: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const kept = new Map<string, TypeCheck>();

  const running = (): CompilerProcess | null => {
    if (compiler?.isRunning() && compiler.residentBytes() <= RETIRE_BYTES) return compiler;
    compiler?.kill("retired");
    const path = options.compilerPath === undefined ? findCompiler() : options.compilerPath;
    return (compiler = path === null ? null : startCompiler(path));
  };

  const checkNow = async (code: string, declarations: string): Promise<TypeCheck> => {
    if (isClosed) return unchecked("the type checker is closed");
    clearTimeout(idle);
    const process = running();
    if (!process) return unchecked("there is no type checker for this platform");
    const stopWatching = watch(process, timeoutMs, maxBytes);
    try {
      const found = await process.check(declarations, `${HEAD}${code}${TAIL}`);
      return {
        kind: "checked",
        problems: placeProblems(
          code,
          found.filter((each) => !isHarmless(each)),
        ),
      };
    } catch (error) {
      process.kill("failed");
      return unchecked((error as Error).message);
    } finally {
      stopWatching();
      idle = setTimeout(() => compiler?.kill("idle"), idleMs);
      idle.unref();
    }
  };

  return {
    async check(code, declarations) {
      if (declarations.length > MAX_DECLARATIONS) return unchecked("the types of the tools it names are too long");
      const key = createHash("sha256").update(`${declarations.length}.${declarations}${code}`).digest("base64");
      const known = kept.get(key);
      if (known && !isClosed) return known;
      if (waiting >= MAX_WAITING) return unchecked("too many checks are waiting");
      waiting++;
      const check = lastCheck.then(() => checkNow(code, declarations)).finally(() => waiting--);
      lastCheck = check;
      const result = await check;
      if (result.kind === "checked") kept.set(key, result);
      for (const oldest of kept.keys()) {
        if (kept.size <= MAX_KEPT) break;
        kept.delete(oldest);
      }
      return result;
    },
    pid: () => (compiler?.isRunning() ? compiler.pid : null),
    close() {
      isClosed = true;
      clearTimeout(idle);
      compiler?.kill("closed");
    },
  };
}

const unchecked = (reason: string): TypeCheck => ({ kind: "unchecked", reason });

/** Types can be written that take for ever, or all the memory there is. */
function watch(process: CompilerProcess, timeoutMs: number, maxBytes: number): () => void {
  const tooLong = setTimeout(() => process.kill("checking the types took too long"), timeoutMs);
  const tooMuch = setInterval(() => {
    if (process.residentBytes() > maxBytes) process.kill("checking the types took too much memory");
  }, WATCH_MS);
  return () => {
    clearTimeout(tooLong);
    clearInterval(tooMuch);
  };
}

/** What lies in the wrapper is not the author's: he sees it at the end of his code. */
function placeProblems(code: string, found: readonly CompilerProblem[]): TypeProblem[] {
  const problems = found.map(({ start, code: number, text }) => {
    const at = Math.min(Math.max(start - HEAD.length, 0), code.length);
    const before = code.slice(0, at);
    return {
      line: before.split("\n").length,
      column: at - before.lastIndexOf("\n"),
      message: text.replace(/\s+/g, " ").slice(0, MAX_MESSAGE),
      code: number,
    };
  });
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column).slice(0, MAX_PROBLEMS);
}
