/**
 * One server per data directory: a lock file with the process that holds it. A lock whose process is gone is taken over;
 * a process is known by its number and, where the system tells, its start time, for numbers are used again.
 */
import { isAlive } from "@executor/store/listen-for-stop";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Holder {
  pid: number;
  startedAt: string | null;
}

export type HomeLock = { ok: true; release(): void } | { ok: false; pid: number };

const ATTEMPTS = 5;

export function lockHome(home: string): HomeLock {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, "server.lock");
  const me: Holder = { pid: process.pid, startedAt: startTimeOf(process.pid) };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (tryCreate(path, me)) return { ok: true, release: () => release(path, me) };
    const holder = readHolder(path);
    if (holder && isHolding(holder)) return { ok: false, pid: holder.pid };
    // Gone or unreadable. Between here and the next attempt another server may be first: then that one holds it.
    if (Bun.deepEquals(readHolder(path), holder)) rmSync(path, { force: true });
  }
  return { ok: false, pid: readHolder(path)?.pid ?? 0 };
}

/** Exclusive: of two that try at once, one fails. */
function tryCreate(path: string, me: Holder): boolean {
  try {
    writeFileSync(path, JSON.stringify(me), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function readHolder(path: string): Holder | null {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(path, "utf8")) as Partial<Holder>;
    return typeof pid === "number" ? { pid, startedAt: typeof startedAt === "string" ? startedAt : null } : null;
  } catch {
    return null;
  }
}

/** Our own number in a lock we do not hold is that of a process before us. */
function isHolding({ pid, startedAt }: Holder): boolean {
  if (pid === process.pid || !isAlive(pid)) return false;
  return startedAt === null || startTimeOf(pid) === null || startTimeOf(pid) === startedAt;
}

function release(path: string, me: Holder): void {
  if (Bun.deepEquals(readHolder(path), me)) rmSync(path, { force: true });
}

/** Linux: ticks since boot, the 22nd field of stat; the second may hold spaces, so counting starts after it. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
