/** Stoplight's prism as a process of its own: a mock server that checks what it gets against the document. */
import { join } from "node:path";

export interface Prism {
  url: string;
  /** Null while it runs; else its last words. */
  lastWords(): string | null;
  stop(): Promise<void>;
}

const modules = join(import.meta.dir, "../node_modules");

/** Null when it cannot make anything of the document, with its reason. */
export async function startPrism(file: string): Promise<Prism | { reason: string }> {
  const port = await freePort();
  const child = Bun.spawn(
    [
      join(modules, "node/bin/node"),
      "--max-old-space-size=4000",
      join(modules, "@stoplight/prism-cli/dist/index.js"),
      "mock",
      "-h",
      "127.0.0.1",
      "-p",
      String(port),
      file,
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe", env: { PATH: process.env.PATH, NO_COLOR: "1" } },
  );
  let output = "";
  const drain = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output = (output + decoder.decode(chunk, { stream: true })).slice(-200_000);
  };
  void drain(child.stdout);
  void drain(child.stderr);
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  const lastWords = (): string | null =>
    child.exitCode === null && child.signalCode === null
      ? null
      : (/^\w*Error: .*$/m.exec(output.slice(-20_000))?.[0] ?? "it ended");
  for (let waited = 0; waited < 120_000; waited += 100) {
    if (output.includes("Prism is listening")) return { url: `http://127.0.0.1:${port}`, stop, lastWords };
    if (child.exitCode !== null) break;
    await Bun.sleep(100);
  }
  await stop();
  return {
    reason:
      output
        .split("\n")
        .find((line) => /error|fatal/i.test(line))
        ?.replace(/^.*?›\s*/, "")
        .slice(0, 200) ?? "it was not ready within two minutes",
  };
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
  const { port } = server;
  await server.stop(true);
  return port as number;
}
