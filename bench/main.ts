/**
 * `bun run bench [name…] [--json] [--quick]`: measures the product against bare floors of the same run and says which aims
 * it met. Exit code 1 when one was missed. Starts real processes in temporary directories and takes all of it away again.
 */
import { cpus } from "node:os";
import { callsFigure } from "./figures/calls.ts";
import { eventsFigure } from "./figures/events.ts";
import { isolateFigure } from "./figures/isolate.ts";
import { mcpFigure } from "./figures/mcp.ts";
import { memoryFigure } from "./figures/memory.ts";
import { noisyNeighbourFigure } from "./figures/noisy-neighbour.ts";
import { resumeFigure } from "./figures/resume.ts";
import { runFigure } from "./figures/run.ts";
import { searchFigure } from "./figures/search.ts";
import { sourcesFigure } from "./figures/sources.ts";
import { sourceCallsFigure } from "./figures/source-calls.ts";
import { startFigure } from "./figures/start.ts";
import { throughputFigure } from "./figures/throughput.ts";
import { typecheckFigure } from "./figures/typecheck.ts";
import type { Figure, Row } from "./src/figure.ts";
import { watchMachine } from "./src/machine-load.ts";
import { formatTable } from "./src/print-table.ts";

const figures: Figure[] = [
  runFigure,
  throughputFigure,
  callsFigure,
  resumeFigure,
  memoryFigure,
  eventsFigure,
  startFigure,
  noisyNeighbourFigure,
  sourcesFigure,
  sourceCallsFigure,
  searchFigure,
  mcpFigure,
  typecheckFigure,
  isolateFigure,
];
/** As the product sets it for the processes of its engine; it counts only when a process has it from the start. */
const fastMemories = "BUN_JSC_maxNumWasmFastMemories";
const EXIT_USAGE = 2;

async function main(): Promise<number> {
  const flags = Bun.argv.slice(2).filter((arg) => arg.startsWith("-"));
  const names = Bun.argv.slice(2).filter((arg) => !arg.startsWith("-"));
  const chosen = figures.filter(({ name }) => names.length === 0 || names.includes(name));
  if (
    flags.some((flag) => !["--json", "--quick"].includes(flag)) ||
    names.some((name) => figures.every((figure) => figure.name !== name))
  ) {
    console.error(
      `bun run bench [name…] [--json] [--quick]\n\n${figures.map(({ name, means }) => `  ${name.padEnd(16)} ${means}`).join("\n")}`,
    );
    return EXIT_USAGE;
  }
  if (process.env[fastMemories] === undefined) return await runAgain();
  const say = (text: string): void => console.error(text);
  const rows: Row[] = [];
  for (const figure of chosen) {
    say(`${figure.name}: ${figure.means}`);
    const endWatch = watchMachine();
    const measured = await figure.measure({ quick: flags.includes("--quick"), say });
    const load = `others used ${(endWatch().others * 100).toFixed(0)} % of the machine`;
    rows.push(...measured.map((row) => ({ ...row, note: `${row.note}; ${load}` })));
  }
  console.log(
    flags.includes("--json")
      ? JSON.stringify(
          { at: new Date().toISOString(), machine: `${cpus().length} x ${cpus()[0]?.model}`, bun: Bun.version, rows },
          null,
          2,
        )
      : formatTable(rows),
  );
  return rows.every((row) => row.ok !== false) ? 0 : 1;
}

async function runAgain(): Promise<number> {
  const child = Bun.spawn([process.execPath, import.meta.path, ...Bun.argv.slice(2)], {
    env: { ...process.env, [fastMemories]: "4000" },
    stdio: ["inherit", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return await child.exited;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exit(await main());
