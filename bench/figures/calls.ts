/**
 * A task that makes 100 calls, one after the other: safe ones, whose writes may be batched, and unsafe ones, each of which
 * must be on disk before it leaves. The floor is the same request, the same durable rows, and a bare engine that awaits as often.
 */
import { type BareFloor, openBareFloor } from "../src/bare-floor.ts";
import { type Figure, makeRow, type Row } from "../src/figure.ts";
import { type Installation, openInstallation, runToEnd } from "../src/installation.ts";
import { p50, sampleInTurn, timeMs } from "../src/samples.ts";

const calls = 100;
const program = (tool: string): string => `let sum = 0;
for (let i = 0; i < ${calls}; i++) sum += (await tools.${tool}({ value: i })) === null ? 0 : 1;
return sum`;

export const callsFigure: Figure = {
  name: "calls",
  means: `a task of ${calls} calls in a row, p50`,
  async measure({ quick }) {
    const floor = await openBareFloor();
    const product = await openInstallation({ benchWorker: true });
    const rounds = quick ? 10 : 40;
    try {
      const safe = await measureKind(floor, product, rounds, {
        figure: "calls/safe",
        tool: "executor.echo",
        write: () => floor.store.writeTaskOfSafeCalls(calls),
      });
      const unsafe = await measureKind(floor, product, rounds, {
        figure: "calls/unsafe",
        tool: "bench.touch",
        write: () => floor.store.writeTaskOfUnsafeCalls(calls),
      });
      return [safe, unsafe];
    } finally {
      await product.close();
      await floor.close();
    }
  },
};

async function measureKind(
  floor: BareFloor,
  product: Installation,
  rounds: number,
  kind: { figure: string; tool: string; write(): void },
): Promise<Row> {
  const code = program(kind.tool);
  const samples = await sampleInTurn(
    {
      http: () => timeMs(() => floor.request(code)),
      store: () => timeMs(kind.write),
      engine: () => timeMs(() => floor.engine.awaitHost(calls)),
      product: () => timeMs(async () => expectAll(await runToEnd(product.owner, code))),
    },
    { rounds, warmUp: 15 },
  );
  const parts = { http: p50(samples.http), store: p50(samples.store), engine: p50(samples.engine) };
  return makeRow({
    figure: kind.figure,
    unit: "ms",
    floor: parts.http + parts.store + parts.engine,
    product: p50(samples.product),
    aim: "<= 2x",
    isMet: ({ ratio }) => ratio <= 2,
    note: `floor = http ${parts.http.toFixed(2)} + store ${parts.store.toFixed(2)} + engine with ${calls} awaits ${parts.engine.toFixed(2)}`,
  });
}

function expectAll({ result }: { result?: unknown }): void {
  if (result !== calls) throw new Error(`the task made ${String(result)} of ${calls} calls`);
}
