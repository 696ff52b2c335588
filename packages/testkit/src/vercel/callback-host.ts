/**
 * The server's /internal routes over a real store, for tests of runtimes whose guests call back: what server and store are to
 * a VM, without the rest of an installation.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import type { Fence } from "@executor/core/store/progress";
import { createHintHub } from "@executor/server/hint-hub";
import { answerProblem } from "@executor/server/http/problem";
import { guestRoutes } from "@executor/server/internal/guest-routes";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";

export interface CallbackHost {
  url: string;
  store: Store;
  host: Host;
  /** A new task that a worker holds. */
  claim(): Promise<Fence>;
  stop(): Promise<void>;
}

export async function startCallbackHost(): Promise<CallbackHost> {
  const dir = mkdtempSync(join(tmpdir(), "executor-callback-"));
  const store = await openSqliteStore({ path: join(dir, "executor.db") });
  const host = createSystemHost();
  const hub = createHintHub(store, () => undefined);
  const stopping = new AbortController();
  const app = guestRoutes({ store, host, hub, shutdown: stopping.signal, instance: host.newSeed() });
  const log = createLogger(() => undefined, host.now);
  app.onError((error) => answerProblem(error, "req", log));
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 60, fetch: app.fetch });
  const workspaceId = host.newId("ws");
  const caller = { workspaceId, actorId: "actor_a", clientId: "client_a" };
  const about = { kind: "session", role: "admin", label: "", installationAdmin: 0, mayElicit: 0 };
  const bearer = { bearerId: host.newId("session"), hash: host.newSeed(), ...caller, ...about };
  await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
  return {
    url: `http://127.0.0.1:${server.port}`,
    store,
    host,
    async claim() {
      const taskId = host.newId("task");
      const code = { code: "", script: "", seed: host.newSeed(), preludeVersion: 1, timeoutMs: 1_000 };
      const rest = { metadataJson: "{}", idempotencyKey: null, requestDigest: "", runtimeId: "vercel-sandbox" };
      await store.createTask({ task: { taskId, ...caller, ...code, ...rest }, now: host.now() });
      const claim = await store.claimTask({ taskId, workerId: "worker_a", leaseMs: 600_000, now: host.now() });
      if (!claim) throw new Error("the task could not be claimed");
      return { taskId, workspaceId, workerId: "worker_a", attempt: claim.task.attempt };
    },
    async stop() {
      stopping.abort();
      await server.stop(true);
      hub.close();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
