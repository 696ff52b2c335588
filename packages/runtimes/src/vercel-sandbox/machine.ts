/**
 * One VM at Vercel, through their SDK: made for one task, given the runner's files, used for one guest after the other of that
 * task, deleted. It can reach nothing but the callback host.
 */
import type { Sandbox, Session } from "@vercel/sandbox";
import { GuestLost, RuntimeRefused } from "@executor/core/ports/runtime";
import { bundleRunner } from "./bundle-runner.ts";
import type { RunnerJob } from "./guest-messages.ts";
import type { VercelCredentials, VercelSettings } from "./read-vercel-settings.ts";
import { type Fetch, SentOnce } from "./vercel-fetch.ts";

/** A worker that died leaves its machines behind for this long at most; one that lives extends it. */
const LIFE_MS = 5 * 60_000;
const EXTEND_MS = 2 * 60_000;
const FOLDER = "executor";

/** Loaded when the first VM is made: most installations never make one. */
const loadSdk = () => import("@vercel/sandbox");

export interface MachineOptions extends Pick<VercelSettings, "runtime" | "image"> {
  credentials: VercelCredentials;
  fetch: Fetch;
  name: string;
  callbackHost: string;
  signal: AbortSignal | undefined;
}

export class Machine {
  readonly name: string;
  readonly #sandbox: Sandbox;
  readonly #session: Session;
  #extendedAtMs = performance.now();
  #jobs = 0;

  private constructor(name: string, sandbox: Sandbox) {
    this.name = name;
    this.#sandbox = sandbox;
    // Through the sandbox a stopped VM would be started anew behind our back; its session says that it is gone.
    this.#session = sandbox.currentSession();
  }

  static async create({
    credentials,
    name,
    runtime,
    image,
    callbackHost,
    fetch,
    signal,
  }: MachineOptions): Promise<Machine> {
    const { token, teamId, projectId } = credentials;
    const { Sandbox } = await loadSdk();
    const sandbox = await Sandbox.create({
      token,
      teamId,
      projectId,
      fetch: fetch as typeof globalThis.fetch,
      name,
      ...(image === null ? { runtime } : { image }),
      timeout: LIFE_MS,
      persistent: false,
      networkPolicy: { allow: [callbackHost] },
      tags: { executor: "guest" },
      ...(signal && { signal }),
    });
    return new Machine(name, sandbox);
  }

  /** Null: the command was sent and nothing came back, so it may run or not. It is not sent again. */
  async run(job: RunnerJob, signal: AbortSignal | undefined): Promise<string | null> {
    const path = `${FOLDER}/job-${this.#jobs}.json`;
    const options = signal && { signal };
    const runner = this.#jobs++ === 0 ? await bundleRunner() : [];
    const files = runner.map(({ name, content }) => ({ path: `${FOLDER}/${name}`, content, mode: 0o644 }));
    await this.#session.writeFiles([...files, { path, content: JSON.stringify(job), mode: 0o600 }], options);
    try {
      const args = [`${FOLDER}/main.mjs`, path];
      const command = await this.#session.runCommand({ cmd: "node", args, detached: true, ...options });
      return command.cmdId;
    } catch (error) {
      if (error instanceof SentOnce && error.status === null && !signal?.aborted) return null;
      throw error;
    }
  }

  /** False: the VM or the runner in it is gone. Also keeps the VM alive. */
  async isAlive(commandId: string | null): Promise<boolean> {
    if (performance.now() - this.#extendedAtMs > EXTEND_MS) {
      this.#extendedAtMs = performance.now();
      await this.#session.extendTimeout(EXTEND_MS);
    }
    if (commandId === null) return true;
    const { exitCode } = await this.#session.getCommand(commandId);
    return exitCode === null;
  }

  async delete(): Promise<void> {
    await this.#sandbox.delete();
  }
}

/** After a request to make one that nobody answered: it may be there. */
export async function deleteByName(
  name: string,
  { credentials, fetch }: Pick<MachineOptions, "credentials" | "fetch">,
): Promise<void> {
  const { token, teamId, projectId } = credentials;
  const access = { token, teamId, projectId, fetch: fetch as typeof globalThis.fetch };
  const { Sandbox } = await loadSdk();
  const sandbox = await Sandbox.get({ ...access, name, resume: false });
  await sandbox.delete();
}

/** Whether what the API said is worth another try: GuestLost, or for good: RuntimeRefused. */
export function explainVercel(error: unknown, doing: string): GuestLost | RuntimeRefused {
  const status = statusOf(error);
  const reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
  if (status === 401 || status === 403)
    return new RuntimeRefused(
      `Vercel refused the credentials while ${doing} (${reason}). Renew VERCEL_OIDC_TOKEN with \`vercel env pull\`, or check VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID.`,
    );
  if (status !== null && status >= 400 && status < 500 && ![404, 408, 409, 410, 422, 429].includes(status))
    return new RuntimeRefused(`Vercel refused ${doing} (${reason}).`);
  return new GuestLost(`${doing} failed: ${reason}`);
}

export function statusOf(error: unknown): number | null {
  if (error instanceof SentOnce) return error.status;
  const response = (error as { response?: { status?: unknown } } | null)?.response;
  return typeof response?.status === "number" ? response.status : null;
}
