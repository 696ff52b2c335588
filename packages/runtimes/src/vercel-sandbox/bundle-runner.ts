/**
 * The files a VM is given, made once in the life of a process: the runner and its engine thread, each one file without imports, and
 * the engine (engine-file.ts). Made from the sources, so what runs in the VM is what runs here.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { buildEngineImage } from "../in-process/quickjs-vm.ts";
import wasmPath from "quickjs-wasi/quickjs.wasm" with { type: "file" };
import { packEngine } from "./engine-file.ts";

interface RunnerFile {
  name: string;
  content: Uint8Array;
}

let made: Promise<RunnerFile[]> | undefined;

export const bundleRunner = (): Promise<RunnerFile[]> => (made ??= bundle());

async function bundle(): Promise<RunnerFile[]> {
  const [main, engine, wasm] = await Promise.all([
    build("./runner/main.ts"),
    build("./runner/engine.ts"),
    readFile(wasmPath),
  ]);
  return [
    { name: "main.mjs", content: main },
    { name: "engine.mjs", content: engine },
    { name: "engine.bin", content: await packEngine(wasm, buildEngineImage(new WebAssembly.Module(wasm))) },
  ];
}

async function build(entry: string): Promise<Uint8Array> {
  const path = fileURLToPath(new URL(entry, import.meta.url));
  const { outputs, success, logs } = await Bun.build({
    entrypoints: [path],
    target: "node",
    format: "esm",
    minify: true,
  });
  const [output] = outputs;
  if (!success || !output) throw new Error(`the runner cannot be bundled: ${logs.join("; ")}`);
  return new Uint8Array(await output.arrayBuffer());
}
