/**
 * A public address for /internal by Tailscale Funnel, while this server runs: opened in the background, believed only once the
 * configuration says so and the address was seen to lead to this very process, taken back at the end. Never touches a handler
 * that is not ours. Whatever goes wrong is a sentence for people and nothing else: no task depends on it but those in VMs.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "@executor/core/log";
import type { CallbackState } from "@executor/runtimes/vercel-sandbox/vercel-sandbox-runtime";
import {
  choosePort,
  explainFailure,
  FUNNEL_PATH,
  isOpen,
  type Machine,
  proxyAt,
  readConfig,
  readMachine,
  urlOf,
} from "./funnel-plan.ts";
import { findTailscale, type RunTailscale } from "./run-tailscale.ts";

export interface FunnelOptions {
  /** Where this server listens. */
  host: string;
  port: number;
  /** What the server answers at /internal/ping. */
  instance: string;
  runDir: string;
  /** The PATH to look for `tailscale` in. */
  path: string | undefined;
  log: Logger;
  onState(state: CallbackState): void;
  /** The address it will have, told before it is tried. */
  onUrl(url: string): void;
  fetch?(url: string, init: { signal: AbortSignal; redirect: "error" }): Promise<Response>;
  openWithinMs?: number;
  probeEveryMs?: number;
}

const OPEN_WITHIN_MS = 15_000;
const CLOSE_WITHIN_MS = 4_000;
const PROBE_WITHIN_MS = 8_000;
/** The first name and certificate of a machine may take minutes. */
const PROBE_EVERY_MS = 3_000;

export function openFunnel(options: FunnelOptions): { close(): Promise<void> } {
  const funnel = new Funnel(options);
  const opening = funnel.open().catch((error: unknown) => funnel.fail(String(error)));
  return {
    async close() {
      funnel.stop();
      await opening;
      await funnel.undo();
    },
  };
}

class Funnel {
  readonly #options: FunnelOptions;
  readonly #target: string;
  readonly #recordPath: string;
  readonly #stopping = new AbortController();
  #opened: { run: RunTailscale; port: number } | null = null;

  constructor(options: FunnelOptions) {
    this.#options = options;
    this.#target = targetOf(options);
    this.#recordPath = join(options.runDir, "funnel.json");
  }

  async open(): Promise<void> {
    this.#say("it is being opened");
    const run = findTailscale(this.#options.path);
    if (!run) return this.fail("`tailscale` is not installed. Install it, or set EXECUTOR_INTERNAL_BASE_URL");
    const machine = readMachine((await run(["status", "--json", "--peers=false"])).stdout);
    if (typeof machine === "string") return this.fail(machine);
    await this.#removeLeftOver(run, machine);
    const port = await this.#expose(run, machine);
    if (port === null) return;
    const url = urlOf(machine.host, port);
    this.#options.onUrl(url);
    await this.#probe(url);
  }

  stop(): void {
    this.#stopping.abort();
  }

  fail(why: string): void {
    this.#say(why);
    this.#options.log.warn("funnel.failed", { why });
  }

  async undo(): Promise<void> {
    if (!this.#opened) return;
    const { run, port } = this.#opened;
    this.#opened = null;
    await run(offArgs(port), CLOSE_WITHIN_MS);
    rmSync(this.#recordPath, { force: true });
  }

  /** Of a server that was killed: its handler still leads to where that one listened. */
  async #removeLeftOver(run: RunTailscale, { host }: Machine): Promise<void> {
    const record = readRecord(this.#recordPath);
    if (!record || record.target === this.#target) return;
    const config = await readFunnel(run);
    if (proxyAt(config, host, record.port) === record.target) await run(offArgs(record.port));
    rmSync(this.#recordPath, { force: true });
  }

  async #expose(run: RunTailscale, machine: Machine): Promise<number | null> {
    const before = await readFunnel(run);
    const port = choosePort(before, machine, this.#target);
    if (port === null) {
      this.fail(
        `ports ${machine.ports.join(", ")} are all used by other handlers, which stay as they are. Free one, or set EXECUTOR_INTERNAL_BASE_URL`,
      );
      return null;
    }
    if (this.#stopping.signal.aborted) return null;
    // Written first: if we are killed in between, the next server knows what to take back.
    writeFileSync(this.#recordPath, JSON.stringify({ port, target: this.#target }), { mode: 0o600 });
    this.#opened = { run, port };
    const { openWithinMs = OPEN_WITHIN_MS } = this.#options;
    const ran = await run(
      ["funnel", "--bg", "--yes", `--https=${port}`, `--set-path=${FUNNEL_PATH}`, this.#target],
      openWithinMs,
    );
    const config = await readFunnel(run);
    if (isOpen(config, machine.host, port, this.#target)) return port;
    // Half of it may be there: a handler that only the tailnet reaches.
    if (proxyAt(config, machine.host, port) === this.#target) await this.undo();
    this.#opened = null;
    rmSync(this.#recordPath, { force: true });
    this.fail(explainFailure(ran.text, ran.code === null));
    return null;
  }

  /** Only the address leading back to this process shows that name, certificate and relay work. */
  async #probe(url: string): Promise<void> {
    const { fetch: get = fetch, instance, log, onState, probeEveryMs = PROBE_EVERY_MS } = this.#options;
    const { signal } = this.#stopping;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(PROBE_WITHIN_MS)]);
      const found = await get(`${url}${FUNNEL_PATH}/ping`, { signal: timeout, redirect: "error" })
        .then(async (response) => (await response.json()) as { instance?: unknown })
        .catch((error: unknown) => String(error).slice(0, 200));
      if (typeof found !== "string" && found.instance === instance) {
        log.info("funnel.open", { url });
        return onState({ url });
      }
      const why = typeof found === "string" ? found : "another server answers there";
      this.#say(`${url} does not lead here yet (${why}); the name and certificate of a machine may take some minutes`);
      if (isFirst) log.info("funnel.waiting", { url, why });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, probeEveryMs);
        signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }

  #say(why: string): void {
    this.#options.onState({ reason: `VMs cannot call back through the Tailscale Funnel: ${why}.` });
  }
}

/** Tailscale proxies to this machine only, and by these names. */
function targetOf({ host, port }: Pick<FunnelOptions, "host" | "port">): string {
  const name = ["0.0.0.0", "::", "[::]"].includes(host) ? "127.0.0.1" : host.includes(":") ? "localhost" : host;
  return `http://${name}:${port}${FUNNEL_PATH}`;
}

const offArgs = (port: number): string[] => ["funnel", `--https=${port}`, `--set-path=${FUNNEL_PATH}`, "off"];

const readFunnel = async (run: RunTailscale) => readConfig((await run(["funnel", "status", "--json"])).stdout);

function readRecord(path: string): { port: number; target: string } | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as { port: number; target: string };
  } catch {
    return null;
  }
}
