/**
 * What a guest runs in, as guest-run.ts needs it: an engine with the prelude inside. One of WebAssembly, one of a native engine.
 * A `Box` is a value of the engine; whoever gets one frees it. A `Text` is a string in whatever form the engine hands it out best.
 */
import type { GuestEntry } from "./prelude.ts";

export interface GuestMachine<Box, Text> {
  /** What it holds now, freed memory that was not given back included. */
  readonly memoryBytes: number;
  /** Its microtasks run all or none, so that code can go on for a moment after the task has settled. */
  readonly runsAllJobs: boolean;
  evaluate(script: Text, filename: string): Box;
  call(func: Box, args: readonly Box[]): Box;
  /** Calls one of the prelude's functions; throws GuestThrow when the guest's side threw. The boxes of `args` are freed. */
  callEntry(entry: GuestEntry, args: readonly Box[]): Box;
  makeString(text: Text): Box;
  makeNumber(value: number): Box;
  readNumber(box: Box): number;
  readBool(box: Box): boolean;
  isString(box: Box): boolean;
  readString(box: Box): string;
  /** Undefined instead of one that is longer than `maxBytes` in UTF-8. */
  readText(box: Box, maxBytes: number): Text | undefined;
  /** A text of the host's own. */
  makeText(text: string): Text;
  byteLength(text: Text): number;
  free(box: Box): void;
  promiseState(box: Box): "pending" | "fulfilled" | "rejected" | "no promise";
  promiseResult(box: Box): Box;
  /** The same for two boxes of one object, as long as either lives. */
  identityOf(box: Box): unknown;
  /** Runs one microtask, or all (runsAllJobs). False: there was none. */
  runJob(): boolean;
  /** Throws OutOfGuestMemory when more than `maxBytes` are in use. Called when a turn ends. */
  checkMemory(maxBytes: number): void;
}

/** What a machine asks of its owner. `callHost` answers with a number or nothing; a throw of either stops the guest. */
export interface MachineHost<Box> {
  callHost(op: number, args: readonly Box[]): number | undefined;
  pollInterrupt(): void;
  readClockMs(): number;
  /** Both boxes are the callee's to free. `handled`: an earlier report is taken back. */
  noteRejection(promise: Box, reason: Box, handled: boolean): void;
}

/** The guest's code threw; `box` is what it threw. */
export class GuestThrow<Box = unknown> extends Error {
  readonly box: Box;
  constructor(box: Box) {
    super("the guest threw");
    this.box = box;
  }
}

/** The engine could not get memory for something the host put in, or holds more than it may. */
export class OutOfGuestMemory extends Error {}
