/**
 * One guest's machine on V8: a context of its own that holds nothing but the language and the prelude. No object of this side reaches
 * the guest: strings and numbers only, through one function that the prelude keeps to itself and that swallows our errors.
 * V8 cannot be unwound by us, so a stop inside a call of the guest ends the process (`onStop`).
 */
import {
  type GuestMachine,
  GuestThrow,
  type MachineHost,
  OutOfGuestMemory,
} from "@executor/runtimes/guest/guest-machine";
import { type GuestEntry, guestEntries, hostOps, nativePreludeSource } from "@executor/runtimes/guest/prelude";
import type { Engine } from "./engine.ts";

type GuestFunction = (...args: unknown[]) => unknown;

type NativeEntry = GuestEntry | "takeMicrotaskFailure";

const encoder = new TextEncoder();
/** Garbage among the buffers is counted until the engine collects it. */
const bufferMargin = 2;

export class V8Machine implements GuestMachine<unknown, string> {
  readonly runsAllJobs = true;
  readonly #engine: Engine;
  readonly #context: object;
  readonly #entries: Record<NativeEntry, GuestFunction>;
  readonly #baseBytes: number;
  #host: MachineHost<unknown> | undefined;
  #onStop: ((error: unknown) => void) | undefined;
  #hasJobs = false;

  constructor(engine: Engine) {
    this.#engine = engine;
    const { vm } = engine;
    this.#context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
    const make = vm.runInContext(nativePreludeSource, this.#context, { filename: "executor.js" }) as GuestFunction;
    const made = make((op: number, a: unknown, b: unknown, c: unknown) =>
      this.#callHost(op, a, b, c),
    ) as GuestFunction[];
    this.#entries = Object.fromEntries(
      [...guestEntries, "takeMicrotaskFailure" as const].map((name, index) => [name, made[index]]),
    ) as Record<NativeEntry, GuestFunction>;
    const { heapBytes, bufferBytes } = engine.memory();
    this.#baseBytes = heapBytes + bufferBytes;
  }

  bind(host: MachineHost<unknown>, onStop: (error: unknown) => void): this {
    this.#host = host;
    this.#onStop = onStop;
    this.#engine.onRejection((promise, reason, handled) => host.noteRejection(promise, reason, handled));
    return this;
  }

  get memoryBytes(): number {
    const { heapBytes, bufferBytes } = this.#engine.memory();
    return Math.max(0, heapBytes + bufferBytes - this.#baseBytes);
  }

  evaluate(script: string, filename: string): unknown {
    return this.#enter(() => this.#engine.vm.runInContext(script, this.#context, { filename }));
  }

  call(func: unknown, args: readonly unknown[]): unknown {
    return this.#enter(() => (func as GuestFunction)(...args));
  }

  callEntry(entry: GuestEntry, args: readonly unknown[]): unknown {
    return this.#enter(() => this.#entries[entry](...args));
  }

  makeString(text: string): unknown {
    return text;
  }

  makeNumber(value: number): unknown {
    return value;
  }

  makeText(text: string): string {
    return text;
  }

  readNumber(box: unknown): number {
    return box as number;
  }

  readBool(box: unknown): boolean {
    return box === true;
  }

  isString(box: unknown): boolean {
    return typeof box === "string";
  }

  readString(box: unknown): string {
    return box as string;
  }

  readText(box: unknown, maxBytes: number): string | undefined {
    const text = box as string;
    if (text.length * 3 <= maxBytes) return text;
    return text.length > maxBytes || this.byteLength(text) > maxBytes ? undefined : text;
  }

  byteLength(text: string): number {
    return encoder.encode(text).length;
  }

  free(): void {}

  promiseState(box: unknown): "pending" | "fulfilled" | "rejected" | "no promise" {
    const [state] = this.#engine.promiseDetails(box);
    return state === 0 ? "pending" : state === 1 ? "fulfilled" : "rejected";
  }

  promiseResult(box: unknown): unknown {
    return this.#engine.promiseDetails(box)[1];
  }

  identityOf(box: unknown): unknown {
    return box;
  }

  runJob(): boolean {
    if (!this.#hasJobs) return false;
    this.#hasJobs = false;
    this.#engine.runMicrotasks();
    this.#enter(() => this.#entries.takeMicrotaskFailure());
    this.#hasJobs = false;
    return true;
  }

  /** The engine keeps the limit of its heap by itself; buffers lie outside of it and count late, hence the margin. */
  checkMemory(maxBytes: number): void {
    if (this.#engine.memory().bufferBytes > maxBytes * bufferMargin)
      throw new OutOfGuestMemory("the guest's buffers are over its limit");
  }

  /** Whatever is thrown here was thrown by the guest, and nothing of it is touched on this side. */
  #enter(act: () => unknown): unknown {
    this.#hasJobs = true;
    try {
      return act();
    } catch (error) {
      throw new GuestThrow(error);
    }
  }

  #callHost(op: number, a: unknown, b: unknown, c: unknown): number | undefined {
    const host = this.#host;
    if (host === undefined) return undefined;
    if (op === hostOps.clock) return host.readClockMs();
    try {
      return host.callHost(op, [a, b, c]);
    } catch (error) {
      this.#onStop?.(error);
      throw error;
    }
  }
}
