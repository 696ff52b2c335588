/**
 * What a guest in a VM and its session say to each other, as text: docs/runtimes.md tells it whole.
 * Up, a turn is lines of JSON: console lines first (`/output`), then what the guest wants or how it ended. Down, one JSON
 * value: the deliveries. Used on both sides; the runner in the VM is bundled with it.
 */
import type { Turn } from "@executor/core/ports/runtime";
import type { DeliveryKind, WireEnd } from "../in-process/guest-frames.ts";
import { decodeTurn } from "../in-process/turn-codec.ts";

/** What the runner finds beside it when it starts. */
export interface RunnerJob {
  /** `<callback base>/internal/runs/<runId>`. */
  url: string;
  token: string;
  script: string;
  seed: string;
  startMs: number;
  limits: {
    cpuMs: number;
    memoryBytes: number;
    outputBytes: number;
    calls: number;
    callInputBytes: number;
    resultBytes: number;
  };
}

export interface OutputLine {
  output: [stream: 1 | 2, text: string][];
}
export interface TurnLine {
  calls: [id: number, path: string, after: number, inputJson: string][];
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

/** Throws when the text is not a turn a healthy runner could have sent: it comes from outside. */
export function readTurn(text: string): Turn {
  const out: (1 | 2)[] = [];
  const texts: string[] = [];
  const lines = text.split("\n");
  const last = JSON.parse(lines.pop() ?? "") as TurnLine;
  for (const line of lines)
    for (const [stream, body] of (JSON.parse(line) as OutputLine).output) {
      out.push(stream);
      texts.push(String(body));
    }
  const { cleared, cpuMs, end } = last;
  const parts = [...last.calls.map((call) => String(call[3])), ...texts];
  if (end?.kind === "returned") parts.push(String(last.result));
  const encoder = new TextEncoder();
  return decodeTurn({
    header: {
      t: "turn",
      s: 0,
      calls: last.calls.map(([id, path, after]) => [id, path, after]),
      timers: last.timers,
      cleared,
      out,
      cpuMs,
      totalMs: 0,
      ...(end && { end }),
    },
    blobs: parts.map((part) => encoder.encode(part)),
  });
}
