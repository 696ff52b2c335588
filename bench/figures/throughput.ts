/** Tasks a second with 64 in flight, against the durable transactions of as many tasks written one after the other. */
import { openBareFloor } from "../src/bare-floor.ts";
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
    try {
      const samples = await sampleInTurn(
        {
          floor: async () => (tasks * 1_000) / (await timeMs(() => writeTasks(floor.store, tasks))),
          product: async () => (tasks * 1_000) / (await timeMs(() => runTasks(product.owner, tasks))),
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
          note: `floor = 3 durable transactions a task, ungrouped; best round of the product ${Math.max(...samples.product).toFixed(0)}`,
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
