/** Tx on a bun:sqlite connection: every question is one prepared statement, made once. Answers at once, never with a promise. */
import type { Database, Statement } from "bun:sqlite";
import { tables, type Patch, type Row, type TableName } from "@executor/core/store/tables";
import type { Find, Tx } from "@executor/core/store/tx";

type Value = string | number | null;

export class SqliteTx implements Tx {
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database) {
    this.#db = db;
  }

  get<T extends TableName>(table: T, key: string): Row<T> | null {
    return (
      (this.#prepare(`g ${table}`, () => `SELECT * FROM ${table} WHERE ${tables[table].key} = ?`).get(key) as
        | Row<T>
        | undefined) ?? null
    );
  }

  find<T extends TableName>(table: T, query: Find<T>): Row<T>[] {
    const { index, eq = [], after, before, order = "asc", limit } = query;
    const id = `f ${table} ${index} ${eq.length} ${after === undefined ? "" : "a"}${before === undefined ? "" : "b"}${order}`;
    const statement = this.#prepare(id, () =>
      findSql(table, index, eq.length, after !== undefined, before !== undefined, order),
    );
    const values: Value[] = [...eq];
    if (after !== undefined) values.push(after);
    if (before !== undefined) values.push(before);
    return statement.all(...values, limit) as Row<T>[];
  }

  insert<T extends TableName>(table: T, row: Row<T>): void {
    const columns = columnsOf(table);
    const values = row as Record<string, Value>;
    this.#prepare(
      `i ${table}`,
      () => `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    ).run(...columns.map((column) => values[column] ?? null));
  }

  update<T extends TableName>(table: T, key: string, patch: Patch<T>): void {
    const names = Object.keys(patch);
    if (names.length === 0) return;
    const id = `u ${table} ${names.join()}`;
    const statement = this.#prepare(
      id,
      () =>
        `UPDATE ${table} SET ${names.map((name) => `${known(table, name)} = ?`).join(", ")} WHERE ${tables[table].key} = ?`,
    );
    statement.run(...(Object.values(patch) as Value[]), key);
  }

  remove<T extends TableName>(table: T, key: string): void {
    this.#prepare(`d ${table}`, () => `DELETE FROM ${table} WHERE ${tables[table].key} = ?`).run(key);
  }

  close(): void {
    for (const statement of this.#statements.values()) statement.finalize();
    this.#statements.clear();
  }

  #prepare(id: string, sql: () => string): Statement {
    let statement = this.#statements.get(id);
    if (!statement) {
      statement = this.#db.prepare(sql());
      this.#statements.set(id, statement);
    }
    return statement;
  }
}

function findSql(
  table: TableName,
  index: string,
  eqCount: number,
  after: boolean,
  before: boolean,
  order: "asc" | "desc",
): string {
  const columns = (tables[table].indexes as Record<string, readonly string[]>)[index];
  if (!columns) throw new Error(`table ${table} has no index ${index}`);
  const next = columns[eqCount];
  const where = columns.slice(0, eqCount).map((column) => `${column} = ?`);
  if (after) where.push(`${next} > ?`);
  if (before) where.push(`${next} < ?`);
  const direction = order === "desc" ? " DESC" : "";
  const by = columns.slice(eqCount).map((column) => column + direction);
  return `SELECT * FROM ${table}${where.length > 0 ? ` WHERE ${where.join(" AND ")}` : ""}${by.length > 0 ? ` ORDER BY ${by.join(", ")}` : ""} LIMIT ?`;
}

const columnLists = new Map<TableName, string[]>();
function columnsOf(table: TableName): string[] {
  let columns = columnLists.get(table);
  if (!columns) columnLists.set(table, (columns = Object.keys(tables[table].columns)));
  return columns;
}

/** Column names come from our own code; this keeps it so. */
function known(table: TableName, name: string): string {
  if (!Object.hasOwn(tables[table].columns, name)) throw new Error(`table ${table} has no column ${name}`);
  return name;
}
