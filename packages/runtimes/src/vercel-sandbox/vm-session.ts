/**
 * One guest in a VM as its run sees it. Turns and deliveries pass over the guest's link; a watch on the side asks Vercel now and
 * then whether the VM is still there, so that a lost one is noticed in seconds and not by a timeout.
 */
import {
  type Delivery,
  GuestLost,
  type GuestProgram,
  type GuestSession,
  type Turn,
} from "@executor/core/ports/runtime";
import { encodeDeliveries, mergeTurn } from "../in-process/turn-codec.ts";
import type { GuestLine } from "./guest-line.ts";
import type { DownMessage } from "./guest-messages.ts";
import { type Machine, statusOf } from "./machine.ts";
import { readTurn } from "./read-turn.ts";

export interface VmSessionParts {
  program: GuestProgram;
  line: GuestLine;
  machine: Machine;
  commandId: string | null;
  checkMs: number;
  /** `reusable`: the guest waits, and nothing of its code runs. */
  release(machine: Machine, reusable: boolean): void;
}

/** A VM of its own has its core to itself, nearly; a network in between costs the rest. */
const SLACK_MS = 60_000;
/** The API may fail for a moment without the VM being gone. */
const MAX_FAILED_CHECKS = 6;

export class VmSession implements GuestSession {
  readonly #parts: VmSessionParts;
  #state: "idle" | "advancing" | "over" = "idle";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failedChecks = 0;
  #closed: Promise<void> | null = null;

  constructor(parts: VmSessionParts) {
    this.#parts = parts;
    this.#watch();
  }

  /** The runner has said that it is there; none of the code has run. */
  async begin(withinMs: number): Promise<void> {
    await this.#parts.line.read(withinMs);
  }

  async advance(deliveries: readonly Delivery[]): Promise<Turn> {
    if (this.#state === "advancing") throw new Error("advance is under way already");
    if (this.#state === "over") throw new GuestLost("this guest is over");
    this.#state = "advancing";
    try {
      let turn: Turn | undefined;
      let applied = 0;
      for (const { count, header, blobs } of encodeDeliveries(deliveries)) {
        const next = await this.#exchange(header, blobs);
        turn = mergeTurn(turn, next, applied);
        applied += count;
        if (turn.end !== undefined) break;
      }
      if (turn === undefined) throw new Error("an advance has at least one batch");
      this.#settle(turn.end === undefined ? "idle" : "over");
      return turn;
    } catch (error) {
      this.#settle("over");
      throw error;
    }
  }

  /** It never began: its VM is of no use to a later run. */
  fail(): void {
    this.#state = "over";
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const isWaiting = this.#state === "idle";
    this.#state = "over";
    clearTimeout(this.#timer);
    const { line, machine, release } = this.#parts;
    line.lose("the session was closed");
    await line.close();
    release(machine, isWaiting);
  }

  async #exchange(header: [0 | 1 | 2, number, number][], blobs: Uint8Array[]): Promise<Turn> {
    const { line, program } = this.#parts;
    const texts = blobs.values();
    const decoder = new TextDecoder();
    const message: DownMessage = header.map(([kind, id, atMs]) =>
      kind === 2 ? [kind, id, atMs] : [kind, id, atMs, decoder.decode(texts.next().value)],
    );
    await line.answer(JSON.stringify(message));
    const text = await line.read(2 * program.limits.cpuMs + SLACK_MS);
    try {
      return readTurn(text, program.limits);
    } catch (error) {
      throw new GuestLost(`the VM sent a turn that cannot be read: ${String(error)}`);
    }
  }

  #settle(state: "idle" | "over"): void {
    if (this.#state !== "over") this.#state = state;
  }

  #watch(): void {
    this.#timer = setTimeout(() => void this.#check(), this.#parts.checkMs);
  }

  async #check(): Promise<void> {
    const { machine, commandId, line } = this.#parts;
    try {
      if (!(await machine.isAlive(commandId))) line.lose("the runner in the VM ended");
      this.#failedChecks = 0;
    } catch (error) {
      const status = statusOf(error);
      if (status === 404 || status === 410 || ++this.#failedChecks >= MAX_FAILED_CHECKS)
        line.lose(`the VM is gone: ${String(error).slice(0, 200)}`);
    }
    if (this.#closed === null) this.#watch();
  }
}
