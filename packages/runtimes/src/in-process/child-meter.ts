/**
 * What a child process has used, as the system counts it. Linux only; elsewhere the answer is undefined and callers fall back to real time.
 */
import { readFileSync } from "node:fs";

const tickMs = 10;
const pageBytes = 4096;

export function readChildCpuMs(pid: number): number | undefined {
  const fields = readProc(pid, "stat");
  if (fields === undefined) return undefined;
  // The name in parentheses may hold spaces: count from its end. utime and stime are fields 14 and 15.
  const rest = fields.slice(fields.lastIndexOf(")") + 2).split(" ");
  return (Number(rest[11]) + Number(rest[12])) * tickMs;
}

export function readChildRssBytes(pid: number): number | undefined {
  const resident = readProc(pid, "statm")?.split(" ")[1];
  return resident === undefined ? undefined : Number(resident) * pageBytes;
}

function readProc(pid: number, file: string): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
