/**
 * Group commit: verbs that arrive in the same turn of the event loop share one transaction, and so one fsync.
 * Each runs in a savepoint of its own: one that refuses takes nothing of its neighbours with it. A verb's promise
 * settles only after the commit, so whoever awaits it may rely on the disk.
 *
 * While another process writes, we wait without blocking the event loop (SQLite's own waiting would sleep for
 * milliseconds), and whatever arrives meanwhile joins the transaction.
 */
import type { Database, Statement } from "bun:sqlite";

/** Keeps one transaction short enough that other processes get their turn. */
const MAX_PER_COMMIT = 128;
/** Attempts to get the write lock that follow each other at once; after them a millisecond in between. */
const EAGER_ATTEMPTS = 20;

/** After so long without a commit, one job is taken for a lone one. */
const QUIET_MS = 0.5;

interface Job {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

type Settled = { ok: true; value: unknown } | { ok: false; error: unknown };

export class CommitQueue {
  readonly #db: Database;
  readonly #busyMs: number;
  readonly #sql: Record<"begin" | "commit" | "savepoint" | "release" | "rollbackTo", Statement>;
  readonly #jobs: Job[] = [];
  #flushing: Promise<void> | null = null;
  #lastBatch = 0;
  #lastEndMs = Number.NEGATIVE_INFINITY;

  constructor(db: Database, busyMs: number) {
    this.#db = db;
    this.#busyMs = busyMs;
    this.#sql = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      savepoint: db.prepare("SAVEPOINT verb"),
      release: db.prepare("RELEASE verb"),
      rollbackTo: db.prepare("ROLLBACK TO verb"),
    };
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

  close(): void {
    for (const statement of Object.values(this.#sql)) statement.finalize();
  }

  async #flush(): Promise<void> {
    // Requests that came together are written together: wait for the rest of this turn's I/O. A lone one, after a time
    // in which nothing came, need not wait for company.
    const isAlone = this.#lastBatch <= 1 && performance.now() - this.#lastEndMs > QUIET_MS;
    await (isAlone ? undefined : nextTurn());
    while (this.#jobs.length > 0) await this.#commitSome();
    this.#flushing = null;
    this.#lastEndMs = performance.now();
  }

  /** Once it has begun, nothing waits for anything but the verbs' own microtasks, so no other write can come in between. */
  async #commitSome(): Promise<void> {
    const jobs: Job[] = [];
    let settled: Settled[];
    try {
      await this.#begin();
      jobs.push(...this.#jobs.splice(0, MAX_PER_COMMIT));
      this.#lastBatch = jobs.length;
      settled = jobs.length === 1 ? [{ ok: true, value: await jobs[0]?.run() }] : await this.#runTogether(jobs);
      this.#sql.commit.run();
    } catch (error) {
      this.#rollback();
      for (const job of jobs.length > 0 ? jobs : this.#jobs.splice(0)) job.reject(error);
      return;
    }
    for (const [index, job] of jobs.entries()) {
      const outcome = settled[index] as Settled;
      if (outcome.ok) job.resolve(outcome.value);
      else job.reject(outcome.error);
    }
  }

  async #begin(): Promise<void> {
    const giveUpAt = performance.now() + this.#busyMs;
    for (let attempt = 0; ; attempt++) {
      try {
        this.#sql.begin.run();
        return;
      } catch (error) {
        const isBusy = String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
        if (!isBusy || performance.now() > giveUpAt) throw error;
      }
      await (attempt < EAGER_ATTEMPTS ? nextTurn() : Bun.sleep(1));
    }
  }

  async #runTogether(jobs: Job[]): Promise<Settled[]> {
    const settled: Settled[] = [];
    for (const job of jobs) {
      this.#sql.savepoint.run();
      try {
        settled.push({ ok: true, value: await job.run() });
      } catch (error) {
        this.#sql.rollbackTo.run();
        settled.push({ ok: false, error });
      }
      this.#sql.release.run();
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

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
