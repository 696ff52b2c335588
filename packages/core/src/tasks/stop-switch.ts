/** What stops a run before its end: its time is up, its worker must go, it was cancelled, or a write failed. */

/** Abort reason for a worker that must go: calls under way may end and are journaled; the task goes on elsewhere. */
export const DRAIN = "drain";

/** Why a run must stop, known once; calls under way hear of it through `signal`. */
export class StopSwitch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #wake: () => void;
  readonly #stopped = Promise.withResolvers<void>();
  #close: () => void = () => undefined;
  reason: "time" | "drain" | "outside" | "failure" | null = null;
  failure: unknown = null;

  constructor(outer: AbortSignal, wake: () => void) {
    this.#outer = outer;
    this.#wake = wake;
    if (outer.aborted) this.#stopFromOutside();
    else outer.addEventListener("abort", this.#stopFromOutside);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.reason !== null;
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  onStop(close: () => void): void {
    this.#close = close;
    if (this.isStopped) close();
  }

  timeOut(): void {
    this.#stop("time");
  }

  fail(error: unknown): void {
    this.failure ??= error;
    this.#stop("failure");
  }

  close(): void {
    this.#outer.removeEventListener("abort", this.#stopFromOutside);
  }

  readonly #stopFromOutside = (): void => this.#stop(this.#outer.reason === DRAIN ? "drain" : "outside");

  #stop(reason: "time" | "drain" | "outside" | "failure"): void {
    if (this.isStopped) return;
    this.reason = reason;
    if (reason !== "drain") this.#controller.abort();
    this.#stopped.resolve();
    this.#close();
    this.#wake();
  }
}
