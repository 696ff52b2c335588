/** What the system tells about a process and its descendants. Linux: elsewhere there are no descendants and everything is 0. */
import { readdirSync, readFileSync } from "node:fs";

/** The process itself and all that came from it and still exist. */
export function processTree(root: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const name of listProc()) {
    const stat = readStat(Number(name));
    if (stat && stat.state !== "Z") childrenOf.set(stat.parent, [...(childrenOf.get(stat.parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (const pid of found) found.push(...(childrenOf.get(pid) ?? []));
  return found.filter((pid) => isRunning(pid));
}

export function isRunning(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.state !== "Z";
}

/** Memory that would be free if these were gone: pages that several share are counted once. */
export function pssBytes(pids: readonly number[]): number {
  return sum(pids.map((pid) => Number(/^Pss:\s+(\d+) kB/m.exec(readProc(pid, "smaps_rollup"))?.[1] ?? 0) * 1024));
}

/** Cheap to read, and too much where pages are shared. */
export function rssBytes(pids: readonly number[]): number {
  return sum(pids.map((pid) => Number(readProc(pid, "statm").split(" ")[1] ?? 0) * 4096));
}

/** CPU time used so far. */
export function cpuMs(pids: readonly number[]): number {
  return sum(pids.map((pid) => (readStat(pid)?.ticks ?? 0) * 10));
}

export function commandLine(pid: number): string {
  return readProc(pid, "cmdline").replaceAll("\0", " ").trim();
}

function readStat(pid: number): { state: string; parent: number; ticks: number } | null {
  const text = readProc(pid, "stat");
  // The name in parentheses may hold spaces: count from its end.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return text === ""
    ? null
    : { state: fields[0] ?? "", parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

function listProc(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
