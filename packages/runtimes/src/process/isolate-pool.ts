/**
 * The isolates of one runtime: some warm ones at rest, `maxProcesses` in all, one guest to each. Guests wait in line for a process
 * when all are taken. When nobody has come for a while the warm ones go too, and the next guest pays for a start.
 */
import { GuestLost } from "@executor/core/ports/runtime";
import { IsolateProcess, type IsolateSettings } from "./isolate-process.ts";

export interface PoolSettings {
  maxProcesses: number;
  /** How many wait ready. */
  warm: number;
  idleMs: number;
  isolate: IsolateSettings;
  log(message: string): void;
}

interface Waiter {
  owner: object;
  resolve(process: IsolateProcess): void;
  reject(error: Error): void;
}

const maxFailedStarts = 3;
const warmAfterMs = 25;
const unusedMs = 5_000;

export class IsolatePool {
  readonly #settings: PoolSettings;
  readonly #all = new Set<IsolateProcess>();
  #waiters: Waiter[] = [];
  #failedStarts = 0;
  #lastFailure = "";
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  /** No warm process is kept until somebody comes. */
  #isAsleep = true;
  #warmTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  get processes(): readonly IsolateProcess[] {
    return [...this.#all];
  }

  acquire(owner: object): Promise<IsolateProcess> {
    if (this.#closed) return Promise.reject(new GuestLost("the runtime is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<IsolateProcess>();
    this.#waiters.push({ owner, resolve, reject });
    this.#isAsleep = false;
    this.#sleepLater();
    this.#serve();
    return promise;
  }

  /** One process at least is ready; rejects with the reason when none starts. */
  async warmUp(): Promise<void> {
    if (this.#closed) throw new Error("the runtime is closed");
    this.#isAsleep = false;
    // Nobody has come yet, and perhaps nobody will: this one says that processes start here, and soon makes room.
    this.#sleepLater(Math.min(this.#settings.idleMs, unusedMs));
    this.#startUpTo(Math.max(1, this.#settings.warm));
    await Promise.any([...this.#all].map((process) => process.opened)).catch((error: AggregateError) => {
      const [first] = error.errors as Error[];
      throw new Error(`the isolated process does not start: ${first?.message}`);
    });
  }

  withdraw(owner: object): void {
    for (const waiter of this.#waiters.splice(0)) {
      if (waiter.owner === owner) waiter.reject(new GuestLost("the session was closed"));
      else this.#waiters.push(waiter);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#warmTimer);
    this.#rejectAll(new GuestLost("the runtime is closed"));
    await Promise.all([...this.#all].map((process) => process.stop()));
  }

  #count(state: IsolateProcess["state"]): number {
    let count = 0;
    for (const process of this.#all) if (process.state === state) count += 1;
    return count;
  }

  /** Gives ready processes to those who wait, then starts as many as are missing. */
  #serve(): void {
    for (const process of this.#all) {
      if (this.#waiters.length === 0) break;
      if (process.state === "ready") this.#waiters.shift()?.resolve(claimed(process));
    }
    if (this.#closed) return;
    this.#startUpTo(this.#waiters.length);
    // A start costs the host some milliseconds: the guest that was just served goes first.
    this.#warmTimer ??= setTimeout(() => {
      this.#warmTimer = undefined;
      if (!this.#closed && !this.#isAsleep) this.#startUpTo(this.#waiters.length + this.#settings.warm);
    }, warmAfterMs);
  }

  #startUpTo(missing: number): void {
    let coming = this.#count("starting") + this.#count("ready");
    for (; coming < missing && this.#all.size < this.#settings.maxProcesses; coming += 1) this.#start();
  }

  #start(): void {
    const process = new IsolateProcess(this.#settings.isolate);
    this.#all.add(process);
    process.opened.then(
      () => {
        this.#failedStarts = 0;
        this.#serve();
      },
      (error: Error) => this.#noteFailure(error),
    );
    void process.gone.then(() => {
      this.#all.delete(process);
      if (!this.#isAsleep && !this.#closed) this.#sleepLater();
      if (this.#failedStarts === 0) this.#serve();
    });
  }

  #noteFailure(error: Error): void {
    if (this.#closed || this.#isAsleep) return;
    this.#failedStarts += 1;
    this.#lastFailure = error.message;
    this.#settings.log(`an isolate did not start: ${error.message}`);
    if (this.#failedStarts < maxFailedStarts && this.#waiters.length > 0)
      return void setTimeout(() => this.#serve(), 0);
    this.#rejectAll(new Error(`the isolated process does not start: ${this.#lastFailure}`));
    // The next guest tries again.
    this.#failedStarts = 0;
    this.#isAsleep = true;
  }

  #sleepLater(afterMs = this.#settings.idleMs): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#count("taken") > 0) return this.#sleepLater();
      this.#isAsleep = true;
      for (const process of this.#all) if (process.state === "ready") void process.stop();
    }, afterMs);
    this.#idleTimer.unref();
  }

  #rejectAll(error: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }
}

/** From here on it is nobody else's, though its guest has not begun. */
function claimed(process: IsolateProcess): IsolateProcess {
  process.claim();
  return process;
}
