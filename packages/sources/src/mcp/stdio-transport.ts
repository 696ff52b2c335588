/**
 * An MCP server as a child process: one JSON message a line. It runs in a process group of its own with an environment of a few
 * allowed names, and the whole group ends with the session. No shell; what it says on stderr is kept short and shown to nobody.
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
    child.once("exit", () => {
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
    // Its children may have outlived it.
    killGroup(child.pid, "SIGKILL");
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

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
