/** One small task over HTTP, from request to result, against what it cannot do without: HTTP, three durable writes, an engine. */
import { openBareFloor } from "../src/bare-floor.ts";
import { type Figure, makeRow } from "../src/figure.ts";
import { openInstallation, runToEnd } from "../src/installation.ts";
import { p50, percentile, sampleInTurn, timeMs } from "../src/samples.ts";

const code = "return 1+1";

export const runFigure: Figure = {
  name: "run",
  means: "POST /api/tasks?wait with `return 1+1`, p50",
  async measure({ quick }) {
    const floor = await openBareFloor();
    const product = await openInstallation();
    try {
      const samples = await sampleInTurn(
        {
          http: () => timeMs(() => floor.request(code)),
          store: () => timeMs(() => floor.store.writeTask()),
          engine: () => timeMs(() => floor.engine.evaluate()),
          product: () => timeMs(() => runToEnd(product.owner, code)),
        },
        { rounds: quick ? 100 : 500, warmUp: 50 },
      );
      const parts = { http: p50(samples.http), store: p50(samples.store), engine: p50(samples.engine) };
      const bare = parts.http + parts.store + parts.engine;
      const shown = Object.entries(parts).map(([name, ms]) => `${name} ${ms.toFixed(2)}`);
      return [
        makeRow({
          figure: "run",
          unit: "ms",
          floor: bare,
          product: p50(samples.product),
          aim: "<= 2x and < 5 ms",
          isMet: ({ product: ms, ratio }) => ratio <= 2 && ms < 5,
          note: `floor = ${shown.join(" + ")}; product p90 ${percentile(samples.product, 0.9).toFixed(2)}`,
        }),
      ];
    } finally {
      await product.close();
      await floor.close();
    }
  },
};
