/**
 * The children: when one is started or ended, and which one takes a new session.
 * At rest there is one warm child (none if `warm` is off). More regular ones come while turns queue up, never more than the cores;
 * a child that is exiled under a hog does not count as regular and is replaced. All together never exceed `maxChildren`; then opens wait.
 */
import { availableParallelism } from "node:os";
import type { GuestProgram } from "@executor/core/ports/runtime";
import { ChildHandle, type ChildTimes } from "./child-handle.ts";
import { ChildListener } from "./child-listener.ts";
import { PoolSession } from "./pool-session.ts";

export interface GuestPoolOptions {
  runDir?: string | undefined;
  maxChildren?: number | undefined;
  warm?: boolean | undefined;
  log?: ((message: string) => void) | undefined;
  times?: Partial<ChildTimes> | undefined;
}

const defaultTimes: ChildTimes = { exileAfterMs: 30, reniceAfterMs: 250, watchdogGraceMs: 300, closeGraceMs: 50, stalledMs: 20_000, maxRssBytes: 1_500_000_000 };
const idleChildMs = 10_000;
const startTimeoutMs = 15_000;
const maxFailedStarts = 3;

export class GuestPool {
  readonly #options: GuestPoolOptions;
  readonly #children = new Set<ChildHandle>();
  readonly #maxRegular = Math.max(1, availableParallelism());
  #listener: ChildListener | undefined;
  #waiting: (() => void)[] = [];
  #nextSession = 1;
  #failedStarts = 0;
  #closed = false;

  constructor(options: GuestPoolOptions) {
    this.#options = options;
    if (options.warm ?? true) this.#startChild();
  }

  get children(): readonly ChildHandle[] {
    return [...this.#children];
  }

  async openSession(program: GuestProgram): Promise<PoolSession> {
    for (;;) {
      if (this.#closed) throw new Error("the runtime is closed");
      const child = this.#chooseChild();
      if (child !== undefined) return new PoolSession(this.#nextSession++, program, child);
      if (this.#failedStarts >= maxFailedStarts) {
        this.#failedStarts = 0;
        throw new Error("the engine's process does not start; its reason is in the log");
      }
      if (!this.#inState("starting")) this.#startChild();
      await this.#change();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const child of this.#children) child.kill("");
    this.#wake();
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** The regular child with the least to do. While all of them have turns waiting, one more is started for the sessions to come. */
  #chooseChild(): ChildHandle | undefined {
    let best: ChildHandle | undefined;
    let regular = 0;
    for (const child of this.#children) {
      if (child.state !== "regular") continue;
      regular += 1;
      if (best === undefined || child.load < best.load || (child.load === best.load && child.sessions.size < best.sessions.size)) best = child;
    }
    if (best !== undefined && best.load > 1 && regular < this.#maxRegular && !this.#inState("starting")) this.#startChild();
    return best;
  }

  #inState(state: ChildHandle["state"]): boolean {
    for (const child of this.#children) if (child.state === state) return true;
    return false;
  }

  #startChild(): void {
    if (this.#closed || this.#children.size >= (this.#options.maxChildren ?? 16)) return;
    this.#listener ??= new ChildListener(this.#options.runDir);
    const child = new ChildHandle(this.#listener, { ...defaultTimes, ...this.#options.times }, {
      changed: (changed) => this.#onChange(changed),
      log: (message) => this.#options.log?.(message),
    });
    this.#children.add(child);
    const timeout = setTimeout(() => child.kill("the child did not get ready in time"), startTimeoutMs);
    void child.settled.then(() => {
      clearTimeout(timeout);
      this.#failedStarts = child.state === "dead" ? this.#failedStarts + 1 : 0;
      this.#onChange(child);
    });
  }

  #onChange(child: ChildHandle): void {
    if (child.state === "dead") this.#children.delete(child);
    const warm = this.#options.warm ?? true;
    // Replace what an exile or a crash took away before somebody has to wait for it.
    const wanted = child.state === "exiled" || (child.state === "dead" && this.#waiting.length > 0) || (warm && this.#failedStarts === 0);
    if (wanted && !this.#closed && !this.#inState("regular") && !this.#inState("starting")) this.#startChild();
    if (child.state === "regular" && child.sessions.size === 0) this.#retireLater(child);
    this.#wake();
  }

  #retireLater(child: ChildHandle): void {
    const timer = setTimeout(() => {
      if (child.state !== "regular" || child.sessions.size > 0) return;
      let others = 0;
      for (const other of this.#children) if (other !== child && other.state === "regular") others += 1;
      if (others > 0 || !(this.#options.warm ?? true)) child.kill("");
    }, idleChildMs);
    timer.unref();
  }

  #change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    return promise;
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
