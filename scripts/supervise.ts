/**
 * Keeps a few child processes running: restarts one that ends, with back-off; ends all of them together.
 * It knows nothing about what they are, and never ends a process it did not start.
 *
 * A child is running, waiting for its restart, or stopped. Only `stop` stops it, and from then on nothing restarts.
 */
import { watchParent } from "./parent.ts";

/** The child cannot work with this configuration (EX_CONFIG of sysexits): starting it again would not help. */
const EXIT_CONFIGURATION = 78;
const STOP_WITHIN_MS = 15_000;
const SIGNAL_RACE_MS = 50;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MAX_MS = 10_000;
/** A child that ran this long was healthy: its next failure is a new one. */
const HEALTHY_AFTER_MS = 30_000;

export interface ChildSpec {
  name: string;
  /** Arguments of Bun: a file, with flags before it if needed. */
  args: string[];
  env?: Record<string, string>;
  /** Variables it must not see. */
  without?: string[];
  /** Sees every line of output. The lines are passed through unchanged either way. */
  onLine?: (line: string) => void;
}

interface Running {
  spec: ChildSpec;
  process?: Bun.Subprocess;
}

/** Runs the children until a signal, the death of the parent, or a configuration error. Resolves with the exit code. */
export async function supervise(specs: ChildSpec[]): Promise<number> {
  const children: Running[] = specs.map((spec) => ({ spec }));
  const ending = Promise.withResolvers<number>();
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => ending.resolve(0));
  watchParent(() => ending.resolve(0));

  const loops = children.map((child) => keepRunning(child, stopping.signal, ending.resolve));
  const code = await ending.promise;
  stopping.abort();
  const killed = await stopAll(children);
  await Promise.all(loops);
  return code === 0 && killed ? 1 : code;
}

/** Milliseconds to wait before the restart that follows this many failures in a row: 500, 1000, 2000 ... 10000. */
export function backoffMs(failures: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.max(0, failures - 1));
}

async function keepRunning(child: Running, stopping: AbortSignal, end: (code: number) => void): Promise<void> {
  let failures = 0;
  while (!stopping.aborted) {
    const startedAt = Date.now();
    child.process = spawnChild(child.spec);
    const code = await child.process.exited;
    // Ctrl-C reaches the child and us at the same moment; wait for our own signal before calling it a crash.
    await sleepUnlessAborted(SIGNAL_RACE_MS, stopping);
    if (stopping.aborted) return;
    if (code === EXIT_CONFIGURATION) return end(code);
    failures = Date.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
    const waitMs = backoffMs(failures);
    report("supervisor.restarting", { child: child.spec.name, code, signal: child.process.signalCode, waitMs });
    await sleepUnlessAborted(waitMs, stopping);
  }
}

function spawnChild(spec: ChildSpec): Bun.Subprocess {
  const output = spec.onLine ? "pipe" : "inherit";
  const child = Bun.spawn([process.execPath, ...spec.args], {
    cwd: `${import.meta.dir}/..`,
    // Each child watches this pid and ends itself when we are killed without a chance to tell it.
    env: { ...withoutVariables(spec.without), ...spec.env, EXECUTOR_PARENT_PID: String(process.pid) },
    stdio: ["ignore", output, output],
  });
  if (spec.onLine) {
    void passThrough(child.stdout as ReadableStream<Uint8Array>, process.stdout, spec.onLine);
    void passThrough(child.stderr as ReadableStream<Uint8Array>, process.stderr, spec.onLine);
  }
  return child;
}

function withoutVariables(names: readonly string[] = []): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.includes(name)));
}

async function passThrough(
  from: ReadableStream<Uint8Array>,
  to: NodeJS.WriteStream,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of from) {
    // Wait for a slow reader instead of keeping its backlog in memory.
    if (!to.write(chunk)) await new Promise((resolve) => to.once("drain", resolve));
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  }
}

/** True if a child did not end by itself and had to be killed. */
async function stopAll(children: Running[]): Promise<boolean> {
  const running = children.flatMap((child) => child.process ?? []).filter((child) => child.exitCode === null);
  for (const child of running) child.kill("SIGTERM");
  const ended = Promise.all(running.map((child) => child.exited)).then(() => "ended" as const);
  if ((await Promise.race([ended, Bun.sleep(STOP_WITHIN_MS)])) === "ended") return false;
  for (const child of running) child.kill("SIGKILL");
  await ended;
  report("supervisor.killed", { afterMs: STOP_WITHIN_MS });
  return true;
}

/** The same shape as the logs of the children, so that one reader can read the whole stream. */
function report(msg: string, fields: Record<string, unknown>): void {
  console.error(JSON.stringify({ time: new Date().toISOString(), level: "warn", msg, ...fields }));
}

function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
