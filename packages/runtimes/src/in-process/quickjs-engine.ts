/**
 * The wasm of quickjs-wasi and the functions it wants from us. It is bound here directly, not through that package's JavaScript:
 * a stop must unwind the engine at once (the package turns a throwing callback into an error the guest can catch), and a start must
 * copy only the pages that hold data. The exports are pinned with the exact version of quickjs-wasi in package.json.
 * The engine gets no real time, no randomness, no files and no output.
 */
import type { MachineHost } from "../guest/guest-machine.ts";

/** The functions of the wasm that are used. A `box` is the address of one engine value; whoever gets one frees it. */
export interface EngineExports {
  memory: WebAssembly.Memory;
  __stack_pointer: WebAssembly.Global;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_module_loader(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  qjs_compile(
    code: number,
    length: number,
    filename: number,
    evalFlags: number,
    writeFlags: number,
    lengthOut: number,
  ): number;
  qjs_eval_bytecode(bytes: number, length: number): number;
  qjs_eval(code: number, length: number, filename: number, flags: number): number;
  qjs_call(func: number, self: number, count: number, args: number): number;
  qjs_new_string(text: number, length: number): number;
  qjs_new_number(value: number): number;
  qjs_new_error(): number;
  qjs_throw(box: number): void;
  qjs_new_host_function(name: number, nameLength: number, flags: number): number;
  qjs_get_undefined(): number;
  qjs_get_prop_uint32(box: number, index: number): number;
  qjs_set_prop_string(box: number, name: number, value: number): void;
  qjs_get_float64(box: number): number;
  qjs_get_bool(box: number): number;
  qjs_get_string_len(box: number, lengthOut: number): number;
  qjs_free_cstring(text: number): void;
  qjs_is_exception(box: number): number;
  qjs_is_undefined(box: number): number;
  qjs_is_string(box: number): number;
  qjs_get_exception(): number;
  qjs_free_value(box: number): void;
  qjs_dup_value(box: number): number;
  qjs_get_value_ptr(box: number): number;
  qjs_promise_state(box: number): number;
  qjs_promise_result(box: number): number;
  qjs_promise_mark_as_handled(box: number): void;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  wasm_malloc(bytes: number): number;
  wasm_free(address: number): void;
}

const encoder = new TextEncoder();

export function instantiateEngine(module: WebAssembly.Module, host: MachineHost<number>): EngineExports {
  // Filled last; the engine calls none of these before that.
  const link = {} as { engine: EngineExports };
  const imports = {
    env: {
      host_call: (_name: number, _nameLength: number, _self: number, count: number, list: number) => {
        const { engine } = link;
        const view = new DataView(engine.memory.buffer);
        const args = Array.from({ length: count }, (_, index) => view.getUint32(list + index * 4, true));
        const op = args.shift();
        const answer = op === undefined ? undefined : host.callHost(engine.qjs_get_float64(op), args);
        return answer === undefined ? engine.qjs_get_undefined() : engine.qjs_new_number(answer);
      },
      host_interrupt: () => {
        host.pollInterrupt();
        return 0;
      },
      host_promise_rejection: (promise: number, reason: number, handled: number) =>
        host.noteRejection(promise, reason, handled !== 0),
      host_module_normalize: () => refuseImport(link.engine),
      host_module_load: () => refuseImport(link.engine),
      host_get_timezone_offset: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock: number, _precision: bigint, out: number) => {
        new DataView(link.engine.memory.buffer).setBigUint64(
          out,
          BigInt(Math.trunc(host.readClockMs() * 1000)) * 1000n,
          true,
        );
        return 0;
      },
      random_get: (at: number, length: number) => {
        new Uint8Array(link.engine.memory.buffer, at, length).fill(7);
        return 0;
      },
      fd_write: () => 8,
      fd_close: () => 52,
      fd_fdstat_get: () => 8,
      fd_seek: () => 52,
    },
  };
  link.engine = new WebAssembly.Instance(module, imports).exports as unknown as EngineExports;
  return link.engine;
}

/** Throws inside the guest. */
function refuseImport(engine: EngineExports): number {
  const text = encoder.encode("import is not available in a task; what it needs comes from tools.*");
  const address = engine.wasm_malloc(text.length);
  new Uint8Array(engine.memory.buffer).set(text, address);
  const message = engine.qjs_new_string(address, text.length);
  engine.wasm_free(address);
  const error = engine.qjs_new_error();
  const name = engine.wasm_malloc(8);
  new Uint8Array(engine.memory.buffer).set(encoder.encode("message\0"), name);
  engine.qjs_set_prop_string(error, name, message);
  engine.wasm_free(name);
  engine.qjs_throw(error);
  for (const box of [message, error]) engine.qjs_free_value(box);
  return 0;
}
