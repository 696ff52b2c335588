/** Processes of the benchmark: started with their log read line by line, and never left behind, however the benchmark ends. */
import { readFileSync } from "node:fs";

export interface LogLine {
  msg: string;
  port?: number;
}

export interface Child {
  pid: number;
  /** Resolves with the first line that has this message. */
  said(msg: string): Promise<LogLine>;
  stop(): Promise<void>;
}

const STOP_WITHIN_MS = 12_000;
const living = new Set<{ kill(signal: "SIGKILL"): void }>();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export function startChild(script: string, options: { args?: string[]; env?: Record<string, string> } = {}): Child {
  const { args = [], env = {} } = options;
  const child = Bun.spawn([process.execPath, script, ...args], {
    env: { ...baseEnv(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  living.add(child);
  const lines = new LogLines();
  void lines.read(child.stdout);
  void child.exited.then((code) => {
    living.delete(child);
    lines.fail(new Error(`${script} ended with ${code ?? child.signalCode}`));
  });
  return {
    pid: child.pid,
    said: (msg) => lines.said(msg),
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}

/** Nothing of whoever runs the benchmark may change what it measures. */
function baseEnv(): Record<string, string> {
  const kept = ["PATH", "HOME", "TMPDIR", "LANG"];
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}

class LogLines {
  readonly #seen = new Map<string, LogLine>();
  readonly #waiting = new Map<string, PromiseWithResolvers<LogLine>>();
  #failure: Error | undefined;

  async read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of stream) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(line);
    }
  }

  said(msg: string): Promise<LogLine> {
    const seen = this.#seen.get(msg);
    if (seen) return Promise.resolve(seen);
    if (this.#failure) return Promise.reject(this.#failure);
    const waiting = this.#waiting.get(msg) ?? Promise.withResolvers<LogLine>();
    this.#waiting.set(msg, waiting);
    return waiting.promise;
  }

  fail(error: Error): void {
    this.#failure = error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }

  #take(text: string): void {
    // Most lines tell of requests and runs; only what is waited for is worth the parsing.
    if (!/"msg":"(server|worker)\./.test(text)) return;
    const line = JSON.parse(text) as LogLine;
    if (!this.#seen.has(line.msg)) this.#seen.set(line.msg, line);
    this.#waiting.get(line.msg)?.resolve(line);
    this.#waiting.delete(line.msg);
  }
}

/** Proportional set size of processes and all below them, in MB. Shrinks when anybody else on the machine runs Bun, too. */
export function readTreePssMb(pids: readonly number[]): number {
  return listTree(pids).reduce((sum, pid) => sum + readRollupKb(pid, "Pss"), 0) / 1024;
}

/** The same as if nobody else ran Bun: what each has to itself, and what they share once (the most that one of them shares). */
export function readTreeAloneMb(pids: readonly number[]): number {
  const tree = listTree(pids);
  const own = tree.reduce(
    (sum, pid) => sum + readRollupKb(pid, "Private_Clean") + readRollupKb(pid, "Private_Dirty"),
    0,
  );
  const shared = Math.max(
    0,
    ...tree.map((pid) => readRollupKb(pid, "Shared_Clean") + readRollupKb(pid, "Shared_Dirty")),
  );
  return (own + shared) / 1024;
}

/** CPU time of processes and all below them so far, those that have ended included, in ms. */
export function readTreeCpuMs(pids: readonly number[]): number {
  const ticksPerSecond = 100;
  const ticks = listTree(pids).map((pid) => /\) (.*)$/s.exec(readOrEmpty(`/proc/${pid}/stat`))?.[1]?.split(" ") ?? []);
  return (
    (ticks.reduce((sum, fields) => sum + fields.slice(11, 15).reduce((own, field) => own + Number(field), 0), 0) *
      1_000) /
    ticksPerSecond
  );
}

function listTree(pids: readonly number[]): number[] {
  const parents = readParents();
  const isBelow = (pid: number): boolean => pids.includes(pid) || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  return [...parents.keys()].filter(isBelow);
}

function readParents(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const name of new Bun.Glob("[0-9]*").scanSync({ cwd: "/proc", onlyFiles: false })) {
    const stat = readOrEmpty(`/proc/${name}/stat`);
    const parent = /^\d+ \(.*\) \S (\d+)/s.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

function readRollupKb(
  pid: number,
  field: "Pss" | "Private_Clean" | "Private_Dirty" | "Shared_Clean" | "Shared_Dirty",
): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
