/** Hands documents to processes that judge them, as many as there are cores. One that hangs or dies costs its document, no other. */
import { join } from "node:path";
import type { CorpusDocument } from "./documents.ts";
import type { Order, Verdict } from "./judge.ts";

export type Result = { document: CorpusDocument } & ({ verdict: Verdict } | { error: string });

interface Judge {
  ask(order: Order, maxMs: number): Promise<{ verdict: Verdict } | { error: string }>;
  stop(): Promise<void>;
}

export async function judgeAll(
  documents: readonly CorpusDocument[],
  options: { withPrism: boolean; judges: number; maxMs: number },
  onResult: (result: Result, done: number) => void,
): Promise<Result[]> {
  const results: Result[] = Array.from({ length: documents.length });
  // The large ones first: at the end nobody waits for one of them.
  const order = documents.map((document, at) => ({ at, size: Bun.file(document.file).size }));
  const queue = order.toSorted((a, b) => b.size - a.size).map(({ at }) => at);
  let done = 0;
  const work = async (): Promise<void> => {
    let judge: Judge | null = null;
    let asked = 0;
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      const document = documents[at] as CorpusDocument;
      judge ??= startJudge();
      const answer = await judge.ask(
        { file: document.file, withPrism: options.withPrism, prismTools: document.prismTools ?? 100 },
        options.maxMs,
      );
      const result = { document, ...answer };
      results[at] = result;
      onResult(result, ++done);
      // A fresh process now and then, and after every mishap: its memory is no matter then.
      if ("error" in answer || ++asked % 100 === 0) {
        await judge.stop();
        judge = null;
      }
    }
    await judge?.stop();
  };
  await Promise.all(Array.from({ length: options.judges }, work));
  return results;
}

function startJudge(): Judge {
  type Answer = { ready: true } | { verdict: Verdict } | { error: string };
  let settle: ((answer: { verdict: Verdict } | { error: string }) => void) | null = null;
  const ready = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, "--no-orphans", join(import.meta.dir, "judge.ts")], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc(message: Answer) {
      if ("ready" in message) ready.resolve();
      else settle?.(message);
    },
    onExit(_child, code, signal) {
      ready.resolve();
      settle?.({ error: `its process ended (${signal ?? code})` });
    },
  });
  return {
    async ask(order, maxMs) {
      await ready.promise;
      const answer = Promise.withResolvers<{ verdict: Verdict } | { error: string }>();
      settle = answer.resolve;
      const timer = setTimeout(() => answer.resolve({ error: `not done after ${maxMs / 1000} s` }), maxMs);
      if (child.exitCode === null) child.send(order);
      else answer.resolve({ error: "its process did not start" });
      try {
        return await answer.promise;
      } finally {
        clearTimeout(timer);
        settle = null;
      }
    },
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 2_000);
      await child.exited;
      clearTimeout(timer);
    },
  };
}
