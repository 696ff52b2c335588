/**
 * `Tx` of core over a Convex database: what the verbs may do inside one query or mutation.
 * Rows are found by their own key, never by Convex's `_id`, which does not leave this file.
 * A row is read once per transaction and then remembered: each read counts against Convex's 4,096 ranges, and the
 * workspace row is asked for by every event and every audit entry.
 */
import { type Row, type TableName, tables } from "@executor/core/store/tables";
import type { Find, Tx } from "@executor/core/store/tx";
import type { DatabaseReader, DatabaseWriter } from "./_generated/server.js";

/** What is used of Convex's database. Without its types: they cannot follow a table that is named by a type parameter. */
interface Range {
  eq(column: string, value: string | number | null): Range;
  gt(column: string, value: string | number | null): Range;
  lt(column: string, value: string | number): Range;
}
interface Found {
  order(order: "asc" | "desc"): { take(limit: number): Promise<Stored[]> };
  unique(): Promise<Stored | null>;
}
interface Reader {
  query(table: TableName): { withIndex(index: string, range: (start: Range) => Range): Found };
}
interface Writer extends Reader {
  insert(table: TableName, row: object): Promise<string>;
  patch(id: string, patch: object): Promise<void>;
  delete(id: string): Promise<void>;
}
type Stored = Record<string, unknown> & { _id: string };

/** Tables whose keys are numbered inside the transaction that writes them: they cannot be there twice. */
const NUMBERED: ReadonlySet<TableName> = new Set<TableName>(["events", "audit", "chunks"]);

export function writingTx(database: DatabaseWriter): Tx {
  const db = database as unknown as Writer;
  const rows = new RowCache(db);
  return {
    ...reading(db, rows),
    async insert(table, row) {
      // Convex has no unique index: without this look a repeated insert would leave two rows with one key.
      if (!NUMBERED.has(table) && (await rows.get(table, keyOf(table, row))))
        throw new Error(`${table} already has ${keyOf(table, row)}`);
      const id = await db.insert(table, row);
      rows.remember(table, { ...row, _id: id });
    },
    async update(table, key, patch) {
      const stored = await rows.get(table, key);
      if (!stored) return;
      await db.patch(stored._id, patch);
      rows.remember(table, { ...stored, ...patch });
    },
    async remove(table, key) {
      const stored = await rows.get(table, key);
      if (!stored) return;
      await db.delete(stored._id);
      rows.forget(table, key);
    },
  };
}

export function readingTx(database: DatabaseReader): Tx {
  const db = database as unknown as Reader;
  return reading(db, new RowCache(db));
}

function reading(db: Reader, rows: RowCache): Tx {
  return {
    async get<T extends TableName>(table: T, key: string) {
      const stored = await rows.get(table, key);
      return stored && toRow(table, stored);
    },
    async find<T extends TableName>(table: T, query: Find<T>) {
      const found = await findStored(db, table, query);
      for (const stored of found) rows.remember(table, stored);
      return found.map((stored) => toRow(table, stored));
    },
    insert: refuseToWrite,
    update: refuseToWrite,
    remove: refuseToWrite,
  };
}

function refuseToWrite(): never {
  throw new Error("a query may not write");
}

function findStored<T extends TableName>(
  db: Reader,
  table: T,
  { index, eq = [], after, before, order = "asc", limit }: Find<T>,
): Promise<Stored[]> {
  const columns = (tables[table].indexes as Record<string, readonly string[]>)[index] ?? [];
  const next = columns[eq.length] ?? "";
  const found = db.query(table).withIndex(index, (start) => {
    let range = eq.reduce<Range>((built, value, place) => built.eq(columns[place] ?? "", value), start);
    // Null sorts before everything here; a bound leaves it out, as in SQL.
    if (after !== undefined || before !== undefined) range = range.gt(next, after ?? null);
    return before === undefined ? range : range.lt(next, before);
  });
  return found.order(order).take(limit);
}

/** The rows one transaction has seen, by key, with its own changes in them. */
class RowCache {
  readonly #db: Reader;
  readonly #rows = new Map<string, Stored>();

  constructor(db: Reader) {
    this.#db = db;
  }

  async get(table: TableName, key: string): Promise<Stored | null> {
    const known = this.#rows.get(`${table}/${key}`);
    if (known) return known;
    const byKey = this.#db.query(table).withIndex("by_key", (range) => range.eq(tables[table].key, key));
    const stored = await byKey.unique();
    if (stored) this.remember(table, stored);
    return stored;
  }

  remember(table: TableName, stored: Stored): void {
    this.#rows.set(`${table}/${keyOf(table, stored)}`, stored);
  }

  forget(table: TableName, key: string): void {
    this.#rows.delete(`${table}/${key}`);
  }
}

const keyOf = (table: TableName, row: object): string => String((row as Record<string, unknown>)[tables[table].key]);

/** A column that is younger than the row is null, as in SQL. */
function toRow<T extends TableName>(table: T, { _id, _creationTime, ...row }: Stored): Row<T> {
  for (const column of Object.keys(tables[table].columns)) if (row[column] === undefined) row[column] = null;
  return row as unknown as Row<T>;
}
