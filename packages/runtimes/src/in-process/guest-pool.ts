/**
 * The children: when one is started or ended, and which one takes a new guest.
 * At rest there is one warm child (none if `warm` is off). More regular ones come while turns have to wait, never more than the cores;
 * a child that is exiled under a hog does not count as regular and is replaced. All together never exceed `maxChildren`; then new guests wait.
 */
import { availableParallelism } from "node:os";
import { GuestLost, type GuestProgram, type Turn } from "@executor/core/ports/runtime";
import { ChildHandle, type ChildTimes, type Job } from "./child-handle.ts";
import { ChildListener } from "./child-listener.ts";
import { PoolSession } from "./pool-session.ts";
import type { DeliveryBatch } from "./turn-codec.ts";

export interface GuestPoolOptions {
  /** Where the private directory of the socket goes; the system's temporary directory otherwise. */
  runDir?: string | undefined;
  maxChildren?: number | undefined;
  /** Start a child now and keep one at rest. */
  warm?: boolean | undefined;
  log?: ((message: string) => void) | undefined;
  times?: Partial<ChildTimes> | undefined;
}

const defaultTimes: ChildTimes = {
  exileAfterMs: 30,
  reniceAfterMs: 250,
  watchdogGraceMs: 300,
  closeGraceMs: 50,
  stalledMs: 20_000,
  maxRssBytes: 1_500_000_000,
};
const idleChildMs = 10_000;
const startTimeoutMs = 15_000;
const maxFailedStarts = 3;
/** A turn that waited this long justifies one more child. */
const growAfterMs = 10;

export class GuestPool {
  readonly #options: GuestPoolOptions;
  readonly #warm: boolean;
  readonly #children = new Set<ChildHandle>();
  readonly #maxRegular = Math.max(1, availableParallelism());
  #listener: ChildListener | undefined;
  /** First turns of guests that have no child yet, oldest first. */
  #fresh: Job[] = [];
  #growTimer: ReturnType<typeof setTimeout> | undefined;
  #nextSession = 1;
  #failedStarts = 0;
  #closed = false;

  constructor(options: GuestPoolOptions) {
    this.#options = options;
    this.#warm = options.warm ?? true;
    if (this.#warm) this.#startChild();
  }

  get children(): readonly ChildHandle[] {
    return [...this.#children];
  }

  async openSession(program: GuestProgram): Promise<PoolSession> {
    if (this.#closed) throw new Error("the runtime is closed");
    this.#ensureRegular();
    return new PoolSession(this.#nextSession++, program, this);
  }

  runFirstTurn(session: PoolSession, batch: DeliveryBatch): Promise<Turn> {
    if (this.#closed) return Promise.reject(new GuestLost("the runtime is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    this.#fresh.push({ session, batch, queuedAtMs: performance.now(), resolve, reject });
    this.#leastUsedIdle()?.runNext();
    if (this.#fresh.length > 0) {
      this.#ensureRegular();
      this.#growLater();
    }
    return promise;
  }

  dropFresh(session: PoolSession): void {
    for (const job of this.#fresh.splice(0)) {
      if (job.session === session) job.reject(new GuestLost("the session was closed"));
      else this.#fresh.push(job);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#growTimer);
    this.#rejectFresh(new GuestLost("the runtime is closed"));
    for (const child of this.#children) child.kill("");
    this.#listener?.close();
    this.#listener = undefined;
  }

  #leastUsedIdle(): ChildHandle | undefined {
    let best: ChildHandle | undefined;
    for (const child of this.#children) {
      if (child.state === "regular" && child.isIdle && (best === undefined || child.sessions.size < best.sessions.size))
        best = child;
    }
    return best;
  }

  #count(...states: ChildHandle["state"][]): number {
    let count = 0;
    for (const child of this.#children) if (states.includes(child.state)) count += 1;
    return count;
  }

  #ensureRegular(): void {
    if (this.#count("regular", "starting") === 0) this.#startChild();
  }

  /** Turns are short: only a wait that lasts is worth another process. */
  #growLater(): void {
    this.#growTimer ??= setTimeout(() => {
      this.#growTimer = undefined;
      let since = this.#fresh[0]?.queuedAtMs ?? Number.POSITIVE_INFINITY;
      for (const child of this.#children) since = Math.min(since, child.waitingSinceMs);
      if (
        performance.now() - since >= growAfterMs &&
        this.#count("starting") === 0 &&
        this.#count("regular") < this.#maxRegular
      )
        this.#startChild();
      if (this.#fresh.length > 0) this.#growLater();
    }, growAfterMs);
  }

  #startChild(): void {
    if (this.#closed || this.#children.size >= (this.#options.maxChildren ?? 16)) return;
    this.#listener ??= new ChildListener(this.#options.runDir);
    const child = new ChildHandle(
      this.#listener,
      { ...defaultTimes, ...this.#options.times },
      {
        changed: (changed) => this.#onChange(changed),
        takeFresh: (sinceMs) =>
          (this.#fresh[0]?.queuedAtMs ?? Number.POSITIVE_INFINITY) <= sinceMs ? this.#fresh.shift() : undefined,
        log: (message) => this.#options.log?.(message),
      },
    );
    this.#children.add(child);
    const timeout = setTimeout(() => child.kill("the child did not get ready in time"), startTimeoutMs);
    void child.settled.then(() => {
      clearTimeout(timeout);
      this.#noteStart(child.state !== "dead");
    });
  }

  #noteStart(ready: boolean): void {
    this.#failedStarts = ready || this.#closed ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts >= maxFailedStarts) {
      this.#failedStarts = 0;
      this.#rejectFresh(new Error("the engine's process does not start; its reason is in the log"));
    } else if (!ready && this.#fresh.length > 0) this.#ensureRegular();
  }

  #onChange(child: ChildHandle): void {
    if (child.state === "dead") this.#children.delete(child);
    if (this.#closed) return;
    // Replace what an exile or a crash took away before somebody has to wait for it.
    if (this.#fresh.length > 0 || (this.#warm && this.#failedStarts === 0) || child.state === "exiled")
      this.#ensureRegular();
    if (child.state !== "regular") return;
    child.runNext();
    if (child.sessions.size === 0) this.#retireLater(child);
  }

  #retireLater(child: ChildHandle): void {
    const timer = setTimeout(() => {
      if (child.state === "regular" && child.sessions.size === 0 && (this.#count("regular") > 1 || !this.#warm))
        child.kill("");
    }, idleChildMs);
    timer.unref();
  }

  #rejectFresh(error: Error): void {
    for (const job of this.#fresh.splice(0)) job.reject(error);
  }
}
