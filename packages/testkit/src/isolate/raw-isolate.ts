/** A real isolate, spoken to byte by byte: for what a healthy host never says. */
import { closeSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { bundleIsolate } from "@executor/runtimes/process/bundle-isolate";
import { findEngine } from "@executor/runtimes/process/find-engine";
import { jailCommand } from "@executor/runtimes/process/jail";
import { makePrivateDirectory } from "@executor/runtimes/private-directory";
import { guestLimits, isolateEntry } from "./isolate-entry.ts";

type Message = Record<string, unknown> & { error?: { code: number; message: string }; result?: unknown };

const maxWaitMs = 10_000;

export class RawIsolate {
  readonly token = "token-of-the-process";
  readonly maxLineBytes = 200_000;
  readonly #directory = makePrivateDirectory(undefined, "executor-raw-");
  readonly output: Lines;
  readonly child: Subprocess<"pipe", "pipe", "pipe">;
  readonly #clients: RawClient[] = [];

  static async open(): Promise<RawIsolate> {
    const isolate = new RawIsolate(await bundleIsolate(isolateEntry));
    await isolate.output.next();
    return isolate;
  }

  private constructor(program: string) {
    const engine = findEngine();
    if ("missing" in engine) throw new Error(engine.missing);
    const scriptPath = join(this.#directory, "isolate.js");
    const socketDirectory = join(this.#directory, "1");
    writeFileSync(scriptPath, program);
    mkdirSync(socketDirectory, { mode: 0o700 });
    const { command, env, socketPath } = jailCommand({
      enginePath: engine.path,
      scriptPath,
      socketDirectory,
      memoryBytes: guestLimits.memoryBytes,
      cpuMs: guestLimits.cpuMs,
      bubblewrap: undefined,
      setpriv: undefined,
      seccompPath: undefined,
      user: undefined,
    });
    this.child = Bun.spawn(command, { env, stdio: ["pipe", "pipe", "pipe", "pipe"], detached: true });
    const lifeline = this.child.stdio[3];
    if (typeof lifeline === "number") void this.child.exited.then(() => closeSync(lifeline));
    this.output = new Lines();
    void this.#read();
    this.child.stdin.write(`${JSON.stringify({ socketPath, token: this.token, maxLineBytes: this.maxLineBytes })}\n`);
    void this.child.stdin.flush();
  }

  get socketPath(): string {
    return join(this.#directory, "1", "s");
  }

  modeOf(path: string): string {
    return (statSync(path).mode & 0o777).toString(8);
  }

  async connect(): Promise<RawClient> {
    const client = new RawClient(this.token);
    client.socket = await Bun.connect({
      unix: this.socketPath,
      socket: { data: (_socket, chunk) => client.lines.push(chunk), close: () => client.lines.end() },
    });
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.end();
    this.child.kill("SIGKILL");
    await this.child.exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #read(): Promise<void> {
    for await (const chunk of this.child.stdout) this.output.push(chunk);
    this.output.end();
  }
}

export class RawClient {
  socket!: { write(bytes: string | Uint8Array): number; end(): void; flush?(): void };
  readonly lines = new Lines();
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  bytes(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  send(message: Record<string, unknown>): void {
    this.bytes(`${JSON.stringify({ jsonrpc: "2.0", token: this.#token, ...message })}\n`);
  }

  async ask(message: Record<string, unknown>): Promise<Message> {
    this.send(message);
    return await this.next();
  }

  next(): Promise<Message> {
    return this.lines.next();
  }

  /** Runs a script; the run's token is `session`. */
  run(script: string, changed: Record<string, unknown> = {}): void {
    const params = {
      runId: "run_1",
      taskId: "task_1",
      sessionToken: "session",
      script: `(async () => { ${script} });`,
      seed: "0".repeat(32),
      startMs: 0,
      limits: guestLimits,
      ...changed,
    };
    this.send({ id: "run", method: "guest.run", params });
  }
}

/** Lines as they come, parsed; `next` waits for one, and is undefined-free: the end of the stream is an error. */
class Lines {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #ready: Message[] = [];
  #waiting: PromiseWithResolvers<Message>[] = [];
  isOver = false;

  push(chunk: Uint8Array): void {
    const parts = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) {
      const message = JSON.parse(part) as Message;
      const waiter = this.#waiting.shift();
      if (waiter === undefined) this.#ready.push(message);
      else waiter.resolve(message);
    }
  }

  end(): void {
    this.isOver = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(new Error("the stream ended"));
  }

  next(): Promise<Message> {
    const ready = this.#ready.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.isOver) return Promise.reject(new Error("the stream ended"));
    const waiter = Promise.withResolvers<Message>();
    this.#waiting.push(waiter);
    const timer = setTimeout(() => waiter.reject(new Error("nothing came")), maxWaitMs);
    return waiter.promise.finally(() => clearTimeout(timer));
  }
}
