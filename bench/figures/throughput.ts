/** Tasks a second with 64 in flight, against the durable transactions of as many tasks written one after the other. */
import { openBareFloor } from "../src/bare-floor.ts";
import { readTreeCpuMs } from "../src/child-process.ts";
import { type Figure, makeRow } from "../src/figure.ts";
import { openInstallation, runToEnd, type Api } from "../src/installation.ts";
import { p50, sampleInTurn, timeMs } from "../src/samples.ts";

const inFlight = 64;

export const throughputFigure: Figure = {
  name: "throughput",
  means: `\`return 1+1\`, ${inFlight} in flight`,
  async measure({ quick }) {
    const floor = await openBareFloor();
    const product = await openInstallation();
    const tasks = quick ? 300 : 1_000;
    const readCpuMs = (): number => readTreeCpuMs([product.server.pid, product.worker.pid]);
    const cpuPerTask: number[] = [];
    try {
      const samples = await sampleInTurn(
        {
          floor: async () => (tasks * 1_000) / (await timeMs(() => writeTasks(floor.store, tasks))),
          product: async () => {
            const cpuBefore = readCpuMs();
            const ms = await timeMs(() => runTasks(product.owner, tasks));
            cpuPerTask.push((readCpuMs() - cpuBefore) / tasks);
            return (tasks * 1_000) / ms;
          },
        },
        { rounds: quick ? 3 : 7, warmUp: 1 },
      );
      return [
        makeRow({
          figure: "throughput",
          unit: "tasks/s",
          floor: p50(samples.floor),
          product: p50(samples.product),
          aim: ">= 60 %",
          isMet: ({ ratio }) => ratio >= 0.6,
          note: `floor = 3 durable transactions a task, ungrouped, which need one core where the product needs all; CPU a task ${p50(cpuPerTask).toFixed(2)} ms; best round of the product ${Math.max(...samples.product).toFixed(0)}`,
        }),
      ];
    } finally {
      await product.close();
      await floor.close();
    }
  },
};

function writeTasks(store: { writeTask(): void }, count: number): void {
  for (let task = 0; task < count; task++) store.writeTask();
}

async function runTasks(api: Api, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) await runToEnd(api, "return 1+1");
  };
  await Promise.all(Array.from({ length: inFlight }, client));
}
