/** CPU time of one thread, which another thread can read too. */
import { readFileSync, readlinkSync } from "node:fs";

/** Linux counts a thread's time in nanoseconds here. */
export function findMeter(): string | null {
  try {
    const path = `/proc/${readlinkSync("/proc/thread-self")}/schedstat`;
    return Number.isFinite(readSchedstat(path)) ? path : null;
  } catch {
    return null;
  }
}

/** Without a meter of the thread the whole process is counted: too much by what its other threads do, never too little. */
export function readCpuMs(meter: string | null): number {
  if (meter !== null) return readSchedstat(meter);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const readSchedstat = (path: string): number => Number(readFileSync(path, "utf8").split(" ")[0]) / 1e6;
