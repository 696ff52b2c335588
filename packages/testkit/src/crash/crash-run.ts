/**
 * One crash test: a task, a worker that is killed at a given point of it, a second that is killed at another, a third that
 * lives. A person stands by who knows what really happened: they let an unknown call go again only if it did not.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@executor/core/ports/store";
import { preludeVersion } from "@executor/runtimes/guest/prelude";
import { transpileTask } from "@executor/runtimes/guest/transpile-task";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";
import { startEffectServer, type EffectServer } from "./effect-server.ts";

export interface Scenario {
  name: string;
  /** Calls `effects.post({ name })`, each name once; `post` catches an unknown outcome and returns "unknown". */
  code: string;
  effects: string[];
  /** Also ask for `executor.echo`. */
  asks: boolean;
}

export const prologue = `
const post = async (name: string): Promise<unknown> => {
  try { return await tools.effects.post({ name }); }
  catch (error) { if (error.code === "call.outcome_unknown") return "unknown"; throw error; }
};
`;

export interface CrashReport {
  kills: number;
  status: string;
  counts: Record<string, number>;
  unknownAsked: number;
  error: string | null;
}

export class CrashLab {
  readonly #dir = mkdtempSync(join(tmpdir(), "executor-crash-"));
  readonly #host = createSystemHost();
  readonly #effects: EffectServer = startEffectServer();
  #store: Store | null = null;

  /** `deadly`: the points at which the first workers die, one after the other. */
  async run(scenario: Scenario, deadly: readonly number[]): Promise<CrashReport> {
    const store = (this.#store ??= await openSqliteStore({
      path: join(this.#dir, "executor.db"),
      hints: { socketPath: join(this.#dir, "h.sock"), role: "hub" },
    }));
    const run = this.#host.newSeed().slice(0, 8);
    const { workspaceId, taskId } = await this.#submit(store, scenario, run);
    let kills = 0;
    let unknownAsked = 0;
    const decide = async (): Promise<void> => {
      const read = await store.readTask({ taskId, workspaceId });
      for (const each of read?.pending ?? []) {
        const happened =
          each.mayHaveRun === 1 && this.#effects.count((JSON.parse(each.inputJson) as { name: string }).name) > 0;
        unknownAsked += each.mayHaveRun;
        await store.decideApproval({
          interactionId: each.interactionId,
          workspaceId,
          decision: happened ? "denied" : "approved",
          reason: null,
          by: { actorId: "person", clientId: "console" },
          remember: null,
          now: this.#host.now(),
        });
      }
    };
    for (const point of [...deadly, 0]) {
      const died = await this.#work(store, taskId, point, decide);
      if (died) kills++;
    }
    const task = (await store.readTask({ taskId, workspaceId }))?.task;
    const counts = Object.fromEntries(scenario.effects.map((name) => [name, this.#effects.count(`${run}-${name}`)]));
    return { kills, status: task?.status ?? "gone", counts, unknownAsked, error: task?.errorJson ?? null };
  }

  async close(): Promise<void> {
    await this.#store?.close();
    await this.#effects.stop();
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** Runs one worker until it dies or the task is over. True when it died. */
  async #work(store: Store, taskId: string, deadly: number, decide: () => Promise<void>): Promise<boolean> {
    const options = {
      path: join(this.#dir, "executor.db"),
      socketPath: join(this.#dir, "h.sock"),
      effectUrl: this.#effects.url,
      deadly,
    };
    const worker = Bun.spawn([process.execPath, join(import.meta.dir, "worker-main.ts"), JSON.stringify(options)], {
      stdout: "ignore",
      stderr: "inherit",
    });
    const giveUpAt = Date.now() + 20_000;
    for (;;) {
      const status = (await store.readTaskStatus({ taskId }))?.status ?? "";
      if (worker.exitCode !== null || worker.signalCode !== null) return true;
      if (!["queued", "running", "waiting"].includes(status)) break;
      if (status === "waiting") await decide();
      if (Date.now() > giveUpAt) throw new Error(`the task is still ${status} after 20 s`);
      await Bun.sleep(5);
    }
    // Over and settled; it may still die at the point after the last write.
    worker.kill("SIGTERM");
    await worker.exited;
    return worker.signalCode === "SIGKILL";
  }

  async #submit(store: Store, scenario: Scenario, run: string): Promise<{ workspaceId: string; taskId: string }> {
    const host = this.#host;
    const workspaceId = host.newId("ws");
    const who = { workspaceId, actorId: "agent", clientId: "test" };
    const bearer = {
      bearerId: host.newId("session"),
      hash: host.newSeed(),
      kind: "session",
      ...who,
      role: "admin",
      label: "",
      installationAdmin: 0,
      mayElicit: 0,
    };
    await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
    if (scenario.asks) {
      const policy = {
        policyId: host.newId("policy"),
        workspaceId,
        pattern: "executor.echo",
        decision: "require_approval",
        actorId: null,
        clientId: null,
        conditionsJson: "[]",
        priority: 0,
        createdAt: 1,
        createdBy: "person",
      };
      await store.createPolicy({ policy, by: who });
    }
    const code = prologue + scenario.code.replaceAll("RUN", run);
    const transpiled = transpileTask(code);
    if (!transpiled.ok) throw new Error(transpiled.message);
    const taskId = host.newId("task");
    await store.createTask({
      task: {
        taskId,
        ...who,
        runtimeId: "in-process",
        code,
        script: transpiled.script,
        seed: host.newSeed(),
        preludeVersion,
        timeoutMs: 60_000,
        metadataJson: "{}",
        idempotencyKey: null,
        requestDigest: "",
      },
      now: host.now(),
    });
    return { workspaceId, taskId };
  }
}

export const scenarios: Scenario[] = [
  {
    name: "one effect after the other",
    code: `return [await post("RUN-a"), await post("RUN-b"), await post("RUN-c")]`,
    effects: ["a", "b", "c"],
    asks: false,
  },
  {
    name: "effects at once",
    code: `return await Promise.all(["RUN-a", "RUN-b", "RUN-c", "RUN-d"].map(post))`,
    effects: ["a", "b", "c", "d"],
    asks: false,
  },
  {
    name: "effects around a person and a timer",
    code: `const a = await post("RUN-a");
           const [b, said] = await Promise.all([post("RUN-b"), tools.executor.echo({ value: "yes" })]);
           await new Promise<void>((done) => setTimeout(done, 5));
           console.log(said);
           return [a, b, said, await post("RUN-c")]`,
    effects: ["a", "b", "c"],
    asks: true,
  },
];

/** What every run must come to: each effect once, the task completed. */
export function verdict(report: CrashReport): string | null {
  if (report.status !== "completed") return `the task is ${report.status}: ${report.error}`;
  const wrong = Object.entries(report.counts).filter(([, count]) => count !== 1);
  return wrong.length === 0
    ? null
    : `effects happened ${JSON.stringify(Object.fromEntries(wrong))} times instead of once`;
}
