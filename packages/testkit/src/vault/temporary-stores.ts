/** Stores for tests of credentials: one SQLite file, as many connections to it as asked for, a workspace to work in. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import { openSqliteStore } from "@executor/store/sqlite/sqlite-store";
import { createSystemHost } from "@executor/store/system-host";

export interface TemporaryStores {
  dir: string;
  /** The database file. */
  path: string;
  host: Host;
  connect(): Promise<Store>;
  addWorkspace(store: Store): Promise<string>;
  stop(): Promise<void>;
}

export function openTemporaryStores(): TemporaryStores {
  const dir = mkdtempSync(join(tmpdir(), "executor-vault-"));
  const path = join(dir, "executor.db");
  const host = createSystemHost();
  const open: Store[] = [];
  return {
    dir,
    path,
    host,
    async connect() {
      const store = await openSqliteStore({ path });
      open.push(store);
      return store;
    },
    addWorkspace: (store) => addWorkspace(store, host),
    async stop() {
      for (const store of open) await store.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function addWorkspace(store: Store, host: Host): Promise<string> {
  const workspaceId = host.newId("ws");
  const bearer = {
    bearerId: host.newId("session"),
    hash: host.newSeed(),
    kind: "session",
    workspaceId,
    actorId: "ann",
    clientId: "client",
    role: "admin",
    label: "",
    installationAdmin: 0,
    mayElicit: 0,
  };
  await store.createWorkspace({ workspaceId, kind: "anonymous", bearer, now: host.now() });
  return workspaceId;
}
