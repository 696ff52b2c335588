/** How much of the machine others used while something was measured: floor and product suffer from it, but not always alike. */
import { readFileSync } from "node:fs";

export interface MachineLoad {
  /** Shares of all cores, 0 to 1. */
  idle: number;
  others: number;
}

const MS_PER_TICK = 10;

/** Call the answer when it is over. What this process and its ended children used is ours, the rest of what was busy is not. */
export function watchMachine(): () => MachineLoad {
  const before = readCpu();
  return () => {
    const after = readCpu();
    const all = after.allMs - before.allMs;
    const idle = after.idleMs - before.idleMs;
    return { idle: idle / all, others: Math.max(0, all - idle - (after.oursMs - before.oursMs)) / all };
  };
}

function readCpu(): { allMs: number; idleMs: number; oursMs: number } {
  const ticks = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").trim().split(/\s+/).slice(1, 9).map(Number);
  const own = (readFileSync("/proc/self/stat", "utf8").split(") ")[1] ?? "").split(" ").slice(11, 15).map(Number);
  const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0) * MS_PER_TICK;
  return { allMs: sum(ticks), idleMs: sum(ticks.slice(3, 5)), oursMs: sum(own) };
}
