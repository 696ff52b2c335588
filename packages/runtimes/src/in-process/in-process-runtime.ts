/**
 * Runtime `in-process`: QuickJS in WebAssembly, one machine per guest, inside a small pool of child processes that can be killed.
 * ("In process" as opposed to a process or a machine per task.) No guest runs in the process that calls this.
 */
import type { Runtime, RuntimeAvailability } from "@executor/core/ports/runtime";
import { preludeVersion } from "../guest/prelude.ts";
import { GuestPool, type GuestPoolOptions } from "./guest-pool.ts";

export type InProcessRuntimeOptions = GuestPoolOptions;

export function createInProcessRuntime(options: InProcessRuntimeOptions = {}): Runtime {
  const pool = new GuestPool(options);
  let probe: Promise<RuntimeAvailability> | undefined;
  return {
    id: "in-process",
    label: "WebAssembly engine",
    description: "QuickJS in WebAssembly with hard limits for CPU, memory and output; starts in about a millisecond.",
    preludeVersion,
    availability: () => (probe ??= probeEngine(pool)),
    open: (program) => pool.openSession(program),
    close: () => pool.close(),
  };
}

/** Runs a program once: only that shows that the engine works here. */
async function probeEngine(pool: GuestPool): Promise<RuntimeAvailability> {
  try {
    const session = await pool.openSession({
      taskId: "probe",
      fence: { taskId: "probe", workspaceId: "probe", workerId: "probe", attempt: 0 },
      script: "(async () => 6 * 7);",
      seed: "0".repeat(32),
      startMs: 0,
      limits: {
        cpuMs: 5_000,
        memoryBytes: 8_000_000,
        outputBytes: 1_000,
        calls: 1,
        callInputBytes: 1_000,
        resultBytes: 1_000,
      },
    });
    const { end } = await session.advance([]);
    await session.close();
    if (end?.kind === "returned" && end.resultJson === "42") return { available: true };
    return { available: false, reason: `the engine answered ${JSON.stringify(end)} to a program that returns 42` };
  } catch (error) {
    return { available: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
