/** The machine's own time, randomness and digests, for core. */
import { randomBytes } from "node:crypto";
import type { Host } from "@executor/core/ports/host";

export function createSystemHost(): Host {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    newId: (prefix) => `${prefix}_${randomBytes(16).toString("hex")}`,
    newSeed: () => randomBytes(16).toString("hex"),
    sha256: (text) => Bun.SHA256.hash(text, "hex"),
    setTimer: (ms, fire) => {
      const timer = setTimeout(fire, Math.min(ms, 2_147_000_000));
      return () => clearTimeout(timer);
    },
  };
}
