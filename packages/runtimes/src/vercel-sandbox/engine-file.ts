/**
 * The engine as one file: its wasm, and its memory after the prelude ran, so that a VM starts guests without running it first.
 * Compressed once, not for every upload. Inside: the length of a JSON head in four bytes, the head, the wasm, the runs of memory.
 */
import { promisify } from "node:util";
import { brotliCompress, brotliDecompressSync, constants } from "node:zlib";
import type { EngineImage } from "../in-process/quickjs-vm.ts";

interface Head extends Omit<EngineImage, "module" | "runs"> {
  wasmLength: number;
  runs: [at: number, length: number][];
}

/** A fifth smaller than gzip makes it, in 0.1 s; higher takes seconds for little. */
const QUALITY = 6;

export async function packEngine(wasm: Uint8Array, { module: _, runs, ...rest }: EngineImage): Promise<Uint8Array> {
  const head: Head = { ...rest, wasmLength: wasm.length, runs: runs.map(({ at, data }) => [at, data.length]) };
  const json = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const whole = Buffer.concat([length, json, wasm, ...runs.map(({ data }) => data)]);
  return await promisify(brotliCompress)(whole, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY } });
}

export function unpackEngine(file: Uint8Array): EngineImage {
  const whole = brotliDecompressSync(file);
  let at = 4 + whole.readUInt32LE(0);
  const { wasmLength, runs, ...rest } = JSON.parse(whole.toString("utf8", 4, at)) as Head;
  const take = (length: number) => whole.subarray(at, (at += length));
  return {
    module: new WebAssembly.Module(take(wasmLength)),
    ...rest,
    runs: runs.map(([to, length]) => ({ at: to, data: take(length) })),
  };
}
