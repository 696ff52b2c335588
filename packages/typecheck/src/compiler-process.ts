/**
 * One compiler (TypeScript 7, native) as a process of its own, kept warm between checks. It gets no environment, no folder of
 * ours, and sees only the files of compiler-files.ts. A check that takes too long or too much memory ends the process.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { CODE, createCompilerFiles, fileQuestions, PROJECT } from "./compiler-files.ts";
import { createRpcConnection } from "./json-rpc.ts";

export interface CompilerProblem {
  /** In UTF-16 units from the start of the code file. */
  start: number;
  code: number;
  text: string;
}

export interface CompilerProcess {
  readonly pid: number;
  isRunning(): boolean;
  residentBytes(): number;
  check(declarations: string, code: string): Promise<CompilerProblem[]>;
  kill(reason: string): void;
}

interface Diagnostic {
  fileName?: string;
  pos: number;
  code: number;
  category: number;
  text: string;
  messageChain?: Diagnostic[];
}

const ERROR = 1;

export function startCompiler(path: string): CompilerProcess {
  const files = createCompilerFiles(path);
  const child = spawn(path, ["--api", "--async", "--cwd", "/", `--callbacks=${fileQuestions.join(",")}`], {
    // A soft limit of Go's own; the watchdog stands behind it.
    env: { GOMEMLIMIT: "160MiB", GOMAXPROCS: "2" },
    cwd: "/",
    stdio: ["pipe", "pipe", "ignore"],
  });
  let isRunning = true;
  const end = (reason: string): void => {
    if (!isRunning) return;
    isRunning = false;
    child.kill("SIGKILL");
    rpc.fail(new Error(reason));
  };
  const rpc = createRpcConnection({
    write: (frame) => child.stdin.write(frame),
    serve: (method, params) => files.serve(method, params),
    onBroken: (reason) => end(reason.message),
  });
  child.stdout.on("data", (chunk: Buffer) => rpc.receive(chunk));
  child.stdin.on("error", () => end("the compiler went away"));
  child.on("error", (error) => end(`the compiler cannot be started: ${error.message}`));
  child.on("exit", () => end("the compiler ended"));
  // It must not keep a process alive that has nothing else to do.
  child.unref();

  let snapshot: { id: number; project: string } | null = null;
  // Half the time of a small check is the tools' file read again: most programs that name no tool have the same one.
  const update = async (changed: string[]): Promise<{ id: number; project: string }> => {
    const params = snapshot === null ? { openProjects: [PROJECT] } : { fileChanges: { changed } };
    if (snapshot === null) await rpc.request("initialize", null);
    const answer = (await rpc.request("updateSnapshot", params)) as { snapshot: number; projects?: { id: string }[] };
    const old = snapshot;
    snapshot = { id: answer.snapshot, project: answer.projects?.[0]?.id ?? old?.project ?? PROJECT };
    // Nobody waits for it; when the process ends first there is nothing to let go of.
    if (old) rpc.request("release", { snapshot: old.id }).catch(() => undefined);
    return snapshot;
  };

  return {
    pid: child.pid ?? 0,
    isRunning: () => isRunning,
    residentBytes: () => residentBytes(child.pid ?? 0),
    async check(declarations, code) {
      const { id, project } = await update(files.put(declarations, code));
      const ask = async (method: string): Promise<Diagnostic[]> =>
        ((await rpc.request(method, { snapshot: id, project, file: CODE })) as Diagnostic[] | null) ?? [];
      const found = await Promise.all([ask("getSyntacticDiagnostics"), ask("getSemanticDiagnostics")]);
      return found
        .flat()
        .filter(({ category, fileName }) => category === ERROR && fileName === CODE)
        .map((each) => ({ start: each.pos, code: each.code, text: textOf(each) }));
    },
    kill: end,
  };
}

/** The reason is often in the chain below the first sentence. */
function textOf({ text, messageChain }: Diagnostic, depth = 0): string {
  const more = depth < 3 ? (messageChain ?? []).slice(0, 2).map((each) => textOf(each, depth + 1)) : [];
  return [text, ...more].join(" ");
}

/** Zero where the system does not tell. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1] ?? 0) * 4_096;
  } catch {
    return 0;
  }
}
