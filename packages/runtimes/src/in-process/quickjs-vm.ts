/**
 * One QuickJS virtual machine: a WebAssembly instance started from a memory image that already holds the prelude.
 * Values of the engine are passed around as boxes (see quickjs-engine.ts); whoever gets one frees it.
 * A machine that threw out of the engine is broken: it is dropped and never entered again.
 */
import { type GuestMachine, GuestThrow, type MachineHost, OutOfGuestMemory } from "../guest/guest-machine.ts";
import { type GuestEntry, guestEntries, preludeSource } from "../guest/prelude.ts";
import { type EngineExports, instantiateEngine } from "./quickjs-engine.ts";

/** The state of a machine right after the prelude ran. */
export interface EngineImage {
  module: WebAssembly.Module;
  /** The whole memory is `bytes` long; only these runs of it are not zero. */
  bytes: number;
  runs: { at: number; data: Uint8Array }[];
  stackPointer: number;
  runtime: number;
  context: number;
  entries: Record<GuestEntry, number>;
}

const maxStackBytes = 256 * 1024;
const pageBytes = 4096;
const zeroPage = Buffer.alloc(pageBytes);
const strictFlag = 8;
const stripFlags = 16 | 32;
// All of the engine but WeakRef + FinalizationRegistry (1 << 9) and performance (1 << 10), which show garbage collection and real time.
const intrinsics = 0xffffffff & ~(1 << 9) & ~(1 << 10);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Runs the prelude once and keeps the memory it leaves. It is compiled in a machine of its own, so that the image holds neither
 * the garbage of the compiler nor the prelude's source: 390 KB instead of 700 KB to copy for every guest.
 */
export function buildEngineImage(module: WebAssembly.Module): EngineImage {
  const bytecode = bootVm(module).vm.compile(encoder.encode(preludeSource));
  const { engine, vm } = bootVm(module);
  const makeGuest = vm.evaluateBytecode(bytecode);
  const name = vm.writeBytes(encoder.encode("host"));
  const hostFunction = engine.qjs_new_host_function(name, 4, 0);
  engine.wasm_free(name);
  const made = vm.call(makeGuest, [hostFunction]);
  const entries = Object.fromEntries(
    guestEntries.map((entry, index) => [entry, engine.qjs_get_prop_uint32(made, index)]),
  ) as Record<GuestEntry, number>;
  for (const box of [made, hostFunction, makeGuest]) engine.qjs_free_value(box);
  const memory = new Uint8Array(engine.memory.buffer);
  return {
    module,
    bytes: memory.length,
    runs: findRuns(memory),
    stackPointer: engine.__stack_pointer.value as number,
    runtime: engine.qjs_get_runtime_ptr(),
    context: engine.qjs_get_context_ptr(),
    entries,
  };
}

function bootVm(module: WebAssembly.Module): { engine: EngineExports; vm: QuickJsVm } {
  const engine = instantiateEngine(module, {
    callHost: () => undefined,
    pollInterrupt() {},
    readClockMs: () => 0,
    noteRejection() {},
  });
  engine._initialize();
  if (engine.qjs_init2(intrinsics) !== 0) throw new Error("QuickJS did not start");
  engine.qjs_set_interrupt_handler(1);
  engine.qjs_set_module_loader(1);
  engine.qjs_set_promise_rejection_handler(1);
  return { engine, vm: new QuickJsVm(engine, undefined) };
}

/** A fresh machine with its own memory, `memoryBytes` at most. */
export function startVm(image: EngineImage, memoryBytes: number, host: MachineHost<number>): QuickJsVm {
  const engine = instantiateEngine(image.module, host);
  const missing = image.bytes - engine.memory.buffer.byteLength;
  if (missing > 0) engine.memory.grow(missing / 65536);
  const memory = new Uint8Array(engine.memory.buffer);
  for (const run of image.runs) memory.set(run.data, run.at);
  engine.qjs_set_runtime_and_context(image.runtime, image.context);
  engine.__stack_pointer.value = image.stackPointer;
  engine.qjs_set_memory_limit(memoryBytes);
  engine.qjs_set_max_stack_size(maxStackBytes);
  return new QuickJsVm(engine, image.entries);
}

export class QuickJsVm implements GuestMachine<number, Uint8Array> {
  readonly runsAllJobs = false;
  readonly #engine: EngineExports;
  readonly #entries: Record<GuestEntry, number> | undefined;

  constructor(engine: EngineExports, entries: Record<GuestEntry, number> | undefined) {
    this.#engine = engine;
    this.#entries = entries;
  }

  /** Bytes the machine holds now, the free ones of its heap included. */
  get memoryBytes(): number {
    return this.#engine.memory.buffer.byteLength;
  }

  evaluate(code: Uint8Array, filename: string): number {
    const engine = this.#engine;
    const source = this.writeBytes(code);
    const name = this.writeBytes(encoder.encode(filename));
    const box = engine.qjs_eval(source, code.length, name, strictFlag);
    engine.wasm_free(source);
    engine.wasm_free(name);
    return this.#checkResult(box);
  }

  /** Bytecode without source and line numbers. */
  compile(code: Uint8Array): Uint8Array {
    const engine = this.#engine;
    const source = this.writeBytes(code);
    const name = this.writeBytes(encoder.encode("executor.js"));
    const lengthOut = this.#allocate(4);
    const address = engine.qjs_compile(source, code.length, name, strictFlag, stripFlags, lengthOut);
    if (address === 0) throw new GuestThrow(engine.qjs_get_exception());
    return new Uint8Array(
      engine.memory.buffer,
      address,
      new DataView(engine.memory.buffer).getUint32(lengthOut, true),
    ).slice();
  }

  evaluateBytecode(bytecode: Uint8Array): number {
    const address = this.writeBytes(bytecode);
    const box = this.#engine.qjs_eval_bytecode(address, bytecode.length);
    this.#engine.wasm_free(address);
    return this.#checkResult(box);
  }

  /** Calls one of the prelude's functions; throws GuestThrow when the guest's side threw. The boxes of `args` are freed. */
  callEntry(entry: GuestEntry, args: readonly number[]): number {
    if (this.#entries === undefined) throw new Error("this machine has no prelude yet");
    let thrown: GuestThrow | undefined;
    let result = 0;
    try {
      result = this.call(this.#entries[entry], args);
    } catch (error) {
      // Anything else came out of a broken engine: not even a free may enter it again.
      if (!(error instanceof GuestThrow)) throw error;
      thrown = error;
    }
    for (const box of args) this.#engine.qjs_free_value(box);
    if (thrown !== undefined) throw thrown;
    return result;
  }

  call(func: number, args: readonly number[]): number {
    const engine = this.#engine;
    const list = args.length === 0 ? 0 : this.#allocate(args.length * 4);
    const view = new DataView(engine.memory.buffer);
    for (const [index, box] of args.entries()) view.setUint32(list + index * 4, box, true);
    const self = engine.qjs_get_undefined();
    const box = engine.qjs_call(func, self, args.length, list);
    engine.qjs_free_value(self);
    if (list !== 0) engine.wasm_free(list);
    return this.#checkResult(box);
  }

  makeString(bytes: Uint8Array): number {
    const address = this.writeBytes(bytes);
    const box = this.#engine.qjs_new_string(address, bytes.length);
    this.#engine.wasm_free(address);
    return this.#checkResult(box);
  }

  makeNumber(value: number): number {
    return this.#engine.qjs_new_number(value);
  }

  readNumber(box: number): number {
    return this.#engine.qjs_get_float64(box);
  }

  readBool(box: number): boolean {
    return this.#engine.qjs_get_bool(box) !== 0;
  }

  isString(box: number): boolean {
    return this.#engine.qjs_is_string(box) !== 0;
  }

  readString(box: number): string {
    return decoder.decode(this.readText(box));
  }

  makeText(text: string): Uint8Array {
    return encoder.encode(text);
  }

  byteLength(text: Uint8Array): number {
    return text.length;
  }

  /** The engine keeps its limit by itself, to the byte. */
  checkMemory(): void {}

  /** A copy of the string in UTF-8; undefined is returned instead of one longer than `maxBytes`. */
  readText(box: number): Uint8Array;
  readText(box: number, maxBytes: number): Uint8Array | undefined;
  readText(box: number, maxBytes = Number.POSITIVE_INFINITY): Uint8Array | undefined {
    const engine = this.#engine;
    const lengthOut = this.#allocate(4);
    const address = engine.qjs_get_string_len(box, lengthOut);
    if (address === 0) throw new OutOfGuestMemory("the engine had no memory to hand out a string");
    const length = new DataView(engine.memory.buffer).getUint32(lengthOut, true);
    const bytes = length > maxBytes ? undefined : new Uint8Array(engine.memory.buffer, address, length).slice();
    engine.qjs_free_cstring(address);
    engine.wasm_free(lengthOut);
    return bytes;
  }

  free(box: number): void {
    this.#engine.qjs_free_value(box);
  }

  promiseState(box: number): "pending" | "fulfilled" | "rejected" | "no promise" {
    const state = this.#engine.qjs_promise_state(box);
    return state === 0 ? "pending" : state === 1 ? "fulfilled" : state === 2 ? "rejected" : "no promise";
  }

  promiseResult(box: number): number {
    return this.#engine.qjs_promise_result(box);
  }

  /** The same for two boxes of one object, as long as either lives. */
  identityOf(box: number): number {
    return this.#engine.qjs_get_value_ptr(box);
  }

  /** Runs one microtask. False: there was none. */
  runJob(): boolean {
    const engine = this.#engine;
    if (engine.qjs_is_job_pending() === 0) return false;
    if (engine.qjs_execute_pending_job() < 0) throw new GuestThrow(engine.qjs_get_exception());
    return true;
  }

  writeBytes(bytes: Uint8Array): number {
    const address = this.#allocate(bytes.length + 1);
    const memory = new Uint8Array(this.#engine.memory.buffer);
    memory.set(bytes, address);
    memory[address + bytes.length] = 0;
    return address;
  }

  #allocate(bytes: number): number {
    const address = this.#engine.wasm_malloc(bytes);
    if (address === 0) throw new OutOfGuestMemory("the engine has no memory left");
    return address;
  }

  #checkResult(box: number): number {
    if (this.#engine.qjs_is_exception(box) === 0) return box;
    this.#engine.qjs_free_value(box);
    throw new GuestThrow(this.#engine.qjs_get_exception());
  }
}

function findRuns(memory: Uint8Array): EngineImage["runs"] {
  const runs: EngineImage["runs"] = [];
  let from = -1;
  for (let at = 0; at <= memory.length; at += pageBytes) {
    const used = at < memory.length && zeroPage.compare(memory.subarray(at, at + pageBytes)) !== 0;
    if (used && from < 0) from = at;
    if (!used && from >= 0) {
      runs.push({ at: from, data: memory.slice(from, at) });
      from = -1;
    }
  }
  return runs;
}
