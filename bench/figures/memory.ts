/**
 * Memory of everything an installation runs (server, worker, engines): idle after one task, and
 * with 10,000 tasks that wait for a person. The latter twice: put into the store, and run through HTTP and the engines.
 */
import { readTreeAloneMb, readTreePssMb, startChild } from "../src/child-process.ts";
import { type Figure, type FigureOptions, makeRow, type Row } from "../src/figure.ts";
import {
  bareServerMain,
  type Installation,
  openInstallation,
  requireApproval,
  runToEnd,
  submit,
} from "../src/installation.ts";
import { writeWaitingTasks } from "../src/bulk-tasks.ts";

const code = "return await tools.executor.echo({ value: 1 })";

export const memoryFigure: Figure = {
  name: "memory",
  means: "PSS of server, worker and engines together",
  async measure(options) {
    const bare = startChild(bareServerMain);
    await bare.said("server.listening");
    const product = await openInstallation();
    try {
      await runToEnd(product.owner, "return 1+1");
      await settle(product, options);
      const idle = readAloneMb(product);
      const rows = [
        makeRow({
          figure: "memory/idle",
          unit: "MB",
          floor: readTreePssMb([bare.pid]),
          product: product.pssMb(),
          aim: "< 150 MB",
          isMet: ({ product: mb }) => mb < 150,
          note: `floor = one bare Hono process; PSS is lower the more processes of Bun there are, ours included; server tree ${readTreePssMb([product.server.pid]).toFixed(0)}, worker tree ${readTreePssMb([product.worker.pid]).toFixed(0)}`,
        }),
        makeRow({
          figure: "memory/idle-alone",
          unit: "MB",
          floor: readTreeAloneMb([bare.pid]),
          product: idle,
          aim: "< 150 MB",
          isMet: ({ product: mb }) => mb < 150,
          note: "as if nothing else on the machine ran Bun: private pages, and the shared ones once",
        }),
      ];
      return [...rows, ...(await measureWaiting(product, options, idle))];
    } finally {
      await product.close();
      await bare.stop();
    }
  },
};

async function measureWaiting(product: Installation, options: FigureOptions, idle: number): Promise<Row[]> {
  const count = options.quick ? 1_000 : 10_000;
  await writeWaitingTasks(product.home, product.owner.workspaceId, count);
  await settle(product, options);
  const stored = readAloneMb(product);
  await requireApproval(product.owner, "executor.echo");
  await submitWaiting(product, count);
  await settle(product, options);
  const ran = readAloneMb(product);
  const row = (figure: string, mb: number, from: number, note: string): Row =>
    makeRow({
      figure,
      unit: "MB more",
      floor: null,
      product: mb - from,
      aim: "< 20 MB",
      isMet: ({ product: more }) => more < 20,
      note: `${note}; ${mb.toFixed(0)} MB after ${from.toFixed(0)} MB`,
    });
  return [
    row("memory/waiting", stored, idle, `${count} waiting tasks written by the store's verbs`),
    row("memory/waiting-run", ran, stored, `${count} more that were submitted over HTTP, ran and paused`),
  ];
}

async function submitWaiting({ owner }: Installation, count: number): Promise<void> {
  let left = count;
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const { status } = await submit(owner, code, "?wait=60000");
      if (status !== "waiting") throw new Error(`the task should wait and is ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 32 }, client));
}

/** Differences are taken of this one: PSS moves by tens of MB when somebody else starts or ends a process of Bun. */
const readAloneMb = ({ server, worker }: Installation): number => readTreeAloneMb([server.pid, worker.pid]);

/** Engines that were needed for a moment leave after ten seconds; collectors take a while. */
async function settle(product: Installation, { quick, say }: FigureOptions): Promise<void> {
  say(`memory: ${product.pssMb().toFixed(0)} MB, letting it settle`);
  await Bun.sleep(quick ? 3_000 : 13_000);
}
