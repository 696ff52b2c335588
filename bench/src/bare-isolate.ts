/** The floor of isolated processes: the bare engine on a Unix socket that sends back every line, or runs a function by itself. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findEngine } from "@executor/runtimes/process/find-engine";
import { makeTempDir } from "./installation.ts";

const program = `
const decoder = new TextDecoder(), encoder = new TextEncoder(), chunk = new Uint8Array(65536);
const listener = Deno.listen({ transport: "unix", path: Deno.args[0] });
Deno.stdout.writeSync(encoder.encode("ready\\n"));
const host = await listener.accept();
for (;;) {
  const length = await host.read(chunk);
  if (length === null) Deno.exit(0);
  const text = decoder.decode(chunk.subarray(0, length));
  if (text.startsWith("run ")) await host.write(encoder.encode(JSON.stringify((0, eval)(text.slice(4))()) + "\\n"));
  else await host.write(chunk.subarray(0, length));
}`;

export class BareIsolate {
  readonly #child: { kill(signal: "SIGKILL"): void; exited: Promise<number>; stdout: ReadableStream<Uint8Array> };
  readonly #directory = makeTempDir();
  #socket: { write(text: string): number; end(): void } | undefined;
  #answered: (text: string) => void = () => undefined;

  constructor() {
    const engine = findEngine();
    if ("missing" in engine) throw new Error(engine.missing);
    const script = join(this.#directory, "bare.js");
    const path = join(this.#directory, "s");
    writeFileSync(script, program);
    const may = ["net=unix:", "read=", "write="].map((name) => `--allow-${name}${path}`);
    this.#child = Bun.spawn([engine.path, "run", "--quiet", "--no-prompt", "--no-config", ...may, script, path], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    });
  }

  async ready(): Promise<this> {
    const reader = this.#child.stdout.getReader();
    await reader.read();
    const decoder = new TextDecoder();
    this.#socket = await Bun.connect({
      unix: join(this.#directory, "s"),
      socket: { data: (_socket, chunk) => this.#answered(decoder.decode(chunk)) },
    });
    return this;
  }

  ask(line: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#answered = resolve;
    this.#socket?.write(line);
    return promise;
  }

  async stop(): Promise<void> {
    this.#socket?.end();
    this.#child.kill("SIGKILL");
    await this.#child.exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
