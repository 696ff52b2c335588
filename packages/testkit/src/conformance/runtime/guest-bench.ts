/** A runtime under test, and short ways to run code in it. */
import type { GuestEnd, GuestLimits, GuestSession, Runtime, Turn } from "@executor/core/ports/runtime";
import type { Fence } from "@executor/core/store/progress";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { startMs } from "./sample-guests.ts";

const seed = "00112233445566778899aabbccddeeff";
const fence: Fence = { taskId: "task_test", workspaceId: "ws_test", workerId: "worker_test", attempt: 1 };

export class GuestBench {
  /** Set before the first test. */
  runtime!: Runtime;
  readonly cpuMs: number;
  readonly limits: GuestLimits = {
    cpuMs: 3_000,
    memoryBytes: 32_000_000,
    outputBytes: 20_000,
    calls: 200,
    callInputBytes: 100_000,
    resultBytes: 200_000,
  };

  constructor(cpuMs: number) {
    this.cpuMs = cpuMs;
  }

  readonly open = async (
    code: string,
    changed: Partial<GuestLimits> = {},
    program: { seed?: string; startMs?: number } = {},
  ): Promise<GuestSession> => {
    const task = transpileTask(code);
    if (!task.ok) throw new Error(`${task.line}:${task.column} ${task.message}`);
    const limits = { ...this.limits, ...changed };
    return await this.runtime.open({
      taskId: "task_test",
      fence,
      script: task.script,
      seed,
      startMs,
      limits,
      ...program,
    });
  };

  /** Runs to the first standstill. */
  readonly firstTurn = async (code: string, changed: Partial<GuestLimits> = {}): Promise<Turn> => {
    const session = await this.open(code, changed);
    const turn = await session.advance([]);
    await session.close();
    return turn;
  };

  readonly endOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<GuestEnd | undefined> =>
    (await this.firstTurn(code, changed)).end;

  readonly valueOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<unknown> => {
    const end = await this.endOf(code, changed);
    if (end?.kind !== "returned") throw new Error(`it did not return: ${JSON.stringify(end)}`);
    return JSON.parse(end.resultJson);
  };

  readonly codeOf = async (code: string, changed: Partial<GuestLimits> = {}): Promise<string> => {
    const end = await this.endOf(code, changed);
    return end?.kind === "stopped" ? end.code : `${end?.kind}: ${JSON.stringify(end)}`;
  };
}
