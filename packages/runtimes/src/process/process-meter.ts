/**
 * What the engine of an isolate has used, as the system counts it (Linux; elsewhere undefined). The process that was started may be a
 * wrapper (sudo, bubblewrap): the engine is the end of the line of its only children.
 */
import { readFileSync } from "node:fs";

const pageBytes = 4096;
const maxDepth = 5;

export function findEnginePid(pid: number): number {
  let leaf = pid;
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const children = read(`/proc/${leaf}/task/${leaf}/children`)?.trim().split(" ").filter(Boolean) ?? [];
    if (children.length !== 1) return leaf;
    leaf = Number(children[0]);
  }
  return leaf;
}

/** Time on a core of the thread that runs the guest. */
export function readGuestCpuMs(pid: number): number | undefined {
  const nanoseconds = read(`/proc/${pid}/schedstat`)?.split(" ")[0];
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1e6;
}

export function readResidentBytes(pid: number): number | undefined {
  const pages = read(`/proc/${pid}/statm`)?.split(" ")[1];
  return pages === undefined ? undefined : Number(pages) * pageBytes;
}

function read(path: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
