/** When a process of ours must go: told by a signal, or its parent is gone. */
import { readFileSync } from "node:fs";

const PARENT_CHECK_MS = 1_000;

/** Resolves with the reason, once. `parentPid`: whoever started us and would otherwise leave us behind. */
export function listenForStop(parentPid: number | null): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  if (parentPid !== null) setInterval(() => isAlive(parentPid) || resolve("parent is gone"), PARENT_CHECK_MS).unref();
  return promise;
}

/** A process of another user counts as alive; one that ended and was not yet collected by its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isEnded(pid);
}

/** Linux: the state stands behind the name, which may hold anything; Z and X have ended. */
function isEnded(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return /^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}
