/**
 * The embedded store: one SQLite file in WAL mode, shared by server and workers on one machine. Every commit is on disk
 * before its promise settles (synchronous = FULL). Writes go through one connection and one queue; reads have a
 * connection of their own and see only what is committed.
 */
import { Database, type Statement } from "bun:sqlite";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "@executor/contracts/error";
import type { Hint, Store, StoreVerbs } from "@executor/core/ports/store";
import { hintsOf } from "@executor/core/store/hints";
import type { Tx } from "@executor/core/store/tx";
import { reads, writes } from "@executor/core/store/verbs/index";
import { CommitQueue } from "./commit-queue.ts";
import { openHintChannel, type HintChannel } from "./hint-channel.ts";
import { migrate } from "./migrations.ts";
import { CommittedReads } from "./committed-reads.ts";
import { SqliteTx } from "./sqlite-tx.ts";

export interface SqliteOptions {
  /** The database file; its directory is made private. */
  path: string;
  /** Where to exchange hints with other processes; without it only this process hears its own. */
  hints?: { socketPath: string; role: "hub" | "spoke" };
}

/** How long to wait for another process's transaction. Ours are short, so this is only reached when something is wrong. */
const BUSY_MS = 10_000;

export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const writer = openDatabase(options.path, { migrates: true });
  const reader = openDatabase(options.path, { migrates: false });
  const writeTx = new SqliteTx(writer);
  const readTx = new SqliteTx(reader);
  const commits = new CommitQueue(writer, BUSY_MS);
  const listeners = new Set<(hint: Hint) => void>();
  let channel: HintChannel | null = null;
  let closed = false;

  const tell = (hint: Hint): void => {
    for (const listener of listeners) listener(hint);
  };
  if (options.hints) channel = openHintChannel({ ...options.hints, onHint: tell });

  const verbs: Record<string, (args: never) => Promise<unknown>> = {};
  for (const [name, verb] of Object.entries(writes) as [
    keyof typeof writes,
    (tx: Tx, args: unknown) => Promise<unknown>,
  ][]) {
    verbs[name] = async (args: never) => {
      if (closed) throw new AppError("store.unavailable", "The store is closed.");
      const result = await commits.add(() => verb(writeTx, args)).catch(explain);
      const hints = hintsOf(name, args, result);
      for (const hint of hints) tell(hint);
      if (hints.length > 0) channel?.send(hints);
      return result;
    };
  }
  const snapshot = { begin: reader.prepare("BEGIN"), commit: reader.prepare("COMMIT") };
  let lastRead: Promise<unknown> = Promise.resolve();
  for (const [name, verb] of Object.entries(reads) as [
    keyof typeof reads,
    (tx: Tx, args: unknown) => Promise<unknown>,
  ][]) {
    verbs[name] = (args: never) => {
      if (closed) return Promise.reject(new AppError("store.unavailable", "The store is closed."));
      const read = lastRead.then(() => inSnapshot(snapshot, () => verb(readTx, args))).catch(explain);
      lastRead = read.catch(() => undefined);
      return read;
    };
  }

  const versionReader = openDatabase(options.path, { migrates: false });
  const committed = new CommittedReads(versionReader);
  for (const name of readForEveryCall) {
    const load = verbs[name] as (args: never) => Promise<readonly object[]>;
    verbs[name] = async (args: never) => {
      if (closed) throw new AppError("store.unavailable", "The store is closed.");
      return await committed.read(`${name} ${JSON.stringify(args)}`, () => load(args)).catch(explain);
    };
  }

  return {
    ...(verbs as unknown as StoreVerbs),
    kind: "sqlite",
    watch: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await commits.drain();
      await lastRead;
      await channel?.close();
      commits.close();
      for (const tx of [writeTx, readTx]) tx.close();
      for (const statement of Object.values(snapshot)) statement.finalize();
      committed.close();
      versionReader.close();
      reader.close();
      writer.close();
    },
  };
}

const readForEveryCall = ["listPolicies", "findCredentials", "listSources"] as const;

function openDatabase(path: string, { migrates }: { migrates: boolean }): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const isNew = !existsSync(path);
    const db = new Database(path, { create: true, readwrite: true });
    // WAL and shm files take the mode of the main file.
    if (isNew) chmodSync(path, 0o600);
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = FULL");
    db.run("PRAGMA cache_size = -4000");
    // 16 MB instead of 4: copying pages back is the dearest part of a commit that happens to do it.
    db.run("PRAGMA wal_autocheckpoint = 4000");
    if (migrates) migrate(db, path);
    // The writer waits in its own way (commit-queue.ts).
    if (migrates) db.run("PRAGMA busy_timeout = 0");
    return db;
  } catch (error) {
    if (error instanceof AppError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new AppError(
      "store.unavailable",
      `Cannot open the database ${path}: ${reason}. Check that the directory can be written, that the disk is not full and that the file is a database of Executor.`,
      { cause: error },
    );
  }
}

/** A read is a few statements without a pause in between; the snapshot makes them see one state. */
async function inSnapshot<R>(
  { begin, commit }: { begin: Statement; commit: Statement },
  read: () => Promise<R>,
): Promise<R> {
  begin.run();
  try {
    return await read();
  } finally {
    commit.run();
  }
}

/** Refusals of our verbs pass; what SQLite says becomes one of ours. */
function explain(error: unknown): never {
  const sqliteCode = (error as { code?: unknown } | null)?.code;
  if (!(error instanceof AppError) && typeof sqliteCode === "string" && sqliteCode.startsWith("SQLITE_")) {
    const reason = (error as Error).message;
    throw new AppError("store.unavailable", `The database refused (${sqliteCode}: ${reason}). Nothing was changed.`, {
      cause: error,
    });
  }
  throw error;
}
