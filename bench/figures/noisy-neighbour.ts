/** What a small task takes while four guests of the same workspace spin, against the same installation at rest. */
import { readTreeCpuMs } from "../src/child-process.ts";
import { type Figure, makeRow } from "../src/figure.ts";
import { type Api, openInstallation, runToEnd, submit, type TaskAnswer } from "../src/installation.ts";
import { p50, percentile, sampleInTurn, timeMs } from "../src/samples.ts";

const hogs = 4;
const code = "return 1+1";

export const noisyNeighbourFigure: Figure = {
  name: "noisy-neighbour",
  means: `\`return 1+1\` beside ${hogs} guests in endless loops, p50`,
  async measure({ quick }) {
    const product = await openInstallation();
    const api = product.owner;
    const rounds = quick ? 30 : 100;
    const idle: number[] = [];
    const busy: number[] = [];
    let [spunMs, busyMs] = [0, 0];
    try {
      await sampleTask(api, 150);
      // Rounds of both in turn: hogs cannot be switched on and off for every sample.
      for (let round = 0; round < (quick ? 1 : 3); round++) {
        idle.push(...(await sampleTask(api, rounds)));
        const taskIds = await startHogs(api);
        const [from, cpuBefore] = [performance.now(), readTreeCpuMs([product.worker.pid])];
        busy.push(...(await sampleTask(api, rounds)));
        busyMs += performance.now() - from;
        spunMs += readTreeCpuMs([product.worker.pid]) - cpuBefore;
        await stopHogs(api, taskIds);
      }
      return [
        makeRow({
          figure: "noisy-neighbour",
          unit: "ms",
          floor: p50(idle),
          product: p50(busy),
          aim: "<= 3x or <= 60 ms",
          isMet: ({ product: ms, ratio }) => ratio <= 3 || ms <= 60,
          note: `floor = the same task at rest; worker and guests used ${(spunMs / busyMs).toFixed(1)} cores meanwhile; floor p90 ${percentile(idle, 0.9).toFixed(1)}; product p90 ${percentile(busy, 0.9).toFixed(1)}, worst ${percentile(busy, 1).toFixed(0)}`,
        }),
      ];
    } finally {
      await product.close();
    }
  },
};

const sampleTask = async (api: Api, rounds: number): Promise<number[]> =>
  (await sampleInTurn({ task: () => timeMs(() => runToEnd(api, code)) }, { rounds, warmUp: 10 })).task;

async function startHogs(api: Api): Promise<string[]> {
  const tasks = await Promise.all(Array.from({ length: hogs }, () => submit(api, "while (true) {}")));
  await Bun.sleep(1_000);
  return tasks.map(({ taskId }) => taskId);
}

/** They must have been running until now, or the samples were taken in peace. */
async function stopHogs(api: Api, taskIds: string[]): Promise<void> {
  for (const taskId of taskIds) {
    const { status } = await api.request<TaskAnswer>("GET", `/api/tasks/${taskId}`);
    if (status !== "running") throw new Error(`a guest that should spin is ${status}`);
    await api.request("POST", `/api/tasks/${taskId}/cancel`, { workspaceId: api.workspaceId });
  }
  await Bun.sleep(1_000);
}
