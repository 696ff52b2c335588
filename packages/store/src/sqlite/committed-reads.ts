/**
 * What every call of a task reads, and what hardly ever changes: policies, credentials, sources. Most of the time nothing was
 * written since the last look, and SQLite says so cheaply (`data_version`), for commits of every process. Asked on a connection
 * of its own that never writes and is never inside a longer snapshot: what is committed counts for the very next read.
 */
import type { Database, Statement } from "bun:sqlite";

const MAX_KEPT = 1_000;

export class CommittedReads {
  readonly #version: Statement<{ data_version: number }, []>;
  readonly #kept = new Map<string, unknown>();
  #seen = -1;

  constructor(db: Database) {
    this.#version = db.prepare("PRAGMA data_version");
  }

  /** What `load` gives is shared, so nobody can change it. */
  async read<T>(key: string, load: () => Promise<readonly T[]>): Promise<readonly T[]> {
    const version = this.#version.get()?.data_version ?? -1;
    if (version !== this.#seen || this.#kept.size > MAX_KEPT) this.#kept.clear();
    this.#seen = version;
    const known = this.#kept.get(key);
    if (known !== undefined) return known as readonly T[];
    const loaded = Object.freeze((await load()).map((row) => Object.freeze(row)));
    // Read after the version was asked: it is as new as that, or newer.
    if (this.#seen === version) this.#kept.set(key, loaded);
    return loaded;
  }

  close(): void {
    this.#version.finalize();
  }
}
