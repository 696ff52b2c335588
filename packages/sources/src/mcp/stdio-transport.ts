/**
 * An MCP server as a child process: one JSON message a line. It runs in a process group of its own with an environment of a few
 * allowed names, and the whole group ends with the session, also when we are killed. No shell runs it; what it says on stderr is kept short and shown to nobody.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { AppError } from "@executor/contracts/error";

export interface StdioCommand {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string | undefined;
}

const INHERITED = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TMPDIR",
  "TEMP",
  "TMP",
  "USER",
  "SystemRoot",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "PATHEXT",
  "ComSpec",
];
const KILL_AFTER_MS = 2_000;
const MAX_LINE_BYTES = 64_000_000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #command: StdioCommand;
  readonly #inherited: Readonly<Record<string, string | undefined>>;
  #child: ChildProcess | null = null;
  #watcher: ChildProcess | null = null;

  constructor(command: StdioCommand, inherited: Readonly<Record<string, string | undefined>>) {
    this.#command = command;
    this.#inherited = inherited;
  }

  start(): Promise<void> {
    const { command, args, cwd } = this.#command;
    const child = spawn(command, [...args], {
      cwd,
      env: this.#environment(),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      shell: false,
    });
    this.#child = child;
    const buffer = new ReadBuffer({ maxBufferSize: MAX_LINE_BYTES });
    child.stdout?.on("data", (chunk: Buffer) => this.#read(buffer, chunk));
    // Read and dropped: it may hold anything, and a full pipe would stop the server.
    child.stderr?.resume();
    child.stdin?.on("error", (error) => this.onerror?.(error));
    if (child.pid !== undefined) this.#watcher = watchGroup(child.pid);
    child.once("exit", () => {
      if (child.pid !== undefined) killGroup(child.pid, "SIGKILL");
      endWatcher(this.#watcher);
      this.#child = null;
      this.onclose?.();
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once("spawn", resolve);
    child.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        new AppError(
          "source.unreadable",
          `The command ${command} cannot be started (${error.code ?? "unknown"}). Is it installed and on the PATH?`,
        ),
      );
    });
    return promise;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) return Promise.reject(new AppError("egress.failed", "The MCP server's process has ended."));
    const { promise, resolve } = Promise.withResolvers<void>();
    if (stdin.write(serializeMessage(message))) resolve();
    else stdin.once("drain", resolve);
    return promise;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child?.pid) return;
    const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
    child.stdin?.end();
    killGroup(child.pid, "SIGTERM");
    const late = setTimeout(() => child.pid && killGroup(child.pid, "SIGKILL"), KILL_AFTER_MS);
    await ended;
    clearTimeout(late);
  }

  #read(buffer: ReadBuffer, chunk: Buffer): void {
    try {
      buffer.append(chunk);
      for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
        this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #environment(): Record<string, string> {
    const allowed = INHERITED.flatMap((name) => {
      const value = this.#inherited[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { ...Object.fromEntries(allowed), ...this.#command.env };
  }
}

/**
 * Ends the group when this process is killed itself and can do nothing any more: a shell that waits for the end of a pipe whose
 * other end is ours. Without a POSIX shell (Windows) a server only sees the end of its input.
 */
function watchGroup(pid: number): ChildProcess | null {
  if (process.platform === "win32") return null;
  const script = 'read -r _; kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"';
  const watcher = spawn("/bin/sh", ["-c", script, "executor-stdio-watch", String(pid)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.on("error", () => undefined);
  watcher.stdin?.on("error", () => undefined);
  return watcher;
}

/** Killed, not told: it would take the end of its input for our death. */
function endWatcher(watcher: ChildProcess | null): void {
  if (watcher?.pid !== undefined) killGroup(watcher.pid, "SIGKILL");
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
