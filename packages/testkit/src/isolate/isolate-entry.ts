/** The isolate's program, and limits for guests in tests. */
import { fileURLToPath } from "node:url";
import type { GuestLimits } from "@executor/core/ports/runtime";

export const isolateEntry = fileURLToPath(new URL("../../../../apps/isolate/src/main.ts", import.meta.url));

export const isolateLimits = { memoryBytes: 64_000_000, cpuMs: 30_000, maxTextBytes: 10_000_000 };

export const guestLimits: GuestLimits = {
  cpuMs: 5_000,
  memoryBytes: 64_000_000,
  outputBytes: 100_000,
  calls: 10_000,
  callInputBytes: 1_000_000,
  resultBytes: 1_000_000,
};
