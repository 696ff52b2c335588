/**
 * The little a database must offer so that the verbs beside this file can run on it, all inside one transaction.
 * A verb is written once, against this, and means the same on every store.
 */
import type { IndexName, Patch, Row, TableName } from "./tables.ts";

/** SQLite answers at once, Convex with a promise; `await` takes both. */
export type Maybe<T> = T | Promise<T>;

export interface Tx {
  get<T extends TableName>(table: T, key: string): Maybe<Row<T> | null>;
  find<T extends TableName>(table: T, query: Find<T>): Maybe<Row<T>[]>;
  insert<T extends TableName>(table: T, row: Row<T>): Maybe<void>;
  update<T extends TableName>(table: T, key: string, patch: Patch<T>): Maybe<void>;
  remove<T extends TableName>(table: T, key: string): Maybe<void>;
}

export interface Find<T extends TableName> {
  index: IndexName<T>;
  /** Values of the index's first columns. */
  eq?: readonly (string | number | null)[];
  /** Bounds on the next column. */
  after?: string | number;
  before?: string | number;
  order?: "asc" | "desc";
  limit: number;
}
