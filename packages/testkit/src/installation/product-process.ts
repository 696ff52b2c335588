/**
 * One process of the product under test: its output is collected line by line, and it never outlives the test run.
 * Three nets: `stop` of its owner, the exit of this process, and EXECUTOR_PARENT_PID for when this one is killed itself.
 */
import { join } from "node:path";

export const repositoryRoot = join(import.meta.dir, "../../../..");

export interface LogLine {
  msg?: string;
  [field: string]: unknown;
}

export interface ProcessSpec {
  name: string;
  /** Arguments of Bun. */
  args: string[];
  env: Record<string, string>;
}

const running = new Set<ProductProcess>();
process.on("exit", () => {
  for (const each of running) each.kill("SIGKILL");
});

export class ProductProcess {
  readonly name: string;
  readonly lines: string[] = [];
  stderr = "";
  readonly #child: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #read: Promise<void>;
  #wake = Promise.withResolvers<void>();

  constructor({ name, args, env }: ProcessSpec) {
    this.name = name;
    this.#child = Bun.spawn([process.execPath, ...args], {
      cwd: repositoryRoot,
      env: { ...cleanEnvironment(), EXECUTOR_PARENT_PID: String(process.pid), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.add(this);
    this.#read = Promise.all([this.#readLines(), this.#readStderr()]).then(() => undefined);
    void this.exited.then(() => {
      running.delete(this);
      this.#ring();
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The exit code; of a killed one 128 + the number of the signal. */
  get exited(): Promise<number> {
    return this.#child.exited;
  }

  /** All it said. */
  get text(): string {
    return `${this.lines.join("\n")}\n${this.stderr}`;
  }

  kill(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(signal);
  }

  /** Its exit code and everything it had to say. */
  async finish(): Promise<{ code: number; stderr: string; text: string }> {
    const code = await this.exited;
    await this.#read;
    return { code, stderr: this.stderr, text: this.text };
  }

  /** Waits for a line of the log that fits; fails with all it said when the process ends or the time is over. */
  async waitForLine(fits: (line: LogLine) => boolean, timeoutMs = 15_000): Promise<LogLine> {
    const giveUpAt = Date.now() + timeoutMs;
    for (let seen = 0; ;) {
      for (; seen < this.lines.length; seen++) {
        const line = parseLine(this.lines[seen] ?? "");
        if (line && fits(line)) return line;
      }
      if (!this.isRunning) {
        const { code, text } = await this.finish();
        if (seen === this.lines.length)
          throw new Error(`${this.name} ended with ${code} before it said what was waited for:\n${text}`);
      }
      const leftMs = giveUpAt - Date.now();
      if (leftMs <= 0)
        throw new Error(`${this.name} did not say what was waited for within ${timeoutMs} ms:\n${this.text}`);
      await Promise.race([this.#wake.promise, Bun.sleep(Math.min(leftMs, 200))]);
    }
  }

  async #readLines(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of this.#child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      this.lines.push(...parts);
      this.#ring();
    }
    if (rest !== "") this.lines.push(rest);
  }

  async #readStderr(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#child.stderr) this.stderr += decoder.decode(chunk, { stream: true });
  }

  #ring(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}

function parseLine(text: string): LogLine | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as LogLine) : null;
  } catch {
    return null;
  }
}

/** What a product process may know of the machine; nothing that was set for another installation. */
function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(([name]) => !/^(EXECUTOR_|CONVEX_|VERCEL_|BUN_|npm_)/i.test(name));
  return Object.fromEntries(kept.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
