/** A process that judges documents, one at a time: a document comes as a message, its report goes back as one. */
import { startEchoServer } from "../../packages/testkit/src/openapi-corpus/echo-server.ts";
import { runDocument, type DocumentReport } from "../../packages/testkit/src/openapi-corpus/run-document.ts";
import { fromPattern } from "./from-pattern.ts";
import { askPrism, type PrismReport } from "./ask-prism.ts";

export interface Order {
  file: string;
  withPrism: boolean;
  prismTools: number;
}
export interface Verdict extends DocumentReport {
  prism: PrismReport | null;
  ms: number;
}

const echo = startEchoServer();

async function judge({ file, withPrism, prismTools }: Order): Promise<Verdict> {
  const startedAt = performance.now();
  const text = await Bun.file(file).text();
  const root = (file.endsWith(".json") ? JSON.parse(text) : Bun.YAML.parse(text)) as Record<string, unknown>;
  const prism = withPrism ? askPrism(file, prismTools) : null;
  try {
    const report = await runDocument({ text, root, echo, fromPattern, onTool: prism?.onTool });
    return { ...report, prism: prism?.report ?? null, ms: Math.round(performance.now() - startedAt) };
  } finally {
    await prism?.stop();
  }
}

process.on("message", (order: Order) => {
  judge(order).then(
    (verdict) => process.send?.({ verdict }),
    (error: unknown) =>
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({ ready: true });
