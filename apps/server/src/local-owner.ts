/**
 * The owner of this installation: a workspace of its own and an admin key that may do what reaches the machine. The key
 * lies in the data directory, for its owner's eyes only, and stays the same across restarts and lost databases.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { BearerRow } from "@executor/core/store/tables";
import type { NewBearer } from "@executor/core/store/verbs/identity";
import type { AppDeps } from "./deps.ts";
import { looksLikeToken, newToken } from "./tokens.ts";

/** What the CLI reads, too. */
const OwnerFile = z.object({
  token: z.string().refine(looksLikeToken),
  workspaceId: z.string(),
  bearerId: z.string(),
  actorId: z.string(),
  clientId: z.string(),
});
type Owner = z.infer<typeof OwnerFile>;

type Deps = Pick<AppDeps, "store" | "host" | "log">;

export async function ensureLocalOwner(deps: Deps, home: string): Promise<Owner> {
  const path = join(home, "owner-key");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const known = readOwner(path, deps);
  const owner = known ?? newOwner(deps);
  // The file first: a key in the store that nobody knows would be worse than a file the next start makes good.
  if (!known) writeOwner(path, owner);
  const row = await deps.store.createWorkspace({
    workspaceId: owner.workspaceId,
    kind: "local",
    bearer: toBearer(deps, owner),
    now: deps.host.now(),
  });
  return isUsable(deps, row, owner) ? owner : await replaceKey(deps, path, owner);
}

/** The owner's workspace, for those who make no owner themselves; null while there is none. */
export function findLocalWorkspace(home: string, deps: Pick<AppDeps, "log">): string | null {
  return readOwner(join(home, "owner-key"), deps)?.workspaceId ?? null;
}

/** The key was revoked, by a logout for instance: the owner of the directory gets a new one for the same workspace. */
async function replaceKey(deps: Deps, path: string, old: Owner): Promise<Owner> {
  const { store, host, log } = deps;
  const owner = { ...newOwner(deps), workspaceId: old.workspaceId, actorId: old.actorId };
  await store.createBearer({
    bearer: toBearer(deps, owner),
    by: { actorId: owner.actorId, clientId: owner.clientId },
    now: host.now(),
  });
  writeOwner(path, owner);
  log.warn("owner.key_replaced", { path });
  return owner;
}

const isUsable = ({ host }: Deps, row: BearerRow, owner: Owner): boolean =>
  row.revokedAt === null && row.hash === host.sha256(owner.token) && row.workspaceId === owner.workspaceId;

function newOwner({ host }: Deps): Owner {
  return {
    token: newToken("key"),
    workspaceId: host.newId("ws"),
    bearerId: host.newId("key"),
    actorId: host.newId("actor"),
    clientId: host.newId("client"),
  };
}

function toBearer({ host }: Deps, { token, ...ids }: Owner): NewBearer {
  return {
    ...ids,
    hash: host.sha256(token),
    kind: "key",
    role: "admin",
    label: "owner of this installation",
    installationAdmin: 1,
    mayElicit: 0,
  };
}

/** Null when there is none. A file that cannot be read as one is an error: it is never silently replaced. */
function readOwner(path: string, { log }: Pick<Deps, "log">): Owner | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    log.warn("owner.key_was_readable", {
      path,
      advice: "others could read the owner's key; delete the file to get a new one",
    });
    chmodSync(path, 0o600);
  }
  const parsed = OwnerFile.safeParse(parseJson(text));
  if (!parsed.success)
    throw new Error(`${path} is not an owner key of Executor. Restore it, or delete it to start with a new one.`);
  return parsed.data;
}

/** Whole or not at all: a crash leaves the old file. */
function writeOwner(path: string, owner: Owner): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(owner, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
