/**
 * One guest as its host sees it. It gets a child when it first runs and lives there until it ends, is closed, or is lost with that child.
 */
import {
  type Delivery,
  GuestLost,
  type GuestProgram,
  type GuestSession,
  type Turn,
} from "@executor/core/ports/runtime";
import type { ChildHandle } from "./child-handle.ts";
import type { GuestPool } from "./guest-pool.ts";
import { encodeDeliveries, mergeTurn } from "./turn-codec.ts";

export class PoolSession implements GuestSession {
  readonly number: number;
  readonly program: GuestProgram;
  /** Set by the child that takes its first turn. */
  child: ChildHandle | undefined;
  /** As the child last reported it. */
  cpuMs = 0;
  readonly #pool: GuestPool;
  #state: "idle" | "advancing" | "over" = "idle";

  constructor(number: number, program: GuestProgram, pool: GuestPool) {
    this.number = number;
    this.program = program;
    this.#pool = pool;
  }

  async advance(deliveries: readonly Delivery[]): Promise<Turn> {
    if (this.#state === "advancing") throw new Error("advance is under way already");
    if (this.#state === "over") throw new GuestLost("this guest is over");
    this.#state = "advancing";
    try {
      let turn: Turn | undefined;
      let applied = 0;
      for (const batch of encodeDeliveries(deliveries)) {
        const next = await (this.child === undefined
          ? this.#pool.runFirstTurn(this, batch)
          : this.child.runTurn(this, batch));
        turn = mergeTurn(turn, next, applied);
        applied += batch.count;
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

  async close(): Promise<void> {
    this.#state = "over";
    this.#pool.dropFresh(this);
    this.child?.closeSession(this);
  }

  /** A close while the turn was under way stays. */
  #settle(state: "idle" | "over"): void {
    if (this.#state !== "over") this.#state = state;
  }
}
