/**
 * One isolate as its host sees it, from spawn to death. It serves one guest and is never used again.
 *
 *   starting   spawned; told over stdin where to listen; says on stdout that it does; connected; asked what it may still do
 *   ready      warm: waits for its guest
 *   taken      runs its guest
 *   dead       gone, its socket and token too; entered from everywhere, once
 */
import { randomBytes } from "node:crypto";
import { closeSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type IsolateMessage, isolateProtocol, type IsolatePong } from "@executor/contracts/isolate-rpc";
import type { Subprocess } from "bun";
import { LineReader } from "../rpc/line-reader.ts";
import { readMessage, writeMessage } from "../rpc/rpc-message.ts";
import { IsolateLink } from "./isolate-link.ts";
import { jailCommand, type JailParts } from "./jail.ts";
import { findEnginePid } from "./process-meter.ts";
import { type MeterBase, readMeterBase } from "./guest-meter.ts";
import { killIsolate } from "./kill-isolate.ts";

export interface IsolateSettings {
  jail: Omit<JailParts, "socketDirectory">;
  /** The private directory of the runtime; each process gets its own inside. */
  directory: string;
  maxLineBytes: number;
  startTimeoutMs: number;
  /** Between cancel, SIGTERM and SIGKILL. */
  stopGraceMs: number;
  /** It may say that its engine still grants it something: something else confines it, or nobody minds. */
  allowUnconfined: boolean;
  giveToUser(directory: string): void;
}

export interface IsolateDeath {
  reason: string;
  exitCode: number | null;
  signal: string | null;
  stderr: string;
}

/** Whoever has taken the process for its guest. */
export interface IsolateOwner {
  /** False: the token is not one of this run any more. */
  accepts(token: string): boolean;
  message(message: IsolateMessage): void;
  died(death: IsolateDeath): void;
}

type State = "starting" | "ready" | "taken" | "dead";

const pingId = "ping";
const shutdownId = "shutdown";
let nextNumber = 1;

export class IsolateProcess {
  state: State = "starting";
  /** Read while nobody waits for it. */
  base: MeterBase = { cpuMs: 0, bytes: 0 };
  readonly #settings: IsolateSettings;
  readonly #directory: string;
  readonly #token = randomBytes(32).toString("base64url");
  readonly #process: Subprocess<"pipe", "pipe", "pipe"> | undefined;
  readonly #opened = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<IsolateDeath>();
  #link: IsolateLink | undefined;
  #owner: IsolateOwner | undefined;
  #enginePid: number | undefined;
  #stderr = "";
  #reason = "";
  #startTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(settings: IsolateSettings) {
    this.#settings = settings;
    this.#directory = join(settings.directory, String(nextNumber++));
    this.#opened.promise.catch(() => undefined);
    try {
      mkdirSync(this.#directory, { mode: 0o700 });
      settings.giveToUser(this.#directory);
      this.#process = this.#spawn();
      this.#startTimer = setTimeout(() => this.kill("it did not get ready in time"), settings.startTimeoutMs);
    } catch (error) {
      // A missing binary or directory: an answer, not an exception in some event handler.
      this.#process = undefined;
      this.#end({ reason: `it could not be started: ${messageOf(error)}`, exitCode: null, signal: null, stderr: "" });
    }
  }

  /** Resolves when it is warm; rejects when it died before. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  get gone(): Promise<IsolateDeath> {
    return this.#gone.promise;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The process that runs the guest, which may be a child of the one that was spawned. */
  get enginePid(): number {
    // Before it is connected, the wrappers may still be about to start it.
    return this.#enginePid ?? findEnginePid(this.pid);
  }

  get token(): string {
    return this.#token;
  }

  /** Not to be given to anybody else. */
  claim(): void {
    if (this.state !== "ready") throw new Error("the process is not free");
    this.state = "taken";
  }

  take(owner: IsolateOwner): void {
    this.#owner = owner;
  }

  send(lines: string): void {
    if (this.state !== "dead") this.#link?.send(lines);
  }

  /** Asks, then tells, then forces. Resolves when the process is gone: a stop that was acknowledged is not a stop that was done. */
  async stop(cancel?: string): Promise<void> {
    if (this.state === "dead") return;
    this.#reason ||= "it was stopped";
    this.send(
      cancel ?? writeMessage({ kind: "request", id: shutdownId, method: "shutdown", params: {}, token: this.#token }),
    );
    if (await this.#isGoneWithin(this.#settings.stopGraceMs)) return;
    killIsolate(this.#process, this.enginePid, "SIGTERM", this.#settings.jail.user);
    if (await this.#isGoneWithin(this.#settings.stopGraceMs)) return;
    this.kill("it was stopped by force");
    await this.gone;
  }

  kill(reason: string): void {
    if (this.state === "dead") return;
    this.#reason = reason;
    killIsolate(this.#process, this.enginePid, "SIGKILL", this.#settings.jail.user);
  }

  #spawn(): Subprocess<"pipe", "pipe", "pipe"> {
    const { command, env, socketPath, hasLifeline } = jailCommand({
      ...this.#settings.jail,
      socketDirectory: this.#directory,
    });
    const child = Bun.spawn(command, {
      cwd: this.#directory,
      env,
      stdio: hasLifeline ? ["pipe", "pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe"],
      // A group of its own, so that a signal to the group ends all of it and nothing else.
      detached: true,
    });
    child.unref();
    const lifeline = child.stdio[3];
    if (typeof lifeline === "number") void child.exited.then(() => closeSync(lifeline));
    const start = { socketPath, token: this.#token, maxLineBytes: this.#settings.maxLineBytes };
    child.stdin.write(`${JSON.stringify(start)}\n`);
    void Promise.resolve(child.stdin.flush()).catch(() => undefined);
    const read = Promise.all([this.#readStdout(child), this.#readStderr(child)]);
    void Promise.all([child.exited, read.catch(() => undefined)]).then(() =>
      this.#end({
        reason: this.#reason || "it ended by itself",
        exitCode: child.exitCode,
        signal: child.signalCode === null ? null : String(child.signalCode),
        stderr: this.#stderr.trim(),
      }),
    );
    return child;
  }

  async #readStdout(child: Subprocess<"pipe", "pipe", "pipe">): Promise<void> {
    const { maxLineBytes } = this.#settings;
    const reader = new LineReader(maxLineBytes, {
      line: (line) => this.#takeLine(line),
      tooLong: () => this.kill(`it wrote a line of more than ${maxLineBytes} bytes`),
    });
    for await (const chunk of child.stdout) reader.push(chunk);
  }

  async #readStderr(child: Subprocess<"pipe", "pipe", "pipe">): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) this.#stderr = (this.#stderr + decoder.decode(chunk)).slice(-4_000);
  }

  #takeLine(line: string): void {
    if (this.state === "dead") return;
    const read = readMessage(line);
    if (!read.ok) return this.kill(`it sent what is no message: ${read.error.message}`);
    const { message } = read;
    const isOurs = message.token === this.#token;
    if (isOurs && message.kind === "notification" && message.method === "isolate.ready") return void this.#connect();
    if (isOurs && message.kind === "result" && message.id === pingId)
      return this.#takePong(message.result as IsolatePong);
    if (isOurs && message.kind === "result" && message.id === shutdownId) return;
    if (this.#owner === undefined || !this.#owner.accepts(message.token)) {
      // A refusal of one of our own messages carries no token; it says why we are about to be left alone.
      const why =
        message.kind === "error" ? `${message.error.code} ${message.error.message}` : "its token does not count";
      return this.kill(`it was not understood: ${why}`);
    }
    this.#owner.message(message);
  }

  async #connect(): Promise<void> {
    if (this.#link !== undefined || this.state !== "starting") return;
    try {
      this.#link = await IsolateLink.connect(join(this.#directory, "s"), this.#settings.maxLineBytes, {
        line: (line) => this.#takeLine(line),
        // What it said last may still be on its way through stdout; its death comes after that.
        closed: (reason) => void this.#killUnlessGone(reason),
      });
      this.#link.unref();
      this.send(writeMessage({ kind: "request", id: pingId, method: "ping", params: {}, token: this.#token }));
    } catch (error) {
      this.kill(`its socket could not be reached: ${messageOf(error)}`);
    }
  }

  #takePong({ protocol, granted }: IsolatePong): void {
    if (this.state !== "starting") return;
    if (protocol !== isolateProtocol) return this.kill(`it speaks protocol ${protocol}, not ${isolateProtocol}`);
    const mayDo = Array.isArray(granted) ? granted.map(String).join(", ") : "anything";
    if (mayDo !== "" && !this.#settings.allowUnconfined)
      return this.kill(
        `nothing confines it here: its engine still grants ${mayDo}, and there is no OS sandbox. Install bubblewrap, use the engine of the package "deno", or set EXECUTOR_ISOLATE_UNSANDBOXED=1 if only trusted code runs here`,
      );
    clearTimeout(this.#startTimer);
    this.#enginePid = findEnginePid(this.pid);
    this.base = readMeterBase(this.#enginePid);
    this.state = "ready";
    this.#opened.resolve();
  }

  async #killUnlessGone(reason: string): Promise<void> {
    if (await this.#isGoneWithin(this.#settings.stopGraceMs)) return;
    this.kill(reason);
  }

  #isGoneWithin(ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    void this.gone.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
    return promise;
  }

  #end(death: IsolateDeath): void {
    if (this.state === "dead") return;
    this.state = "dead";
    clearTimeout(this.#startTimer);
    this.#link?.close();
    rmSync(this.#directory, { recursive: true, force: true });
    this.#opened.reject(new Error(`${death.reason}${death.stderr === "" ? "" : `: ${death.stderr}`}`));
    this.#gone.resolve(death);
    this.#owner?.died(death);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
