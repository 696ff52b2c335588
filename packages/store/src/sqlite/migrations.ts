/**
 * The schema's history. A migration that was released is never edited: a change is a new one at the end.
 * The number of the last one is kept in `user_version`; a file written by a newer version is refused, not guessed at.
 */
import type { Database } from "bun:sqlite";
import { AppError } from "@executor/contracts/error";
import { initialSchema } from "./migrations/0001-initial.ts";
import { sourcesSchema } from "./migrations/0002-sources.ts";
import { mcpSessionsSchema } from "./migrations/0003-mcp-sessions.ts";
import { guestLinksSchema } from "./migrations/0004-guest-links.ts";
import { callLinesSchema } from "./migrations/0005-call-lines.ts";

const migrations: readonly string[] = [
  initialSchema,
  sourcesSchema,
  mcpSessionsSchema,
  guestLinksSchema,
  callLinesSchema,
];
export const schemaVersion = migrations.length;

export function migrate(db: Database, path: string): void {
  const current = versionOf(db);
  if (current > schemaVersion) {
    throw new AppError(
      "store.newer_schema",
      `${path} has schema ${current}, and this version knows ${schemaVersion}. Start the newer version again, or use another EXECUTOR_HOME.`,
    );
  }
  if (current === schemaVersion) return;
  db.run("BEGIN IMMEDIATE");
  try {
    // Another process may have been first.
    for (const [index, sql] of migrations.entries()) if (index >= versionOf(db)) db.run(sql);
    db.run(`PRAGMA user_version = ${schemaVersion}`);
    db.run("COMMIT");
  } catch (error) {
    if (db.inTransaction) db.run("ROLLBACK");
    throw error;
  }
}

const versionOf = (db: Database): number =>
  (db.query("PRAGMA user_version").get() as { user_version: number }).user_version;
