/** Opens the store an installation asks for: Convex when CONVEX_URL is set, else SQLite. The other one is not even loaded. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Installation } from "@executor/core/installation-env";
import type { Store } from "@executor/core/ports/store";

/** The server is the hub of hints between processes that share a SQLite file; workers are its spokes. */
export async function openStore(
  installation: Pick<Installation, "store" | "runDir">,
  role: "hub" | "spoke",
): Promise<Store> {
  const { store, runDir } = installation;
  if (store.kind === "convex") {
    const { openConvexStore } = await import("./convex/convex-store.ts");
    return await openConvexStore({ url: store.url, serviceToken: store.serviceToken });
  }
  const { openSqliteStore } = await import("./sqlite/sqlite-store.ts");
  return await openSqliteStore({ path: store.path, hints: { socketPath: socketPath(runDir), role } });
}

/** Unix sockets have short names (about 100 bytes): where the run directory is too deep, a private one in /tmp stands in. */
function socketPath(runDir: string): string {
  const inRunDir = join(runDir, "hints.sock");
  const isShort = Buffer.byteLength(inRunDir) < 100;
  const dir = isShort
    ? runDir
    : join(tmpdir(), `executor-${userInfo().uid}-${createHash("sha256").update(runDir).digest("hex").slice(0, 16)}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return isShort ? inRunDir : join(dir, "hints.sock");
}
