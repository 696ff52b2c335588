/**
 * The data key of each workspace: 32 random bytes, kept in the store wrapped by the installation key. Whoever needs the
 * first one makes it; of several at once, in whatever process, the store takes one and all use that.
 * Opened keys stay in memory for a while, few of them. A new installation key means new wrappings and nothing else:
 * a key found in an older wrapping is wrapped anew on the way.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { AppError } from "@executor/contracts/error";
import type { Store } from "@executor/core/ports/store";
import { associatedData } from "./associated-data.ts";
import { type InstallationKey, type InstallationKeys, KEY_BYTES } from "./installation-key.ts";
import { openBytes, sealBytes } from "./seal-text.ts";

export interface WorkspaceKeys {
  /** For sealing: makes the key if there is none. */
  toSeal(workspaceId: string): Promise<KeyObject>;
  /** For opening: a workspace without a key has nothing to open. */
  toOpen(workspaceId: string): Promise<KeyObject>;
}

export type KeyStore = Pick<Store, "readWorkspaceKey" | "createWorkspaceKey" | "replaceWorkspaceKey">;

interface Options {
  store: KeyStore;
  /** Called when first needed, and once. */
  installationKeys: () => Promise<InstallationKeys>;
  now: () => number;
}

const MAX_OPEN = 200;
const OPEN_MS = 10 * 60_000;

export function createWorkspaceKeys({ store, installationKeys, now }: Options): WorkspaceKeys {
  const open = new Map<string, { key: Promise<KeyObject>; until: number }>();

  const find = async (workspaceId: string, make: boolean): Promise<KeyObject> => {
    const keys = await installationKeys();
    const row =
      (await store.readWorkspaceKey({ workspaceId })) ?? (make ? await create(workspaceId, keys.current) : null);
    if (!row)
      throw new AppError(
        "credential.unreadable",
        `The workspace ${workspaceId} has no key, so nothing sealed in it can be opened. Restore the database from a backup that has it.`,
      );
    const opened = unwrap(row.wrapped, workspaceId, [keys.current, ...keys.previous]);
    if (opened.by !== keys.current) {
      const to = wrap(opened.bytes, workspaceId, keys.current);
      await store.replaceWorkspaceKey({ workspaceId, from: row.wrapped, to });
    }
    return toKey(opened.bytes);
  };

  const create = (workspaceId: string, by: InstallationKey) => {
    const bytes = randomBytes(KEY_BYTES);
    const wrapped = wrap(bytes, workspaceId, by);
    bytes.fill(0);
    return store.createWorkspaceKey({ workspaceId, wrapped, now: now() });
  };

  const remembered = (workspaceId: string, make: boolean): Promise<KeyObject> => {
    const known = open.get(workspaceId);
    if (known && known.until > now()) return known.key;
    const entry = { key: find(workspaceId, make), until: now() + OPEN_MS };
    open.delete(workspaceId);
    open.set(workspaceId, entry);
    // A failure is not remembered: the next one may find the key restored.
    entry.key.catch(() => open.get(workspaceId) === entry && open.delete(workspaceId));
    for (const oldest of open.keys()) {
      if (open.size <= MAX_OPEN) break;
      open.delete(oldest);
    }
    return entry.key;
  };

  return {
    // One that is only looking must not take the place of one that may make the key.
    toSeal: async (workspaceId) => await remembered(workspaceId, true).catch(() => remembered(workspaceId, true)),
    toOpen: (workspaceId) => remembered(workspaceId, false),
  };
}

/** The same key under another installation key. Records stay as they are. */
export function rewrapWorkspaceKey(
  wrapped: string,
  workspaceId: string,
  { from, to }: { from: InstallationKey; to: InstallationKey },
): string {
  const { bytes } = unwrap(wrapped, workspaceId, [from]);
  const rewrapped = wrap(bytes, workspaceId, to);
  bytes.fill(0);
  return rewrapped;
}

/** `k1.<id of the installation key>.<sealed>`; the id is bound, too. */
function wrap(bytes: Buffer, workspaceId: string, by: InstallationKey): string {
  return `k1.${by.id}.${sealBytes(by.key, wrappingData(workspaceId, by.id), bytes)}`;
}

function unwrap(
  wrapped: string,
  workspaceId: string,
  keys: readonly InstallationKey[],
): { bytes: Buffer; by: InstallationKey } {
  const [format, keyId = "", ...sealed] = wrapped.split(".");
  const by = keys.find(({ id }) => id === keyId);
  if (format !== "k1" || !/^[0-9a-f]{16}$/.test(keyId)) throw unreadable(workspaceId, "The stored key is damaged.");
  if (!by)
    throw unreadable(
      workspaceId,
      `It was wrapped with the installation key ${keyId}, and this installation has ${keys.map(({ id }) => id).join(", ")}.`,
    );
  try {
    const bytes = openBytes(by.key, wrappingData(workspaceId, keyId), sealed.join("."));
    if (bytes.length === KEY_BYTES) return { bytes, by };
  } catch {
    // Said below.
  }
  throw unreadable(workspaceId, "The stored key is damaged, or belongs to another workspace.");
}

const wrappingData = (workspaceId: string, keyId: string): Buffer =>
  associatedData("executor/workspace-key", "k1", keyId, workspaceId);

const unreadable = (workspaceId: string, why: string): AppError =>
  new AppError(
    "credential.unreadable",
    `The key of the workspace ${workspaceId} cannot be opened. ${why} Restore the file secrets-key (or EXECUTOR_SECRETS_KEY) that belongs to this database, or save the credentials anew in a new workspace.`,
  );

function toKey(bytes: Buffer): KeyObject {
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}
