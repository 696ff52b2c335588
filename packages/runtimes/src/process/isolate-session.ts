/**
 * One guest in its isolate, as the port has it: deliveries become answers on the wire, and what comes back until the guest rests
 * becomes a turn. Nothing the isolate says is believed before it was checked, and its limits are watched from here, by the system's
 * own count.
 */
import { randomBytes } from "node:crypto";
import { isolateErrors, type IsolateMessage } from "@executor/contracts/isolate-rpc";
import {
  type Delivery,
  GuestLost,
  type GuestProgram,
  type GuestSession,
  type Turn,
} from "@executor/core/ports/runtime";
import { writeMessage } from "../rpc/rpc-message.ts";
import type { IsolateDeath, IsolateOwner, IsolateProcess } from "./isolate-process.ts";
import { GuestMeter } from "./guest-meter.ts";
import type { SessionTokens } from "./session-tokens.ts";
import { TurnCollector } from "./turn-collector.ts";

export interface SessionHost {
  tokens: SessionTokens;
  /** A warm process; rejects when the session is closed while it waits or no process starts. */
  acquire(session: object): Promise<IsolateProcess>;
  /** Gives up waiting. */
  withdraw(session: object): void;
  log(message: string): void;
}

const runMessageId = "run";
const cancelId = "cancel";

export class IsolateSession implements GuestSession, IsolateOwner {
  readonly #program: GuestProgram;
  readonly #host: SessionHost;
  readonly #runId = `run_${randomBytes(16).toString("hex")}`;
  readonly #collector: TurnCollector;
  #process: IsolateProcess | undefined;
  #token = "";
  #meter: GuestMeter | undefined;
  #pending: PromiseWithResolvers<Turn> | undefined;
  #state: "idle" | "advancing" | "over" = "idle";

  constructor(program: GuestProgram, host: SessionHost) {
    this.#program = program;
    this.#host = host;
    this.#collector = new TurnCollector(program.limits);
  }

  async advance(deliveries: readonly Delivery[]): Promise<Turn> {
    if (this.#state === "advancing") throw new Error("advance is under way already");
    if (this.#state === "over") throw new GuestLost("this guest is over");
    this.#state = "advancing";
    try {
      const lines = this.#process === undefined ? [await this.#begin()] : [];
      for (const delivery of deliveries) lines.push(this.#write(delivery));
      this.#collector.expect(deliveries.length);
      this.#pending = Promise.withResolvers<Turn>();
      this.#meter?.start();
      this.#process?.send(lines.join(""));
      const turn = await this.#pending.promise;
      if (turn.end === undefined) this.#settle("idle");
      else await this.#finish();
      return turn;
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      this.#meter?.pause();
      this.#pending = undefined;
    }
  }

  /** Resolves when the process is gone. */
  async close(): Promise<void> {
    this.#host.withdraw(this);
    this.#state = "over";
    this.#host.tokens.revoke(this.#token);
    this.#pending?.reject(new GuestLost("the session was closed"));
    await this.#process?.stop(this.#cancelLine());
  }

  accepts(token: string): boolean {
    return this.#host.tokens.use(token, { runId: this.#runId, taskId: this.#program.taskId });
  }

  message(message: IsolateMessage): void {
    if (message.kind === "result" && message.id === cancelId) return;
    if (message.kind === "error") {
      if (message.error.code !== isolateErrors.cancelled)
        this.#lose(`it refused: ${message.error.code} ${message.error.message}`);
      return;
    }
    try {
      const turn = this.#collector.take(message, runMessageId);
      if (turn !== undefined) this.#resolve(turn);
    } catch (error) {
      this.#lose(`it sent what a healthy isolate does not: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  died(death: IsolateDeath): void {
    this.#host.tokens.revoke(this.#token);
    if (this.#pending === undefined) {
      this.#state = "over";
      return;
    }
    const verdict = this.#meter?.explainDeath(death);
    if (verdict !== undefined) return this.#resolve(this.#collector.stopped(verdict, this.#meter?.usedCpuMs ?? 0));
    this.#host.log(
      `isolate ${this.#process?.pid ?? 0}: ${death.reason}${death.signal === null ? "" : ` (${death.signal})`} ${death.stderr}`.trim(),
    );
    this.#pending.reject(new GuestLost("the process of this guest is gone"));
  }

  async #begin(): Promise<string> {
    const process = await this.#host.acquire(this);
    if (this.#state === "over") {
      await process.stop();
      throw new GuestLost("the session was closed");
    }
    const { taskId, script, seed, startMs, limits } = this.#program;
    const sessionToken = this.#host.tokens.mint({ runId: this.#runId, taskId });
    this.#token = sessionToken;
    process.take(this);
    this.#process = process;
    this.#meter = new GuestMeter(process.enginePid, process.base, limits, (reason) => process.kill(reason));
    const params = { runId: this.#runId, taskId, sessionToken, script, seed, startMs, limits };
    return writeMessage({ kind: "request", id: runMessageId, method: "guest.run", params, token: process.token });
  }

  #write(delivery: Delivery): string {
    const { id, atMs } = delivery;
    const token = this.#token;
    if (delivery.kind === "timer")
      return writeMessage({ kind: "notification", method: "guest.timer", params: { timerId: id, atMs }, token });
    if (delivery.kind === "result")
      return writeMessage({ kind: "result", id, result: { json: delivery.json, atMs }, token });
    const { message, ...data } = delivery.error;
    return writeMessage({
      kind: "error",
      id,
      error: { code: isolateErrors.toolFailed, message, data: { ...data, atMs } },
      token,
    });
  }

  /** The guest is over: so is its process. */
  async #finish(): Promise<void> {
    this.#state = "over";
    this.#host.tokens.revoke(this.#token);
    void this.#process?.stop();
  }

  #resolve(turn: Turn): void {
    this.#pending?.resolve(turn);
  }

  #lose(reason: string): void {
    this.#process?.kill(reason);
  }

  #cancelLine(): string | undefined {
    if (this.#token === "") return undefined;
    const params = { runId: this.#runId, taskId: this.#program.taskId };
    return writeMessage({ kind: "request", id: cancelId, method: "guest.cancel", params, token: this.#token });
  }

  /** A close while the turn was under way stays. */
  #settle(state: "idle" | "over"): void {
    if (this.#state !== "over") this.#state = state;
  }
}
