/**
 * A whole installation as real processes on a data directory of its own: a server, workers, and the Convex stand-in if asked
 * for. Made to be killed: `kill…` is SIGKILL, `start…` starts again on the same port and data. Everything ends with `stop`,
 * with the test run, or when it grows beyond what a test may take of the machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProductProcess } from "./product-process.ts";
import { processTree, rssBytes } from "./process-tree.ts";

export interface InstallationOptions {
  store?: "sqlite" | "convex";
  /** How many to start with the server. */
  workers?: number;
  /** For server and workers. */
  env?: Record<string, string>;
  /** Where the server listens; any free port otherwise. */
  port?: number;
  /** A directory to start on; it is then the caller's to remove. */
  home?: string;
}

const MAX_RSS_BYTES = 2_000_000_000;
const MEMORY_CHECK_MS = 200;
const STOP_WITHIN_MS = 12_000;

/** Quick to notice a death, and to look again. */
const HASTY = { EXECUTOR_WORKER_LEASE_MS: "600", EXECUTOR_WORKER_POLL_MS: "100", EXECUTOR_WORKER_SWEEP_MS: "100" };

export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const installation = new Installation(options);
  try {
    await installation.start();
    return installation;
  } catch (error) {
    await installation.stop();
    throw error;
  }
}

/** The environment of a process on a directory, for one that is expected to refuse to start. */
export const environmentOn = (home: string, env: Record<string, string> = {}): Record<string, string> => ({
  EXECUTOR_HOME: home,
  EXECUTOR_PORT: "0",
  ...HASTY,
  ...env,
});

export const spawnServer = (env: Record<string, string>): ProductProcess =>
  new ProductProcess({ name: "server", args: ["apps/server/src/main.ts"], env });
export const spawnWorker = (env: Record<string, string>): ProductProcess =>
  new ProductProcess({ name: "worker", args: ["apps/worker/src/main.ts"], env });
export const newHome = (): string => mkdtempSync(join(tmpdir(), "executor-e2e-"));

export class Installation {
  readonly home: string;
  readonly #options: InstallationOptions;
  readonly #all: ProductProcess[] = [];
  readonly #workers: ProductProcess[] = [];
  #server: ProductProcess | null = null;
  #standIn: ProductProcess | null = null;
  #port = 0;
  #storeEnv: Record<string, string> = {};
  #guard: ReturnType<typeof setInterval> | null = null;
  #overgrown: string | null = null;
  #peakBytes = 0;

  constructor(options: InstallationOptions) {
    this.#options = options;
    this.home = options.home ?? newHome();
    this.#port = options.port ?? 0;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get server(): ProductProcess {
    if (!this.#server) throw new Error("no server was started");
    return this.#server;
  }

  /** Those that run. */
  get workers(): ProductProcess[] {
    return this.#workers.filter((worker) => worker.isRunning);
  }

  /** Everything that any of its processes ever said. */
  get logs(): string {
    return this.#all.map((each) => each.text).join("\n");
  }

  /** The most resident memory all its processes were seen with. */
  get peakBytes(): number {
    return this.#peakBytes;
  }

  async start(): Promise<void> {
    this.#guard = setInterval(() => this.#checkMemory(), MEMORY_CHECK_MS);
    this.#guard.unref();
    if (this.#options.store === "convex") await this.#startConvex();
    await this.startServer();
    await Promise.all(Array.from({ length: this.#options.workers ?? 1 }, () => this.startWorker()));
  }

  /** On the port of the one before it, if there was one. */
  async startServer(env: Record<string, string> = {}): Promise<ProductProcess> {
    if (this.#server?.isRunning) throw new Error("the server still runs");
    const server = this.#keep(spawnServer(this.#environment({ EXECUTOR_PORT: String(this.#port), ...env })));
    this.#server = server;
    const line = await server.waitForLine(({ msg }) => msg === "server.listening");
    this.#port = Number(line["port"]);
    return server;
  }

  async startWorker(env: Record<string, string> = {}): Promise<ProductProcess> {
    const worker = this.#keep(spawnWorker(this.#environment(env)));
    this.#workers.push(worker);
    await worker.waitForLine(({ msg }) => msg === "worker.started");
    return worker;
  }

  async killServer(): Promise<void> {
    await end(this.server, "SIGKILL");
  }

  async killWorker(worker = this.workers[0]): Promise<void> {
    if (worker) await end(worker, "SIGKILL");
  }

  /** kill -9 of server and workers, then as many again on the same port and data. */
  async restart(): Promise<void> {
    const { workers } = this;
    await Promise.all([this.killServer(), ...workers.map((worker) => this.killWorker(worker))]);
    await this.startServer();
    await Promise.all(workers.map(() => this.startWorker()));
  }

  /** Fails when the installation had to be ended for its memory: no test may pass then. */
  async stop(): Promise<void> {
    if (this.#guard) clearInterval(this.#guard);
    await Promise.all(this.#all.filter((each) => each !== this.#standIn).map((each) => end(each, "SIGTERM")));
    // Last, for the others say goodbye to it.
    if (this.#standIn) await end(this.#standIn, "SIGTERM");
    if (this.#options.home === undefined) rmSync(this.home, { recursive: true, force: true });
    if (this.#overgrown !== null) throw new Error(this.#overgrown);
  }

  #keep(started: ProductProcess): ProductProcess {
    this.#all.push(started);
    return started;
  }

  #environment(env: Record<string, string>): Record<string, string> {
    return environmentOn(this.home, { ...this.#storeEnv, ...this.#options.env, ...env });
  }

  async #startConvex(): Promise<void> {
    const token = crypto.randomUUID();
    // --no-orphans: it does not look after its parent itself.
    const args = ["--no-orphans", "packages/testkit/src/convex/main.ts"];
    const standIn = this.#keep(new ProductProcess({ name: "convex", args, env: { EXECUTOR_SERVICE_TOKEN: token } }));
    this.#standIn = standIn;
    const { url } = await standIn.waitForLine((line) => typeof line["url"] === "string");
    this.#storeEnv = { CONVEX_URL: String(url), EXECUTOR_CONVEX_SERVICE_TOKEN: token };
  }

  #checkMemory(): void {
    const roots = this.#all.filter((each) => each.isRunning);
    const pids = roots.flatMap((each) => processTree(each.pid));
    const bytes = rssBytes(pids);
    this.#peakBytes = Math.max(this.#peakBytes, bytes);
    if (bytes <= MAX_RSS_BYTES) return;
    const shares = roots.map((each) => `${each.name} ${Math.round(rssBytes(processTree(each.pid)) / 1e6)} MB`);
    this.#overgrown ??= `the installation grew beyond ${MAX_RSS_BYTES / 1e6} MB and was ended: ${shares.join(", ")}`;
    for (const each of roots) each.kill("SIGKILL");
  }
}

/** A process that does not go when asked is made to, so that nothing is left behind. */
async function end(running: ProductProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  running.kill(signal);
  const late = setTimeout(() => running.kill("SIGKILL"), STOP_WITHIN_MS);
  await running.finish();
  clearTimeout(late);
}
