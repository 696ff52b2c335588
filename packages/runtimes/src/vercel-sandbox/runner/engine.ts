/**
 * The thread of the VM in which the guest runs: the same engine, prelude and limits as `in-process` (guest-run.ts).
 * It holds no token and no way out; it answers its supervisor's messages one after the other.
 */
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { GuestRun } from "../../guest/guest-run.ts";
import type { DeliveryKind, TurnParts } from "../../guest/turn-parts.ts";
import { startVm } from "../../in-process/quickjs-vm.ts";
import { unpackEngine } from "../engine-file.ts";
import { findMeter, readCpuMs } from "./cpu-meter.ts";
import type { DownMessage, RunnerJob, TurnLine } from "../guest-messages.ts";

export interface EngineData {
  enginePath: string;
  program: Omit<RunnerJob, "url" | "token">;
}
/** `meter`: where the system counts this thread's time. */
export type FromEngine = { ready: string | null } | { output: [1 | 2, string][]; turn: TurnLine };

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function main(): void {
  const { enginePath, program } = workerData as EngineData;
  const meter = findMeter();
  const image = unpackEngine(readFileSync(enginePath));
  const run = new GuestRun({
    start: (host) => startVm(image, program.limits.memoryBytes, host),
    ...program,
    script: encoder.encode(program.script),
    readCpuMs: () => readCpuMs(meter),
  });
  parentPort?.on("message", (deliveries: DownMessage) => {
    const marks = deliveries.map(([kind, id, atMs]): [DeliveryKind, number, number] => [kind, id, atMs]);
    const blobs = deliveries.flatMap(([, , , text]) => (text === undefined ? [] : [encoder.encode(text)]));
    parentPort?.postMessage(toMessage(run.advance(marks, blobs)));
  });
  parentPort?.postMessage({ ready: meter } satisfies FromEngine);
}

function toMessage(turn: TurnParts<Uint8Array>): FromEngine {
  const { calls, inputs, timers, cleared, cpuMs, end, result } = turn;
  const text = (bytes: Uint8Array | undefined): string => decoder.decode(bytes);
  return {
    output: turn.out.map((stream, index) => [stream, text(turn.texts[index])]),
    turn: {
      calls: calls.map(([id, path, after, line], index) => [id, path, after, text(inputs[index]), line]),
      timers,
      cleared,
      cpuMs,
      ...(end && { end }),
      ...(result && { result: text(result) }),
    },
  };
}

main();
