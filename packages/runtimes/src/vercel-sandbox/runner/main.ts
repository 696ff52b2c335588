/**
 * What runs in the VM, under Node 20 or newer: takes its job from a file that it removes, starts the engine in a thread of its
 * own, and carries turns up and deliveries down over HTTP. It watches the engine: code that is stuck inside a builtin, where no
 * interrupt reaches it, is ended with its thread. Exit 0: the guest is over; 3: the run is over; 1: anything else.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { cutText, type DownMessage, type RunnerJob, type TurnLine } from "../guest-messages.ts";
import { Callback, RunIsOver } from "./callback.ts";
import { readCpuMs } from "./cpu-meter.ts";
import type { EngineData, FromEngine } from "./engine.ts";

const WATCH_MS = 50;
const GRACE_MS = 300;

type Turned = Extract<FromEngine, { turn: TurnLine }>;

async function main(): Promise<void> {
  const jobPath = process.argv[2] ?? "";
  const { url, token, ...program } = JSON.parse(readFileSync(jobPath, "utf8")) as RunnerJob;
  rmSync(jobPath);
  const callback = new Callback(url, token, randomUUID());
  const engine = await startEngine(program);
  let after = 0;
  // Turn 0 says only that the guest is ready: none of its code has run.
  let said: Turned = { output: [], turn: { calls: [], timers: [], cleared: [], cpuMs: 0 } };
  for (let turn = 0; ; turn++) {
    const answer = await say(callback, turn, after, said);
    if (said.turn.end) return;
    after = answer.after;
    said = await engine.advance(JSON.parse(answer.text) as DownMessage);
  }
}

/** Console lines and an end go to /output, what the guest wants to /tool-call, which is answered with the deliveries. */
async function say(
  callback: Callback,
  turn: number,
  after: number,
  { output, turn: wants }: Turned,
): Promise<{ text: string; after: number }> {
  const isEnd = wants.end !== undefined;
  const lines = output.length === 0 ? "" : `${JSON.stringify({ output })}\n`;
  const pieces = isEnd
    ? cutText(lines + JSON.stringify(wants)).map((text) => ({ route: "output" as const, text }))
    : [
        ...(lines === "" ? [] : cutText(lines).map((text) => ({ route: "output" as const, text }))),
        ...cutText(JSON.stringify(wants)).map((text) => ({ route: "tool-call" as const, text })),
      ];
  let reply: Awaited<ReturnType<Callback["post"]>> = {};
  for (const [part, { route, text }] of pieces.entries())
    reply = await callback.post(route, { turn, part, text, last: part === pieces.length - 1, after });
  let answer = "";
  let read = after;
  while (!isEnd) {
    answer += (reply.texts ?? []).join("");
    read += reply.texts?.length ?? 0;
    if (reply.last) break;
    reply = await callback.post("tool-call", { turn, after: read });
  }
  return { text: answer, after: read };
}

interface Engine {
  advance(deliveries: DownMessage): Promise<Turned>;
}

async function startEngine(program: EngineData["program"]): Promise<Engine> {
  const data: EngineData = { enginePath: fileURLToPath(new URL("./engine.bin", import.meta.url)), program };
  const thread = new Worker(new URL("./engine.mjs", import.meta.url), { workerData: data });
  let take: (message: FromEngine) => void = () => undefined;
  const next = (): Promise<FromEngine> => new Promise((resolve) => (take = resolve));
  thread.on("message", (message: FromEngine) => take(message));
  let isEnded = false;
  // Not the guest's fault, as far as anybody can tell: it is lost, and replayed elsewhere.
  thread.on("error", (error) => leave(1, `the engine failed: ${String(error)}`));
  thread.on("exit", () => isEnded || leave(1, "the engine ended by itself"));
  const first = await next();
  const meter = "ready" in first ? first.ready : null;
  let usedMs = 0;
  return {
    async advance(deliveries) {
      const startedMs = readCpuMs(meter);
      const turned = next();
      thread.postMessage(deliveries);
      const watch = setInterval(() => {
        if (readCpuMs(meter) - startedMs + usedMs <= program.limits.cpuMs + GRACE_MS) return;
        clearInterval(watch);
        isEnded = true;
        void thread.terminate();
        take({ output: [], turn: overCpu(program.limits.cpuMs) });
      }, WATCH_MS);
      const message = (await turned) as Turned;
      clearInterval(watch);
      usedMs = message.turn.cpuMs;
      isEnded ||= message.turn.end !== undefined;
      return message;
    },
  };
}

const overCpu = (cpuMs: number): TurnLine => ({
  calls: [],
  timers: [],
  cleared: [],
  cpuMs,
  end: { kind: "stopped", code: "task.cpu_limit", message: `The code used more than ${cpuMs} ms of CPU time` },
});

function leave(code: number, why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(code);
}

await main().catch((error: unknown) => leave(error instanceof RunIsOver ? 3 : 1, String(error)));
process.exit(0);
