/**
 * Runtime `process`: each guest in an operating-system process of its own, on an engine at full speed (V8), spoken to over a Unix
 * socket. Confined by the engine's permissions, of which none are left when the guest begins, and by bubblewrap where it works.
 */
import { chmodSync, chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Runtime, RuntimeAvailability } from "@executor/core/ports/runtime";
import { preludeVersion } from "../guest/prelude.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { bundleIsolate } from "./bundle-isolate.ts";
import { findEngine } from "./find-engine.ts";
import { IsolatePool } from "./isolate-pool.ts";
import { IsolateSession } from "./isolate-session.ts";
import { findUser, type JailParts, type JailUser } from "./jail.ts";
import { findSandbox } from "./find-sandbox.ts";
import { type SessionTokenOptions, SessionTokens } from "./session-tokens.ts";

export interface ProcessRuntimeOptions {
  /** apps/isolate's main.ts. */
  isolateEntry: string;
  runDir?: string | undefined;
  maxProcesses?: number | undefined;
  warm?: number | undefined;
  idleMs?: number | undefined;
  /** EXECUTOR_ISOLATE_USER */
  user?: string | undefined;
  /** The most a guest may have; what a guest asks for below that is kept too. */
  memoryBytes: number;
  cpuMs: number;
  maxTextBytes: number;
  /** False: no bubblewrap, also where there is one. */
  bubblewrap?: boolean | undefined;
  enginePath?: string | undefined;
  /** EXECUTOR_ISOLATE_UNSANDBOXED: run guests also where neither the engine nor the system confines them. */
  allowUnconfined?: boolean | undefined;
  tokens?: SessionTokenOptions | undefined;
  log?: ((message: string) => void) | undefined;
}

export interface ProcessRuntime extends Runtime {
  readonly processIds: readonly number[];
  readonly directory: string | undefined;
  readonly tokens: SessionTokens;
}

interface Opened {
  pool: IsolatePool;
  directory: string;
  confinement: string;
}

const defaults = { maxProcesses: 32, warm: 1, idleMs: 600_000, startTimeoutMs: 15_000, stopGraceMs: 250 };
/** A JSON text can be six times as long when it is written as a JSON string. */
const escapeFactor = 6;

export function createProcessRuntime(options: ProcessRuntimeOptions): ProcessRuntime {
  const tokens = new SessionTokens(options.tokens);
  const log = options.log ?? (() => undefined);
  let opening: Promise<Opened> | undefined;
  let opened: Opened | undefined;
  let probe: Promise<RuntimeAvailability> | undefined;
  let inspection: Promise<RuntimeAvailability> | undefined;
  let closed = false;
  const open = async (): Promise<Opened> => {
    if (closed) throw new Error("the runtime is closed");
    opened = await (opening ??= openPool(options, log));
    return opened;
  };
  const runtime: ProcessRuntime = {
    id: "process",
    label: "Isolated process",
    description: "V8 at full speed in a process of its own for each task, without permissions.",
    preludeVersion,
    tokens,
    get processIds() {
      return opened?.pool.processes.map((process) => process.enginePid) ?? [];
    },
    get directory() {
      return opened?.directory;
    },
    availability: () => (probe ??= explain(open)),
    inspect: () => (inspection ??= inspect(options, log)),
    open: async (program) => {
      const { pool } = await open();
      return new IsolateSession(program, {
        tokens,
        acquire: (session) => pool.acquire(session),
        withdraw: (session) => pool.withdraw(session),
        log,
      });
    },
    close: async () => {
      closed = true;
      const current = await opening?.catch(() => undefined);
      await current?.pool.close();
      if (current !== undefined) rmSync(current.directory, { recursive: true, force: true });
    },
  };
  return runtime;
}

async function openPool(options: ProcessRuntimeOptions, log: (message: string) => void): Promise<Opened> {
  const engine = options.enginePath === undefined ? findEngine() : { path: options.enginePath };
  if ("missing" in engine) throw new Error(engine.missing);
  const user = resolveUser(options.user);
  // Our own run directory is closed to another user.
  const directory = makePrivateDirectory(user === undefined ? options.runDir : undefined, "executor-isolates-");
  if (user !== undefined) chmodSync(directory, 0o711);
  const scriptPath = join(directory, "isolate.js");
  writeFileSync(scriptPath, await bundleIsolate(options.isolateEntry), { mode: user === undefined ? 0o400 : 0o444 });
  const bare = { enginePath: engine.path, scriptPath, memoryBytes: options.memoryBytes, cpuMs: options.cpuMs, user };
  const sandbox = await findSandbox(bare, directory, options.bubblewrap ?? true);
  const jail: Omit<JailParts, "socketDirectory"> = { ...bare, ...sandbox };
  const pool = new IsolatePool({
    maxProcesses: options.maxProcesses ?? defaults.maxProcesses,
    warm: Math.min(options.warm ?? defaults.warm, options.maxProcesses ?? defaults.maxProcesses),
    idleMs: options.idleMs ?? defaults.idleMs,
    log,
    isolate: {
      jail,
      directory,
      maxLineBytes: options.maxTextBytes * escapeFactor + 1_000_000,
      startTimeoutMs: defaults.startTimeoutMs,
      stopGraceMs: defaults.stopGraceMs,
      allowUnconfined: (options.allowUnconfined ?? false) || sandbox.bubblewrap !== undefined,
      giveToUser: (path) => giveToUser(path, user),
    },
  });
  const filtered = sandbox.seccompPath === undefined ? "bubblewrap without seccomp" : "bubblewrap, seccomp";
  const around = sandbox.bubblewrap === undefined ? `no OS sandbox: ${sandbox.why}` : filtered;
  return {
    pool,
    directory,
    confinement: `engine permissions; ${around}${user === undefined ? "" : `; user ${user.name}`}`,
  };
}

function resolveUser(name: string | undefined): JailUser | undefined {
  if (name === undefined) return undefined;
  const user = findUser(name, process.getuid?.());
  if ("problem" in user) throw new Error(user.problem);
  return user;
}

/** The other user must be able to make its socket there, and we to reach it. */
function giveToUser(directory: string, user: JailUser | undefined): void {
  if (user?.kind === "root") chownSync(directory, user.uid, user.gid);
  // Not ours to give away: its name is all that protects it from others, and the tokens everything in it.
  if (user?.kind === "sudo") chmodSync(directory, 0o1733);
}

/** Starts a process, in all that confines it, and keeps it for the first guest: only that shows that it works here. */
async function explain(open: () => Promise<Opened>): Promise<RuntimeAvailability> {
  try {
    const { pool, confinement } = await open();
    await pool.warmUp();
    return { available: true, confinement };
  } catch (error) {
    return { available: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The same without a process that stays. */
async function inspect(options: ProcessRuntimeOptions, log: (message: string) => void): Promise<RuntimeAvailability> {
  let found: Opened | undefined;
  try {
    found = await openPool({ ...options, warm: 0 }, log);
    const opened = found;
    return await explain(async () => opened);
  } catch (error) {
    return { available: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await found?.pool.close();
    if (found !== undefined) rmSync(found.directory, { recursive: true, force: true });
  }
}
