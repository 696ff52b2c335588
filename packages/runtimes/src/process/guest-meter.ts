/**
 * Watches one guest's process while it has the turn: time on a core, and memory, by the system's count. The isolate counts too, but
 * inside a turn only somebody outside can end a guest that does not come back.
 */
import type { GuestLimits } from "@executor/core/ports/runtime";
import type { IsolateDeath } from "./isolate-process.ts";
import { readGuestCpuMs, readResidentBytes } from "./process-meter.ts";

export interface Verdict {
  code: "task.cpu_limit" | "task.memory_limit";
  message: string;
}

/** What the process had used before its guest. */
export interface MeterBase {
  cpuMs: number;
  bytes: number;
}

export function readMeterBase(pid: number): MeterBase {
  return { cpuMs: readGuestCpuMs(pid) ?? 0, bytes: readResidentBytes(pid) ?? 0 };
}

const watchEveryMs = 15;
/** The isolate ends a guest between two turns by itself, with all that it said; this is for the others. */
const cpuGraceMs = 20;
/** What the engine may take beside the guest's own: young objects, garbage not yet collected, compiled code. */
const engineSlackBytes = 56_000_000;
/** Without the system's count, real time stands in, with room for a busy machine. */
const wallFactor = 4;

export class GuestMeter {
  readonly #pid: number;
  readonly #limits: GuestLimits;
  readonly #kill: (reason: string) => void;
  readonly #base: MeterBase;
  #startedAtMs = 0;
  #wallMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #verdict: Verdict | undefined;

  constructor(pid: number, base: MeterBase, limits: GuestLimits, kill: (reason: string) => void) {
    this.#pid = pid;
    this.#limits = limits;
    this.#kill = kill;
    this.#base = base;
  }

  get usedCpuMs(): number {
    return Math.min(this.#usedCpuMs() ?? this.#limits.cpuMs, this.#limits.cpuMs + cpuGraceMs);
  }

  start(): void {
    this.#startedAtMs = performance.now();
    this.#timer = setTimeout(() => this.#watch(), watchEveryMs);
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#wallMs += performance.now() - this.#startedAtMs;
  }

  /** What the guest is to blame for, if it is. */
  explainDeath({ stderr, signal }: IsolateDeath): Verdict | undefined {
    if (this.#verdict !== undefined) return this.#verdict;
    if (/out of memory|OutOfMemory|allocation failed|heap limit/i.test(stderr)) return this.#memoryVerdict();
    return signal === "SIGXCPU" ? this.#cpuVerdict() : undefined;
  }

  #watch(): void {
    const cpuMs = this.#usedCpuMs() ?? (this.#wallMs + performance.now() - this.#startedAtMs) / wallFactor;
    if (cpuMs > this.#limits.cpuMs + cpuGraceMs) return this.#end(this.#cpuVerdict());
    const bytes = (readResidentBytes(this.#pid) ?? 0) - this.#base.bytes;
    if (bytes > this.#limits.memoryBytes * 1.25 + engineSlackBytes) return this.#end(this.#memoryVerdict());
    this.#timer = setTimeout(() => this.#watch(), watchEveryMs);
  }

  #end(verdict: Verdict): void {
    this.#verdict = verdict;
    this.#kill(verdict.message);
  }

  #usedCpuMs(): number | undefined {
    const now = readGuestCpuMs(this.#pid);
    return now === undefined ? undefined : now - this.#base.cpuMs;
  }

  #cpuVerdict(): Verdict {
    return { code: "task.cpu_limit", message: `The code used more than ${this.#limits.cpuMs} ms of CPU time` };
  }

  #memoryVerdict(): Verdict {
    return {
      code: "task.memory_limit",
      message: `The code used more than ${this.#limits.memoryBytes} bytes of memory`,
    };
  }
}
