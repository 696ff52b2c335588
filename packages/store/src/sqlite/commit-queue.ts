/**
 * Group commit: verbs that arrive in the same turn of the event loop share one transaction, and so one fsync.
 * Each runs in a savepoint of its own: one that refuses takes nothing of its neighbours with it. A verb's promise
 * settles only after the commit, so whoever awaits it may rely on the disk.
 */
import type { Database } from "bun:sqlite";

/** Keeps one transaction short enough that other processes get their turn. */
const MAX_PER_COMMIT = 128;

interface Job {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Settled = { ok: true; value: unknown } | { ok: false; error: unknown };

export class CommitQueue {
  readonly #db: Database;
  readonly #jobs: Job[] = [];
  #flushing: Promise<void> | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  add<R>(run: () => Promise<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#jobs.push({ run, resolve: resolve as (value: unknown) => void, reject });
      this.#flushing ??= this.#flush();
    });
  }

  /** Resolves once everything added so far is on disk or refused. */
  async drain(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  async #flush(): Promise<void> {
    // After the I/O of this turn, so that requests that came together are written together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#jobs.length > 0) await this.#commit(this.#jobs.splice(0, MAX_PER_COMMIT));
    this.#flushing = null;
  }

  /** Nothing in here waits for anything but the verbs' own microtasks, so no other write can come in between. */
  async #commit(jobs: Job[]): Promise<void> {
    let settled: Settled[];
    try {
      this.#db.run("BEGIN IMMEDIATE");
      settled = jobs.length === 1 ? [await this.#runAlone(jobs[0] as Job)] : await this.#runTogether(jobs);
      this.#db.run("COMMIT");
    } catch (error) {
      this.#rollback();
      for (const job of jobs) job.reject(error);
      return;
    }
    for (const [index, job] of jobs.entries()) {
      const outcome = settled[index] as Settled;
      if (outcome.ok) job.resolve(outcome.value);
      else job.reject(outcome.error);
    }
  }

  async #runAlone(job: Job): Promise<Settled> {
    return { ok: true, value: await job.run() };
  }

  async #runTogether(jobs: Job[]): Promise<Settled[]> {
    const settled: Settled[] = [];
    for (const job of jobs) {
      this.#db.run("SAVEPOINT verb");
      try {
        settled.push({ ok: true, value: await job.run() });
        this.#db.run("RELEASE verb");
      } catch (error) {
        this.#db.run("ROLLBACK TO verb");
        this.#db.run("RELEASE verb");
        settled.push({ ok: false, error });
      }
    }
    return settled;
  }

  #rollback(): void {
    try {
      if (this.#db.inTransaction) this.#db.run("ROLLBACK");
    } catch {
      // The failure that led here is the one to report.
    }
  }
}
