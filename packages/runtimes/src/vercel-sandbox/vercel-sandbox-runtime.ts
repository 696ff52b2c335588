/**
 * Runtime `vercel-sandbox`: each guest in a VM of its own at Vercel, in the same engine as everywhere (QuickJS, under Node).
 * The VM reaches the server's /internal routes and nothing else; what it says there is read here, by the run that holds the
 * lease, which gates and performs. docs/decisions/0009-guest-links.md says why.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "@executor/contracts/error";
import {
  GuestLost,
  type GuestProgram,
  type Runtime,
  type RuntimeAvailability,
  RuntimeRefused,
} from "@executor/core/ports/runtime";
import { preludeVersion } from "../guest/prelude.ts";
import { GuestLine, type LineDeps } from "./guest-line.ts";
import { deleteByName, explainVercel, Machine } from "./machine.ts";
import { MachineKeeper } from "./machine-keeper.ts";
import type { VercelCredentials, VercelSettings } from "./read-vercel-settings.ts";
import { createVercelFetch, SentOnce } from "./vercel-fetch.ts";
import { VmSession } from "./vm-session.ts";

/** Where VMs reach the server, or why they cannot. */
export type CallbackState = { url: string } | { reason: string };

export interface VercelRuntimeOptions extends LineDeps {
  settings: VercelSettings;
  readCallback(): CallbackState;
  log?(message: string): void;
  /** How often a VM is looked after. */
  checkMs?: number;
}

const CHECK_MS = 5_000;
/** From the command to the runner's first word. */
const READY_WITHIN_MS = 30_000;
/** Before each further try to make a VM. */
const WAITS_MS = [1_000, 3_000];

export function createVercelSandboxRuntime(options: VercelRuntimeOptions): Runtime {
  const opener = new MachineOpener(options);
  return {
    id: "vercel-sandbox",
    label: "Vercel Sandbox",
    description:
      "The same engine in a VM of its own at Vercel; starts in seconds, and its code runs on none of your machines.",
    preludeVersion,
    availability: async () => vercelAvailability(options),
    inspect: async () => vercelAvailability(options),
    open: (program, signal) => opener.open(program, signal),
    close: () => opener.close(),
  };
}

/** What is known without asking Vercel; the server tells it too, which runs no guests. */
export function vercelAvailability(
  options: Pick<VercelRuntimeOptions, "settings" | "readCallback" | "host">,
): RuntimeAvailability {
  const state = readReadiness(options);
  return typeof state === "string" ? { available: false, reason: state } : { available: true };
}

function readReadiness({
  settings,
  readCallback,
  host,
}: Pick<VercelRuntimeOptions, "settings" | "readCallback" | "host">):
  | { credentials: VercelCredentials; url: string }
  | string {
  const { credentials } = settings;
  if (typeof credentials === "string") return credentials;
  if (credentials.expiresAt !== null && credentials.expiresAt < host.now())
    return `VERCEL_OIDC_TOKEN expired at ${new Date(credentials.expiresAt).toISOString()}. Renew it with \`vercel env pull\` and start again.`;
  const callback = readCallback();
  return "reason" in callback ? callback.reason : { credentials, url: callback.url };
}

class MachineOpener {
  readonly #options: VercelRuntimeOptions;
  readonly #fetch: ReturnType<typeof createVercelFetch>;
  readonly #keeper: MachineKeeper;
  readonly #closing = new AbortController();

  constructor(options: VercelRuntimeOptions) {
    this.#options = options;
    this.#fetch = createVercelFetch(options.settings.apiUrl);
    this.#keeper = new MachineKeeper(options.settings.graceMs, (message) => options.log?.(message));
  }

  async open(program: GuestProgram, asked?: AbortSignal): Promise<VmSession> {
    const signal = asked ? AbortSignal.any([asked, this.#closing.signal]) : this.#closing.signal;
    const ready = readReadiness(this.#options);
    if (typeof ready === "string") throw new RuntimeRefused(ready);
    const { taskId } = program.fence;
    const kept = this.#keeper.take(taskId);
    if (kept) {
      const session = await this.#start(kept, program, ready.url, signal).catch(() => null);
      if (session) return session;
      // It did not outlast the wait: a new one, as if there had been none.
    }
    for (let tries = 0; ; tries++) {
      try {
        const machine = await this.#create(ready, signal);
        return await this.#start(machine, program, ready.url, signal);
      } catch (error) {
        const waitMs = WAITS_MS[tries];
        if (!(error instanceof GuestLost) || signal.aborted) throw error;
        this.#options.log?.(`${taskId}: ${error.message}`);
        if (waitMs === undefined) throw new RuntimeRefused(`No VM could be started at Vercel: ${error.message}`);
        await sleep(waitMs, undefined, { signal }).catch(() => undefined);
        if (signal.aborted) throw new GuestLost("called off");
      }
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#keeper.close();
  }

  async #create(
    { credentials, url }: { credentials: VercelCredentials; url: string },
    signal: AbortSignal,
  ): Promise<Machine> {
    const name = `executor-${randomBytes(10).toString("hex")}`;
    const { settings } = this.#options;
    const access = { credentials, fetch: this.#fetch };
    try {
      return await Machine.create({ ...settings, ...access, name, callbackHost: new URL(url).hostname, signal });
    } catch (error) {
      // Called off or unanswered: it may be there all the same.
      if (signal.aborted || (error instanceof SentOnce && error.status !== 429))
        this.#keeper.removeIfMade({ name, delete: () => deleteByName(name, access) });
      throw explainVercel(error, "making a VM");
    }
  }

  async #start(machine: Machine, program: GuestProgram, url: string, signal: AbortSignal): Promise<VmSession> {
    const { checkMs = CHECK_MS } = this.#options;
    let line: GuestLine | null = null;
    let session: VmSession | null = null;
    try {
      line = await GuestLine.open(this.#options, program.fence);
      const { script, seed, startMs, limits } = program;
      const job = { url: `${url}/internal/runs/${line.runId}`, token: line.token, script, seed, startMs, limits };
      const commandId = await machine.run(job, signal);
      const release = (released: Machine, reusable: boolean): void =>
        reusable && !signal.aborted ? this.#keeper.keep(program.fence.taskId, released) : this.#keeper.remove(released);
      session = new VmSession({ program, line, machine, commandId, checkMs, release });
      const callOff = (): void => line?.lose("called off");
      signal.addEventListener("abort", callOff, { once: true });
      await session.begin(READY_WITHIN_MS).finally(() => signal.removeEventListener("abort", callOff));
      return session;
    } catch (error) {
      if (session) session.fail();
      else this.#keeper.remove(machine);
      await (session ?? line)?.close();
      if (error instanceof GuestLost && session && !signal.aborted)
        throw new GuestLost(`${error.message}. It was told to call ${url}/internal, which must lead to this server`);
      if (error instanceof GuestLost || error instanceof AppError) throw error;
      throw explainVercel(error, "starting the runner in a VM");
    }
  }
}
