/**
 * The floor of evaluation: quickjs-wasi as its README uses it, in this process, with a module that is compiled once.
 * BUN_JSC_maxNumWasmFastMemories must be set before the process starts, as the product sets it for its own: main.ts sees to it.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { QuickJS } from "quickjs-wasi";

export class BareEngine {
  readonly #module = new WebAssembly.Module(
    readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"))),
  );

  /** Create, `1 + 1`, dispose. */
  async evaluate(): Promise<void> {
    const vm = await QuickJS.create({ wasm: this.#module });
    const value = vm.evalCode("1 + 1").consume((handle) => handle.toNumber());
    vm.dispose();
    if (value !== 2) throw new Error(`the bare engine says that 1 + 1 is ${value}`);
  }

  /** One program that awaits the host so many times, JSON both ways. */
  async awaitHost(count: number): Promise<void> {
    const vm = await QuickJS.create({ wasm: this.#module });
    let resolveLast: ((json: string) => void) | undefined;
    const ask = vm.newFunction("ask", (input) => {
      JSON.parse(input?.toString() ?? "null");
      const deferred = vm.newPromise();
      resolveLast = (json) => vm.newString(json).consume((value) => deferred.resolve(value));
      return deferred.handle;
    });
    vm.setProp(vm.global, "ask", ask);
    ask.dispose();
    const program = `let done = 0; (async () => { for (let i = 0; i < ${count}; i++) done += JSON.parse(await ask(JSON.stringify({ value: i }))).value >= 0 ? 1 : 0; })(); 0`;
    vm.evalCode(program).dispose();
    for (let call = 0; call < count; call++) {
      resolveLast?.(JSON.stringify({ value: call }));
      vm.executePendingJobs();
    }
    const done = vm.evalCode("done").consume((handle) => handle.toNumber());
    vm.dispose();
    if (done !== count) throw new Error(`the bare engine awaited ${done} of ${count} times`);
  }
}
