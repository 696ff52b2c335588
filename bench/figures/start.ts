/** From nothing to the first result: server and worker are spawned together, as `npm start` does, and a task is submitted at once. */
import { rmSync } from "node:fs";
import { startChild } from "../src/child-process.ts";
import { type Figure, makeRow } from "../src/figure.ts";
import {
  bareServerMain,
  installationEnv,
  makeTempDir,
  readOwner,
  runToEnd,
  serverMain,
  workerMain,
} from "../src/installation.ts";
import { p50, percentile, sampleInTurn } from "../src/samples.ts";

export const startFigure: Figure = {
  name: "start",
  means: "spawn of server and worker until the first task's result",
  async measure({ quick }) {
    const options = { rounds: quick ? 3 : 9, warmUp: 1 };
    const samples = await sampleInTurn({ floor: startBare, fresh: () => startProduct(null) }, options);
    const home = makeTempDir();
    try {
      const again = await sampleInTurn({ floor: startBare, again: () => startProduct(home) }, options);
      const row = (figure: string, floor: number[], product: number[], what: string) =>
        makeRow({
          figure,
          unit: "ms",
          floor: p50(floor),
          product: p50(product),
          aim: "every round < 1 s",
          // The times have two modes, and a median shows only one of them: no round may take longer.
          isMet: () => product.every((ms) => ms < 1_000),
          note: `${what}; ${product.filter((ms) => ms >= 1_000).length} of ${product.length} rounds over 1 s, worst ${percentile(product, 1).toFixed(0)} ms; floor = two bare Hono processes until both replied`,
        });
      return [
        row("start/fresh", samples.floor, samples.fresh, "an empty data directory"),
        row("start/again", again.floor, again.again, "a data directory that is in use already"),
      ];
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  },
};

async function startBare(): Promise<number> {
  const from = performance.now();
  const children = [startChild(bareServerMain), startChild(bareServerMain)];
  await Promise.all(
    children.map(async (child) => {
      const { port } = await child.said("server.listening");
      await (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" })).json();
    }),
  );
  const ms = performance.now() - from;
  await Promise.all(children.map((child) => child.stop()));
  return ms;
}

async function startProduct(kept: string | null): Promise<number> {
  const home = kept ?? makeTempDir();
  const env = installationEnv(home);
  const from = performance.now();
  const server = startChild(serverMain, { env });
  const worker = startChild(workerMain, { env });
  try {
    const { port } = await server.said("server.listening");
    await runToEnd(readOwner(home, `http://127.0.0.1:${port}`), "return 1+1");
    return performance.now() - from;
  } finally {
    await Promise.all([worker.stop(), server.stop()]);
    if (kept === null) rmSync(home, { recursive: true, force: true });
  }
}
