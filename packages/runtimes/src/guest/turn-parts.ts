/** What comes out of one turn, in the short form in which it leaves the engine's process. */
import type { GuestEnd } from "@executor/core/ports/runtime";

export type DeliveryKind = 0 | 1 | 2;
export const deliveryKinds = { result: 0, error: 1, timer: 2 } as const;

export type WireEnd = { kind: "returned" } | Exclude<GuestEnd, { kind: "returned" }>;

export interface TurnParts<Text> {
  /** `line`: of the script, 0 when it is not known. */
  calls: [id: number, path: string, after: number, line: number][];
  inputs: Text[];
  timers: [id: number, delayMs: number, after: number][];
  cleared: number[];
  out: (1 | 2)[];
  texts: Text[];
  result?: Text;
  cpuMs: number;
  end?: WireEnd;
}

export function makeTurn<Text>(): TurnParts<Text> {
  return { calls: [], inputs: [], timers: [], cleared: [], out: [], texts: [], cpuMs: 0 };
}
