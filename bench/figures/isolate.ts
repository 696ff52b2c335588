/** Runtime `process` against the bare engine: a warm start, a call there and back, CPU time, and many guests at once. */
import { fileURLToPath } from "node:url";
import type { GuestSession } from "@executor/core/ports/runtime";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { createProcessRuntime, type ProcessRuntime } from "@executor/runtimes/process/process-runtime";
import { BareIsolate } from "../src/bare-isolate.ts";
import { readTreePssMb } from "../src/child-process.ts";
import { type Figure, type FigureOptions, makeRow, type Row } from "../src/figure.ts";
import { p50, percentile, sampleInTurn, timeMs } from "../src/samples.ts";

const isolateEntry = fileURLToPath(new URL("../../apps/isolate/src/main.ts", import.meta.url));
const limits = {
  cpuMs: 30_000,
  memoryBytes: 64_000_000,
  outputBytes: 100_000,
  calls: 10_000,
  callInputBytes: 1_000_000,
  resultBytes: 1_000_000,
};
const line = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: { value: "x".repeat(100) } })}\n`;
const work =
  "const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)); const a = []; for (let i = 0; i < 100000; i++) a.push({ i, t: String(i * 7919 % 1000) }); a.sort((x, y) => (x.t < y.t ? -1 : x.t > y.t ? 1 : x.i - y.i)); return fib(34) + JSON.stringify(JSON.parse(JSON.stringify(a))).length;";

export const isolateFigure: Figure = {
  name: "isolate",
  means: "runtime process: warm start, a call, CPU time, 200 guests at once",
  async measure(options) {
    return [
      await measureStart(options),
      await measureCall(options),
      await measureCpu(options),
      ...(await measureBurst(options)),
    ];
  },
};

const openRuntime = (warm: number, maxProcesses = 32): ProcessRuntime =>
  createProcessRuntime({ isolateEntry, ...limits, maxTextBytes: 10_000_000, warm, maxProcesses });

async function openGuest(runtime: ProcessRuntime, code: string): Promise<GuestSession> {
  const task = transpileTask(code);
  if (!task.ok) throw new Error(task.message);
  const taskId = "task_bench";
  const fence = { taskId, workspaceId: "ws_bench", workerId: "worker_bench", attempt: 1 };
  return await runtime.open({ taskId, fence, script: task.script, seed: "0".repeat(32), startMs: 0, limits });
}

async function runGuest(runtime: ProcessRuntime, code: string): Promise<string> {
  const session = await openGuest(runtime, code);
  const { end } = await session.advance([]);
  await session.close();
  if (end?.kind !== "returned") throw new Error(`the guest did not return: ${JSON.stringify(end)}`);
  return end.resultJson;
}

/** A process that is warm and has never been asked anything, on both sides; what made it warm is not measured. */
async function measureStart({ quick }: FigureOptions): Promise<Row> {
  const runtime = openRuntime(1);
  await runtime.availability();
  const settle = async (): Promise<void> => {
    while (runtime.processIds.length !== 1) await Bun.sleep(5);
    // It is among the processes before it is warm, and on a busy machine long before.
    await Bun.sleep(600);
  };
  const samples = await sampleInTurn(
    {
      floor: async () => {
        const bare = await new BareIsolate().ready();
        await Bun.sleep(120);
        const ms = await timeMs(() => bare.ask(line));
        await bare.stop();
        return ms;
      },
      product: async () => {
        await settle();
        const session = await openGuest(runtime, "return 1 + 1");
        const ms = await timeMs(async () => await session.advance([]));
        await session.close();
        return ms;
      },
    },
    { rounds: quick ? 5 : 25, warmUp: 2 },
  );
  await runtime.close();
  return makeRow({
    figure: "isolate/start",
    unit: "ms",
    floor: p50(samples.floor),
    product: p50(samples.product),
    aim: "<= 1.5x",
    isMet: ({ ratio }) => ratio <= 1.5,
    note: `first result of a guest from a warm pool (p95 ${percentile(samples.product, 0.95).toFixed(1)}); floor = first ping to a warm bare engine (p95 ${percentile(samples.floor, 0.95).toFixed(1)})`,
  });
}

async function measureCall({ quick }: FigureOptions): Promise<Row> {
  const calls = quick ? 300 : 2_000;
  const runtime = openRuntime(1);
  const bare = await new BareIsolate().ready();
  for (let at = 0; at < 500; at += 1) await bare.ask(line);
  const samples = await sampleInTurn(
    {
      floor: async () => {
        const times: number[] = [];
        for (let at = 0; at < calls; at += 1) times.push(await timeMs(() => bare.ask(line)));
        return p50(times) * 1_000;
      },
      product: async () => {
        const session = await openGuest(runtime, "for (;;) await tools.executor.echo({ value: 'x'.repeat(100) });");
        await session.advance([]);
        const times: number[] = [];
        for (let id = 0; id < calls; id += 1)
          times.push(await timeMs(async () => await session.advance([{ kind: "result", id, json: '"x"', atMs: id }])));
        await session.close();
        return p50(times.slice(calls / 4)) * 1_000;
      },
    },
    { rounds: quick ? 3 : 7, warmUp: 1 },
  );
  await Promise.all([runtime.close(), bare.stop()]);
  return makeRow({
    figure: "isolate/call",
    unit: "us",
    floor: p50(samples.floor),
    product: p50(samples.product),
    aim: "<= 2x",
    isMet: ({ ratio }) => ratio <= 2,
    note: "answer of a call until the guest's next call; floor = 170 bytes there and back over a bare Unix socket of the same engine",
  });
}

async function measureCpu({ quick }: FigureOptions): Promise<Row> {
  const runtime = openRuntime(1);
  const samples = await sampleInTurn(
    {
      floor: async () => {
        const bare = await new BareIsolate().ready();
        const ms = await timeMs(() => bare.ask(`run () => { ${work} }`));
        await bare.stop();
        return ms;
      },
      product: async () => {
        const session = await openGuest(
          runtime,
          `${work.replace("(n) =>", "(n: number): number =>").replace("const a = []", "const a: any[] = []")}`,
        );
        let ended: string | undefined;
        const ms = await timeMs(async () => (ended = (await session.advance([])).end?.kind));
        await session.close();
        if (ended !== "returned") throw new Error(`the guest ended otherwise: ${ended}`);
        return ms;
      },
    },
    { rounds: quick ? 3 : 7, warmUp: 1 },
  );
  await runtime.close();
  return makeRow({
    figure: "isolate/cpu",
    unit: "ms",
    floor: p50(samples.floor),
    product: p50(samples.product),
    aim: "<= 2x",
    isMet: ({ ratio }) => ratio <= 2,
    note: "recursion, a sort of 100,000 objects and JSON both ways; floor = the same in the bare engine",
  });
}

async function measureBurst({ quick }: FigureOptions): Promise<Row[]> {
  const guests = quick ? 40 : 200;
  const maxProcesses = 8;
  const runtime = openRuntime(2, maxProcesses);
  await runtime.availability();
  const most = { processes: 0, mb: 0 };
  const watch = setInterval(() => {
    const pids = runtime.processIds;
    most.processes = Math.max(most.processes, pids.length);
    most.mb = Math.max(most.mb, readTreePssMb(pids));
  }, 25);
  let right = 0;
  const ms = await timeMs(() =>
    Promise.all(
      Array.from({ length: guests }, async (_, at) => {
        if ((await runGuest(runtime, `return ${at} * 2`)) === String(at * 2)) right += 1;
      }),
    ),
  );
  clearInterval(watch);
  await runtime.close();
  const row = (figure: string, unit: string, product: number, aim: string, isMet: boolean, note: string): Row =>
    makeRow({ figure, unit, floor: null, product, aim, isMet: () => isMet, note });
  return [
    row(
      "isolate/burst",
      "ms",
      ms,
      "all complete",
      right === guests,
      `${right} of ${guests} guests submitted at once returned what they should`,
    ),
    row(
      "isolate/burst-processes",
      "",
      most.processes,
      `<= ${maxProcesses}`,
      most.processes <= maxProcesses,
      "most processes alive at once",
    ),
    row(
      "isolate/burst-memory",
      "MB PSS",
      most.mb,
      `<= 64 x ${maxProcesses}`,
      most.mb <= 64 * maxProcesses,
      "of all isolates, at the most",
    ),
  ];
}
