/**
 * All the files the compiler can see: its project, what a guest has, the declarations and the code of one check, and TypeScript's
 * own library. Everything else does not exist for it, so it reads nothing from the disk.
 */
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import guestGlobals from "./guest-globals.txt" with { type: "text" };

export const PROJECT = "/check/tsconfig.json";
export const CODE = "/check/task.ts";
const TOOLS = "/check/tools.d.ts";
const GUEST = "/check/guest.d.ts";

/**
 * Lenient where honest code of a model would trip and a run would not: null checks and implicit any are off. What is left
 * is what a run would die of: names that are not there, inputs that do not fit.
 */
const project = JSON.stringify({
  compilerOptions: {
    target: "esnext",
    lib: ["esnext"],
    module: "esnext",
    moduleDetection: "force",
    types: [],
    strict: false,
    noEmit: true,
    skipLibCheck: true,
    useUnknownInCatchVariables: false,
  },
  files: ["guest.d.ts", "tools.d.ts", "task.ts"],
});

export interface CompilerFiles {
  /** Tells which of the two are others than before: the compiler reads nothing again that is not named to it. */
  put(declarations: string, code: string): string[];
  /** Answers one question of the compiler about files. */
  serve(method: string, path: unknown): unknown;
}

/** The names of the questions, as the compiler wants to hear them. */
export const fileQuestions = ["readFile", "fileExists", "directoryExists", "getAccessibleEntries", "realpath"];

export function createCompilerFiles(compilerPath: string): CompilerFiles {
  const libFolder = dirname(compilerPath).replaceAll("\\", "/");
  const libs = new Map<string, string | null>();
  const files = new Map<string, string>([
    [PROJECT, project],
    [GUEST, guestGlobals],
    [TOOLS, ""],
    [CODE, ""],
  ]);

  const readLib = (path: string): string | null => {
    const name = basename(path);
    if (path !== `${libFolder}/${name}` || !/^lib\.[a-z0-9.]+\.d\.ts$|^lib\.d\.ts$/.test(name)) return null;
    if (!libs.has(name)) libs.set(name, readFileOrNull(path));
    return libs.get(name) ?? null;
  };
  const read = (path: string): string | null => files.get(path) ?? readLib(path);

  return {
    put(declarations, code) {
      const given = [
        [TOOLS, declarations],
        [CODE, code],
      ] as const;
      const changed = given.filter(([path, text]) => files.get(path) !== text);
      for (const [path, text] of changed) files.set(path, text);
      return changed.map(([path]) => path);
    },
    serve(method, given) {
      const path = String(given);
      switch (method) {
        case "readFile":
          return { content: read(path) };
        case "fileExists":
          return read(path) !== null;
        case "directoryExists":
          // Of ours there is none, or it would look for a package.json in each, many times.
          return path === libFolder;
        case "getAccessibleEntries":
          return { files: [], directories: [] };
        case "realpath":
          return path;
        default:
          return null;
      }
    },
  };
}

function readFileOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
