/**
 * One guest in its machine: starts its program, applies deliveries, collects what comes out and enforces its limits.
 * The same for every engine that runs in a process of ours: same turns, same limits, same errors.
 * Nothing here looks at real time but the CPU meter, and that can only end a guest, never change what it does.
 * After a stop the machine is dropped: a broken engine is never entered again.
 */
import type { GuestLimits } from "@executor/core/ports/runtime";
import { type GuestMachine, GuestThrow, type MachineHost, OutOfGuestMemory } from "./guest-machine.ts";
import {
  type GuestProblem,
  GuestStop,
  limitBehind,
  lineOf,
  memoryStop,
  rewordProblem,
  stopBehind,
  taskFile,
  throwBehind,
} from "./guest-stop.ts";
import { hostOps } from "./prelude.ts";
import { Rejections } from "./rejections.ts";
import { type DeliveryKind, deliveryKinds, makeTurn, type TurnParts, type WireEnd } from "./turn-parts.ts";

export interface GuestRunOptions<Box, Text> {
  start: (host: MachineHost<Box>) => GuestMachine<Box, Text>;
  script: Text;
  seed: string;
  startMs: number;
  limits: GuestLimits;
  /** CPU time of this thread so far. */
  readCpuMs: () => number;
  /** Called with each line of output as it is written, instead of keeping it for the turn. */
  onOutput?: (stream: 1 | 2, text: Text) => void;
  /** The engine tells of unhandled rejections only later: whoever drives calls `takeRejections` for them. */
  rejectionsComeLate?: boolean;
}

const maxTimers = 100_000;
const maxPathBytes = 1_000;
/** What a line of output costs beside its text, so that a flood of empty lines ends too. */
const outputLineBytes = 16;
const refusedTooLarge = -1;
const refusedPath = -2;
/** A call of code that is over: its promise stays pending, and nobody hears of it. */
const ignoredCall = Number.MAX_SAFE_INTEGER;

export class GuestRun<Box, Text> {
  readonly #options: GuestRunOptions<Box, Text>;
  readonly #limits: GuestLimits;
  #vm: GuestMachine<Box, Text> | undefined;
  #lastVm: GuestMachine<Box, Text> | undefined;
  #task: Box | undefined;
  #started = false;
  #over = false;
  #ending = false;
  #nowMs: number;
  #turn: TurnParts<Text> = makeTurn();
  #applied = 0;
  #nextCall = 0;
  #nextTimer = 0;
  #stepBytes = 0;
  #outputBytes = 0;
  #outputFull = false;
  #cpuMs = 0;
  #enteredAtMs = 0;
  readonly #rejections = new Rejections<Box>();

  constructor(options: GuestRunOptions<Box, Text>) {
    this.#options = options;
    this.#limits = options.limits;
    this.#nowMs = options.startMs;
    this.#vm = options.start({
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
  advance(deliveries: readonly [DeliveryKind, number, number][], blobs: readonly Text[]): TurnParts<Text> {
    const vm = this.#vm;
    if (vm === undefined || this.#over) throw new Error("this guest is over");
    this.#turn = makeTurn();
    this.#applied = 0;
    this.#enteredAtMs = this.#options.readCpuMs();
    let end: WireEnd | undefined;
    try {
      end = this.#applyAll(vm, deliveries, blobs);
      if (end === undefined) {
        this.#checkCpu();
        vm.checkMemory(this.#limits.memoryBytes);
      }
    } catch (error) {
      end = this.#explainStop(vm, error);
    }
    return this.#closeTurn(end);
  }

  /** The turn as it stands, ended by what was thrown: for an engine that cannot be unwound and must go with its process. */
  stopNow(error: unknown): TurnParts<Text> {
    if (this.#vm === undefined) throw new Error("this guest is over");
    return this.#closeTurn(this.#explainStop(this.#vm, error));
  }

  /** What nobody handled, as lines for stderr; for an engine that tells of it late. */
  takeRejections(): Text[] {
    const vm = this.#lastVm;
    if (vm === undefined) return [];
    this.#turn = makeTurn();
    this.#showRejections(vm, true);
    this.#lastVm = undefined;
    return this.#turn.texts;
  }

  #closeTurn(end: WireEnd | undefined): TurnParts<Text> {
    this.#cpuMs += this.#options.readCpuMs() - this.#enteredAtMs;
    this.#turn.cpuMs = Math.round(this.#cpuMs * 1000) / 1000;
    if (end !== undefined) {
      this.#turn.end = end;
      this.#over = true;
      if (this.#options.rejectionsComeLate === true && end.kind !== "stopped") this.#lastVm = this.#vm;
      this.#vm = undefined;
    }
    return this.#turn;
  }

  #applyAll(
    vm: GuestMachine<Box, Text>,
    deliveries: readonly [DeliveryKind, number, number][],
    blobs: readonly Text[],
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

  #startProgram(vm: GuestMachine<Box, Text>): WireEnd | undefined {
    const { seed, script } = this.#options;
    const words = [0, 8, 16, 24].map((at) => Number.parseInt(seed.slice(at, at + 8), 16) || 0);
    vm.free(
      vm.callEntry(
        "start",
        [...words, this.#limits.callInputBytes].map((value) => vm.makeNumber(value)),
      ),
    );
    let program: Box;
    try {
      program = vm.evaluate(script, taskFile);
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      const problem = this.#describe(vm, error.box as Box);
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

  #applyDelivery(
    vm: GuestMachine<Box, Text>,
    kind: DeliveryKind,
    id: number,
    data: Text | undefined,
  ): WireEnd | undefined {
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
  #drain(vm: GuestMachine<Box, Text>): WireEnd | undefined {
    for (let jobs = 1; ; jobs += 1) {
      const task = this.#task;
      if (task === undefined) throw new Error("the program was not started");
      const state = vm.promiseState(task);
      if (state === "fulfilled") return this.#endByReturn(vm, task);
      if (state !== "pending") return this.#endByThrow(this.#describe(vm, vm.promiseResult(task)), vm);
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
  #guard(vm: GuestMachine<Box, Text>, act: () => void): WireEnd | undefined {
    try {
      act();
      return undefined;
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      return this.#endByThrow(this.#describe(vm, error.box as Box), vm);
    }
  }

  #endByReturn(vm: GuestMachine<Box, Text>, task: Box): WireEnd {
    this.#ending = true;
    let json: Box;
    try {
      json = vm.callEntry("writeResult", [vm.promiseResult(task)]);
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      const problem = this.#describe(vm, error.box as Box);
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
    const text = vm.readText(json, this.#limits.resultBytes);
    if (text === undefined)
      return {
        kind: "stopped",
        code: "task.result_too_large",
        message: `The result is over the limit of ${this.#limits.resultBytes} bytes`,
      };
    this.#turn.result = text;
    this.#showRejections(vm);
    return { kind: "returned" };
  }

  #endByThrow(problem: GuestProblem, vm?: GuestMachine<Box, Text>): WireEnd {
    const limit = limitBehind(problem);
    if (limit !== undefined) return limit;
    // Without memory for an error object the engine throws null.
    const isShort = (vm?.memoryBytes ?? 0) > this.#limits.memoryBytes * 0.8;
    if (isShort && problem.message === "null was thrown") return memoryStop(this.#limits.memoryBytes);
    if (vm !== undefined) this.#showRejections(vm);
    return throwBehind(problem);
  }

  #describe(vm: GuestMachine<Box, Text>, box: Box): GuestProblem {
    this.#ending = true;
    try {
      const text = vm.callEntry("describeError", [box]);
      const problem = JSON.parse(vm.readString(text)) as GuestProblem;
      vm.free(text);
      return rewordProblem(problem);
    } catch (error) {
      if (!(error instanceof GuestThrow)) throw error;
      // It runs on an empty stack and catches what the guest's getters throw, so most likely memory is short.
      if (vm.memoryBytes > this.#limits.memoryBytes * 0.8)
        throw new OutOfGuestMemory("no memory was left to read the error");
      return { name: "Error", message: "an error that cannot be read", stack: "", call: -1 };
    }
  }

  #explainStop({ memoryBytes }: GuestMachine<Box, Text>, error: unknown): WireEnd {
    const end = stopBehind(error, this.#limits.memoryBytes);
    if (end === undefined) throw new Error(`the engine failed with ${memoryBytes} bytes in use: ${String(error)}`);
    return end;
  }

  #checkCpu(): void {
    if (this.#cpuMs + this.#options.readCpuMs() - this.#enteredAtMs <= this.#limits.cpuMs) return;
    throw new GuestStop("task.cpu_limit", `The code used more than ${this.#limits.cpuMs} ms of CPU time`);
  }

  #callHost(op: number, args: readonly Box[]): number | undefined {
    const vm = this.#vm;
    if (vm === undefined) throw new Error("the prelude called its host before there was one");
    const [first, second, third] = args as readonly [Box, Box, Box];
    switch (op) {
      case hostOps.call:
        return this.#makeCall(vm, first, second, third);
      case hostOps.timer:
        return this.#makeTimer(vm.readNumber(first));
      case hostOps.clear:
        if (!this.#ending && !this.#hasSettled(vm)) this.#turn.cleared.push(vm.readNumber(first));
        return undefined;
      case hostOps.output:
        this.#writeOutput(vm, vm.readNumber(first) === 1 ? 1 : 2, second);
        return undefined;
      default:
        throw new GuestStop("task.stack_overflow", "The code nests or recurses too deeply");
    }
  }

  #makeCall(vm: GuestMachine<Box, Text>, path: Box, input: Box, line: Box): number {
    if (this.#ending) return refusedPath;
    if (this.#hasSettled(vm)) return ignoredCall;
    if (this.#nextCall >= this.#limits.calls)
      throw new GuestStop("task.call_limit", `The code made more than ${this.#limits.calls} tool calls`);
    if (vm.readText(path, maxPathBytes) === undefined) return refusedPath;
    const text = vm.readText(input, this.#limits.callInputBytes);
    if (text === undefined) return refusedTooLarge;
    // Inputs wait outside the machine until the turn ends, so without this they would escape its memory limit.
    this.#stepBytes += vm.byteLength(text);
    if (this.#stepBytes > Math.max(this.#limits.memoryBytes, this.#limits.callInputBytes))
      throw new OutOfGuestMemory("the inputs of calls made at once");
    const id = this.#nextCall++;
    this.#turn.calls.push([id, vm.readString(path), this.#applied, vm.readNumber(line)]);
    this.#turn.inputs.push(text);
    return id;
  }

  /** An engine that runs its microtasks all at once goes on for a moment after the end; none of that counts. */
  #hasSettled(vm: GuestMachine<Box, Text>): boolean {
    return vm.runsAllJobs && this.#task !== undefined && vm.promiseState(this.#task) !== "pending";
  }

  #makeTimer(delayMs: number): number {
    if (this.#ending || this.#nextTimer >= maxTimers) return -1;
    if (this.#vm !== undefined && this.#hasSettled(this.#vm)) return ignoredCall;
    const id = this.#nextTimer++;
    this.#turn.timers.push([id, delayMs, this.#applied]);
    return id;
  }

  #writeOutput(vm: GuestMachine<Box, Text>, stream: 1 | 2, box: Box): void {
    if (this.#outputFull || this.#ending || this.#hasSettled(vm)) return;
    const room = this.#limits.outputBytes - this.#outputBytes - outputLineBytes;
    const text = room < 0 ? undefined : vm.readText(box, room);
    if (text !== undefined) {
      this.#outputBytes += vm.byteLength(text) + outputLineBytes;
      this.#pushOutput(stream, text);
      return;
    }
    this.#outputFull = true;
    this.#pushOutput(
      2,
      vm.makeText(`[output is over the limit of ${this.#limits.outputBytes} bytes; the rest is dropped]`),
    );
  }

  #pushOutput(stream: 1 | 2, text: Text): void {
    if (this.#options.onOutput !== undefined) return this.#options.onOutput(stream, text);
    this.#turn.out.push(stream);
    this.#turn.texts.push(text);
  }

  #noteRejection(promise: Box, reason: Box, handled: boolean): void {
    const vm = this.#vm ?? this.#lastVm;
    if (vm !== undefined) this.#rejections.note(vm, promise, reason, handled);
  }

  /** A call nobody awaited may have failed: say so instead of losing it. */
  #showRejections(vm: GuestMachine<Box, Text>, isLate = false): void {
    if (this.#options.rejectionsComeLate === true && !isLate) return;
    if (this.#task !== undefined) this.#rejections.forget(vm.identityOf(this.#task));
    for (const reason of this.#rejections.firstReasons()) {
      if (this.#outputFull) return;
      const problem = this.#describe(vm, reason);
      this.#turn.out.push(2);
      this.#turn.texts.push(vm.makeText(`[nobody handled this error] ${problem.name}: ${problem.message}`));
    }
  }
}
