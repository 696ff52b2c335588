/**
 * CPU time of the guest, turn by turn. Asking the system costs more than most turns take, and nobody uses more of a core than time
 * passes: a short turn counts as long as it took, and only a long one is looked up.
 */
export interface Clocks {
  /** Real time. */
  nowMs(): number;
  /** CPU time of this process so far, as the system counts it. */
  cpuMs(): number;
}

const shortMs = 0.5;
/** What the process does between turns is not the guest's: it may pile up for so many turns. */
const freshTurns = 64;

export class TurnMeter {
  readonly #clocks: Clocks;
  #usedBeforeMs = 0;
  #usedMs = 0;
  #enteredAtMs = 0;
  #cpuAtMs: number;
  #lastCpuMs: number;
  #turns = 0;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
    this.#cpuAtMs = this.#lastCpuMs = clocks.cpuMs();
  }

  /** A turn begins; what passed since the last one does not count. */
  enter(): void {
    this.#usedBeforeMs = this.#usedMs;
    if (++this.#turns % freshTurns === 0) this.#lastCpuMs = this.#clocks.cpuMs();
    this.#cpuAtMs = this.#lastCpuMs;
    this.#enteredAtMs = this.#clocks.nowMs();
  }

  /** Of all turns so far. Never goes back. */
  read(): number {
    const passedMs = this.#clocks.nowMs() - this.#enteredAtMs;
    let usedMs = passedMs;
    if (passedMs >= shortMs) {
      this.#lastCpuMs = this.#clocks.cpuMs();
      usedMs = Math.min(passedMs, this.#lastCpuMs - this.#cpuAtMs);
    }
    return (this.#usedMs = Math.max(this.#usedMs, this.#usedBeforeMs + usedMs));
  }
}
