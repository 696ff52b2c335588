/**
 * Policies are read for every batch of calls. Most of the time nothing was written since the last look, and SQLite says
 * so cheaply (`data_version`), for commits of every process. A connection of its own, never inside a longer snapshot:
 * a rule that is committed counts for the very next read.
 */
import type { Database, Statement } from "bun:sqlite";
import type { PolicyRow } from "@executor/core/store/tables";
import { listPolicies } from "@executor/core/store/verbs/policies";
import { SqliteTx } from "./sqlite-tx.ts";

const MAX_WORKSPACES = 1_000;

export class PolicyCache {
  readonly #tx: SqliteTx;
  readonly #version: Statement<{ data_version: number }, []>;
  readonly #rows = new Map<string, PolicyRow[]>();
  #seen = -1;

  constructor(db: Database) {
    this.#tx = new SqliteTx(db);
    this.#version = db.prepare("PRAGMA data_version");
  }

  async read(workspaceId: string): Promise<PolicyRow[]> {
    const version = this.#version.get()?.data_version ?? -1;
    if (version !== this.#seen || this.#rows.size > MAX_WORKSPACES) this.#rows.clear();
    this.#seen = version;
    const known = this.#rows.get(workspaceId);
    if (known) return known;
    const rows = await listPolicies(this.#tx, { workspaceId });
    if (this.#seen === version) this.#rows.set(workspaceId, rows);
    return rows;
  }

  close(): void {
    this.#version.finalize();
    this.#tx.close();
  }
}
