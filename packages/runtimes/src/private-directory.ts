/**
 * A directory for sockets that only this user can enter. Its name holds the id of the process that made it: a process that was killed
 * could not take its directory away, so whoever comes next does.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Longer paths do not fit into the address of a Unix socket. */
const maxSocketPath = 100;

/** `prefix` ends with a dash. The system's temporary directory stands in where `runDir` is absent or too long. */
export function makePrivateDirectory(runDir: string | undefined, prefix: string): string {
  if (runDir !== undefined) mkdirSync(runDir, { recursive: true, mode: 0o700 });
  const base = runDir !== undefined && runDir.length < maxSocketPath - 45 ? runDir : tmpdir();
  removeLeftovers(base, prefix);
  const directory = mkdtempSync(join(base, `${prefix}${process.pid}-`));
  chmodSync(directory, 0o700);
  return directory;
}

function removeLeftovers(base: string, prefix: string): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(prefix)) continue;
    try {
      process.kill(Number(name.slice(prefix.length).split("-", 1)[0]), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ESRCH") rmSync(join(base, name), { recursive: true, force: true });
    }
  }
}
