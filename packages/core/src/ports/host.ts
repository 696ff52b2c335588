/** What core may not take from the machine by itself: time, randomness, digests, timers. */
import type { IdPrefix } from "@executor/contracts/id";

export interface Host {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that never go back; only differences mean something. */
  monotonicMs(): number;
  newId(prefix: IdPrefix): string;
  /** 32 hex digits. */
  newSeed(): string;
  sha256(text: string): string;
  /** Returns the way to call it off. */
  setTimer(ms: number, fire: () => void): () => void;
}
