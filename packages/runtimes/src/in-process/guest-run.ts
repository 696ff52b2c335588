/**
 * One guest inside a child: starts its program, applies deliveries, collects what comes out and enforces its limits.
 * Nothing here looks at real time but the CPU meter, and that can only end a guest, never change what it does.
 * After a stop the machine is dropped: a broken engine is never entered again.
 */
import type { GuestLimits } from "@executor/core/ports/runtime";
import { hostOps } from "../guest/prelude.ts";
import { type DeliveryKind, deliveryKinds, type WireEnd } from "./guest-frames.ts";
import { type GuestProblem, GuestStop, limitBehind, lineOf, taskFile, whoseError } from "./guest-stop.ts";
import { type EngineImage, GuestThrow, OutOfGuestMemory, type QuickJsVm, startVm } from "./quickjs-vm.ts";

export interface TurnParts {
  calls: [id: number, path: string, after: number][];
  inputs: Uint8Array[];
  timers: [id: number, delayMs: number, after: number][];
  cleared: number[];
  out: (1 | 2)[];
  texts: Uint8Array[];
  result?: Uint8Array;
  cpuMs: number;
  end?: WireEnd;
}

export interface GuestRunOptions {
  image: EngineImage;
  script: Uint8Array;
  seed: string;
  startMs: number;
  limits: GuestLimits;
  /** CPU time of this thread so far. */
  readCpuMs: () => number;
}

const maxTimers = 100_000;
const maxPathBytes = 1_000;
const maxNotedRejections = 1_000;
const maxShownRejections = 5;
/** What a line of output costs beside its text, so that a flood of empty lines ends too. */
const outputLineBytes = 16;
const refusedTooLarge = -1;
const refusedPath = -2;
const encoder = new TextEncoder();

export class GuestRun {
  readonly #options: GuestRunOptions;
  readonly #limits: GuestLimits;
  #vm: QuickJsVm | undefined;
  #task = 0;
  #started = false;
  #over = false;
  #ending = false;
  #nowMs: number;
  #turn: TurnParts = emptyTurn();
  #applied = 0;
  #nextCall = 0;
  #nextTimer = 0;
  #stepBytes = 0;
  #outputBytes = 0;
  #outputFull = false;
  #cpuMs = 0;
  #enteredAtMs = 0;
  readonly #rejections = new Map<number, { promise: number; reason: number }>();

  constructor(options: GuestRunOptions) {
    this.#options = options;
    this.#limits = options.limits;
    this.#nowMs = options.startMs;
    this.#vm = startVm(options.image, options.limits.memoryBytes, {
      callHost: (op, args) => this.#callHost(op, args),
      pollInterrupt: () => this.#checkCpu(),
      readClockMs: () => this.#nowMs,
      noteRejection: (promise, reason, handled) => this.#noteRejection(promise, reason, handled),
    });
  }

  get memoryBytes(): number {
    return this.#vm?.memoryBytes ?? 0;
  }

  /** Throws only when the engine itself failed; then the guest is lost, not at fault. */
  advance(deliveries: readonly [DeliveryKind, number, number][], blobs: readonly Uint8Array[]): TurnParts {
    const vm = this.#vm;
    if (vm === undefined || this.#over) throw new Error("this guest is over");
    this.#turn = emptyTurn();
    this.#applied = 0;
    this.#enteredAtMs = this.#options.readCpuMs();
    let end: WireEnd | undefined;
    try {
      end = this.#applyAll(vm, deliveries, blobs);
    } catch (error) {
      end = this.#explainStop(vm, error);
      this.#vm = undefined;
    }
    this.#cpuMs += this.#options.readCpuMs() - this.#enteredAtMs;
    this.#turn.cpuMs = Math.round(this.#cpuMs * 1000) / 1000;
    if (end !== undefined) {
      this.#turn.end = end;
      this.#over = true;
      this.#vm = undefined;
    }
    return this.#turn;
  }

  #applyAll(
    vm: QuickJsVm,
    deliveries: readonly [DeliveryKind, number, number][],
    blobs: readonly Uint8Array[],
  ): WireEnd | undefined {
    let end: WireEnd | undefined;
    if (!this.#started) {
      this.#started = true;
      end = this.#startProgram(vm) ?? this.#drain(vm);
    }
    let blob = 0;
    for (const [kind, id, atMs] of deliveries) {
      if (end !== undefined) break;
      this.#nowMs = atMs;
      this.#applied += 1;
      this.#stepBytes = 0;
      const data = kind === deliveryKinds.timer ? undefined : blobs[blob++];
      end = this.#applyDelivery(vm, kind, id, data) ?? this.#drain(vm);
    }
    return end;
  }

  #startProgram(vm: QuickJsVm): WireEnd | undefined {
    const { seed, script } = this.#options;
    const words = [0, 8, 16, 24].map((at) => Number.parseInt(seed.slice(at, at + 8), 16) || 0);
    vm.free(
      vm.callEntry(
        "start",
        [...words, this.#limits.callInputBytes].map((value) => vm.makeNumber(value)),
      ),
    );
    let program: number;
    try {
      program = vm.evaluate(script, taskFile);
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      const problem = this.#describe(vm, error.box);
      if (problem.name !== "SyntaxError") return this.#endByThrow(problem);
      const line = lineOf(problem.stack);
      return {
        kind: "stopped",
        code: "task.syntax_error",
        message: `${problem.message}${line === undefined ? "" : ` (line ${line} of the transpiled code)`}`,
      };
    }
    return this.#guard(vm, () => {
      this.#task = vm.call(program, []);
    });
  }

  #applyDelivery(vm: QuickJsVm, kind: DeliveryKind, id: number, data: Uint8Array | undefined): WireEnd | undefined {
    let known = false;
    const end = this.#guard(vm, () => {
      const args = [vm.makeNumber(id)];
      if (data !== undefined) args.push(vm.makeString(data));
      const answer = vm.callEntry(
        kind === deliveryKinds.result ? "deliverResult" : kind === deliveryKinds.error ? "deliverError" : "fireTimer",
        args,
      );
      known = vm.readBool(answer);
      vm.free(answer);
    });
    if (end !== undefined || known) return end;
    const what = kind === deliveryKinds.timer ? "timer" : "call";
    return {
      kind: "stopped",
      code: "task.diverged",
      message: `${what} ${id} was answered, but the code is not waiting for it`,
    };
  }

  /** Runs microtasks until there are none, or the task has settled: nothing runs after its end. */
  #drain(vm: QuickJsVm): WireEnd | undefined {
    for (let jobs = 1; ; jobs += 1) {
      const state = vm.promiseState(this.#task);
      if (state === "fulfilled") return this.#endByReturn(vm);
      if (state !== "pending") return this.#endByThrow(this.#describe(vm, vm.promiseResult(this.#task)), vm);
      let ran = false;
      const end = this.#guard(vm, () => {
        ran = vm.runJob();
      });
      if (end !== undefined) return end;
      if (!ran) return undefined;
      if (jobs % 128 === 0) this.#checkCpu();
    }
  }

  /** An error that the guest let out of a timer or a microtask ends it, as it would end a process. */
  #guard(vm: QuickJsVm, act: () => void): WireEnd | undefined {
    try {
      act();
      return undefined;
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      return this.#endByThrow(this.#describe(vm, error.box), vm);
    }
  }

  #endByReturn(vm: QuickJsVm): WireEnd {
    this.#ending = true;
    let json: number;
    try {
      json = vm.callEntry("writeResult", [vm.promiseResult(this.#task)]);
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      const problem = this.#describe(vm, error.box);
      return (
        limitBehind(problem) ?? {
          kind: "stopped",
          code: "task.result_not_json",
          message: `The result cannot be written as JSON: ${problem.message}`,
        }
      );
    }
    if (!vm.isString(json))
      return {
        kind: "stopped",
        code: "task.result_not_json",
        message: "The result is a function or a symbol, which JSON cannot hold",
      };
    const bytes = vm.readStringBytes(json, this.#limits.resultBytes);
    if (bytes === undefined)
      return {
        kind: "stopped",
        code: "task.result_too_large",
        message: `The result is over the limit of ${this.#limits.resultBytes} bytes`,
      };
    this.#turn.result = bytes;
    this.#showRejections(vm);
    return { kind: "returned" };
  }

  #endByThrow(problem: GuestProblem, vm?: QuickJsVm): WireEnd {
    const limit = limitBehind(problem);
    if (limit !== undefined) return limit;
    // Without memory for an error object the engine throws null.
    const isShort = (vm?.memoryBytes ?? 0) > this.#limits.memoryBytes * 0.8;
    if (isShort && problem.message === "null was thrown") return this.#memoryStop();
    if (vm !== undefined) this.#showRejections(vm);
    const line = lineOf(problem.stack);
    return {
      kind: "threw",
      name: problem.name,
      message: problem.message,
      ...(line === undefined ? {} : { line }),
      ...whoseError(problem),
    };
  }

  #describe(vm: QuickJsVm, box: number): GuestProblem {
    this.#ending = true;
    try {
      const text = vm.callEntry("describeError", [box]);
      const problem = JSON.parse(vm.readString(text)) as GuestProblem;
      vm.free(text);
      return problem;
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      // It runs on an empty stack and catches what the guest's getters throw, so most likely memory is short.
      if (vm.memoryBytes > this.#limits.memoryBytes * 0.8)
        throw new OutOfGuestMemory("no memory was left to read the error");
      return { name: "Error", message: "an error that cannot be read", stack: "", call: -1 };
    }
  }

  #explainStop(vm: QuickJsVm, error: unknown): WireEnd {
    if (error instanceof GuestStop) return { kind: "stopped", code: error.code, message: error.message };
    if (error instanceof OutOfGuestMemory) return this.#memoryStop();
    if (error instanceof RangeError && /stack/i.test(error.message))
      return { kind: "stopped", code: "task.stack_overflow", message: "The code nests or recurses too deeply" };
    if (error instanceof RangeError && /memory|allocat/i.test(error.message)) return this.#memoryStop();
    throw new Error(`the engine failed with ${vm.memoryBytes} bytes in use: ${String(error)}`);
  }

  #memoryStop(): WireEnd {
    return {
      kind: "stopped",
      code: "task.memory_limit",
      message: `The code used more than ${this.#limits.memoryBytes} bytes of memory`,
    };
  }

  #checkCpu(): void {
    if (this.#cpuMs + this.#options.readCpuMs() - this.#enteredAtMs <= this.#limits.cpuMs) return;
    throw new GuestStop("task.cpu_limit", `The code used more than ${this.#limits.cpuMs} ms of CPU time`);
  }

  #callHost(op: number, args: readonly number[]): number | undefined {
    const vm = this.#vm;
    if (vm === undefined) throw new Error("the prelude called its host before there was one");
    const [first = 0, second = 0] = args;
    switch (op) {
      case hostOps.call:
        return this.#makeCall(vm, first, second);
      case hostOps.timer:
        return this.#makeTimer(vm.readNumber(first));
      case hostOps.clear:
        if (!this.#ending) this.#turn.cleared.push(vm.readNumber(first));
        return undefined;
      case hostOps.output:
        this.#writeOutput(vm, vm.readNumber(first) === 1 ? 1 : 2, second);
        return undefined;
      default:
        throw new GuestStop("task.stack_overflow", "The code nests or recurses too deeply");
    }
  }

  #makeCall(vm: QuickJsVm, path: number, input: number): number {
    if (this.#ending) return refusedPath;
    if (this.#nextCall >= this.#limits.calls)
      throw new GuestStop("task.call_limit", `The code made more than ${this.#limits.calls} tool calls`);
    const pathBytes = vm.readStringBytes(path, maxPathBytes);
    if (pathBytes === undefined) return refusedPath;
    const bytes = vm.readStringBytes(input, this.#limits.callInputBytes);
    if (bytes === undefined) return refusedTooLarge;
    // Inputs wait outside the machine until the turn ends, so without this they would escape its memory limit.
    this.#stepBytes += bytes.length;
    if (this.#stepBytes > Math.max(this.#limits.memoryBytes, this.#limits.callInputBytes))
      throw new OutOfGuestMemory("the inputs of calls made at once");
    const id = this.#nextCall++;
    this.#turn.calls.push([id, new TextDecoder().decode(pathBytes), this.#applied]);
    this.#turn.inputs.push(bytes);
    return id;
  }

  #makeTimer(delayMs: number): number {
    if (this.#ending || this.#nextTimer >= maxTimers) return -1;
    const id = this.#nextTimer++;
    this.#turn.timers.push([id, delayMs, this.#applied]);
    return id;
  }

  #writeOutput(vm: QuickJsVm, stream: 1 | 2, text: number): void {
    if (this.#outputFull || this.#ending) return;
    const room = this.#limits.outputBytes - this.#outputBytes - outputLineBytes;
    const bytes = room < 0 ? undefined : vm.readStringBytes(text, room);
    if (bytes !== undefined) {
      this.#outputBytes += bytes.length + outputLineBytes;
      this.#pushOutput(stream, bytes);
      return;
    }
    this.#outputFull = true;
    this.#pushOutput(
      2,
      encoder.encode(`[output is over the limit of ${this.#limits.outputBytes} bytes; the rest is dropped]`),
    );
  }

  #pushOutput(stream: 1 | 2, bytes: Uint8Array): void {
    this.#turn.out.push(stream);
    this.#turn.texts.push(bytes);
  }

  #noteRejection(promise: number, reason: number, handled: boolean): void {
    const vm = this.#vm;
    if (vm === undefined) return;
    const identity = vm.identityOf(promise);
    const noted = this.#rejections.get(identity);
    if (!handled && noted === undefined && this.#rejections.size < maxNotedRejections) {
      this.#rejections.set(identity, { promise, reason });
      return;
    }
    if (handled && noted !== undefined) {
      this.#rejections.delete(identity);
      vm.free(noted.promise);
      vm.free(noted.reason);
    }
    vm.free(promise);
    vm.free(reason);
  }

  /** A call nobody awaited may have failed: say so instead of losing it. */
  #showRejections(vm: QuickJsVm): void {
    if (this.#task !== 0) this.#rejections.delete(vm.identityOf(this.#task));
    let shown = 0;
    for (const { reason } of this.#rejections.values()) {
      if (shown++ === maxShownRejections || this.#outputFull) return;
      const problem = this.#describe(vm, reason);
      this.#pushOutput(2, encoder.encode(`[nobody handled this error] ${problem.name}: ${problem.message}`));
    }
  }
}

function emptyTurn(): TurnParts {
  return { calls: [], inputs: [], timers: [], cleared: [], out: [], texts: [], cpuMs: 0 };
}
