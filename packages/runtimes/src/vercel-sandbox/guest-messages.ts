/**
 * What a guest in a VM and its session say to each other, as text: docs/runtimes.md tells it whole.
 * Up, a turn is lines of JSON: console lines first (`/output`), then what the guest wants or how it ended. Down, one JSON
 * value: the deliveries. Used on both sides; the runner in the VM is bundled with it.
 */
import type { GuestLimits } from "@executor/core/ports/runtime";
import type { DeliveryKind, WireEnd } from "../guest/turn-parts.ts";

/** What the runner finds beside it when it starts. */
export interface RunnerJob {
  /** `<callback base>/internal/runs/<runId>`. */
  url: string;
  token: string;
  script: string;
  seed: string;
  startMs: number;
  limits: GuestLimits;
}

export interface OutputLine {
  output: [stream: 1 | 2, text: string][];
}
export interface TurnLine {
  calls: [id: number, path: string, after: number, inputJson: string, line: number][];
  timers: [id: number, delayMs: number, after: number][];
  cleared: number[];
  cpuMs: number;
  end?: WireEnd;
  /** Beside `end` when that is a return. */
  result?: string;
}
/** Results and errors carry text; an error's is a JSON object. */
export type DownMessage = [kind: DeliveryKind, id: number, atMs: number, text?: string][];

/** Longer text goes in several requests, and in several writes to the store. */
const PIECE_LENGTH = 1_000_000;

/** Never between the two halves of one character: a lone half would not survive UTF-8. */
export function cutText(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE_LENGTH, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces.length === 0 ? [""] : pieces;
}
