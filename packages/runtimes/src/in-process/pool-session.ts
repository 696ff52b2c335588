/**
 * One guest as its host sees it. It lives in one child until it ends, is closed, or is lost with that child; it never moves by itself.
 */
import { type Delivery, GuestLost, type GuestProgram, type GuestSession, type Turn } from "@executor/core/ports/runtime";
import type { ChildHandle } from "./child-handle.ts";
import { encodeDeliveries, mergeTurn } from "./turn-codec.ts";

export class PoolSession implements GuestSession {
  readonly number: number;
  readonly program: GuestProgram;
  /** As the child last reported it. */
  cpuMs = 0;
  readonly #child: ChildHandle;
  #state: "idle" | "advancing" | "over" = "idle";

  constructor(number: number, program: GuestProgram, child: ChildHandle) {
    this.number = number;
    this.program = program;
    this.#child = child;
    child.addSession(this);
  }

  async advance(deliveries: readonly Delivery[]): Promise<Turn> {
    if (this.#state === "advancing") throw new Error("advance is under way already");
    if (this.#state === "over") throw new GuestLost("this guest is over");
    this.#state = "advancing";
    try {
      let turn: Turn | undefined;
      let applied = 0;
      for (const batch of encodeDeliveries(deliveries)) {
        turn = mergeTurn(turn, await this.#child.runTurn(this, batch), applied);
        applied += batch.count;
        if (turn.end !== undefined) break;
      }
      if (turn === undefined) throw new Error("an advance has at least one batch");
      this.#state = turn.end === undefined ? "idle" : "over";
      return turn;
    } catch (error) {
      this.#state = "over";
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#state = "over";
    this.#child.closeSession(this);
  }
}
