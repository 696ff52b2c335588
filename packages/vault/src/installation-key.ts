/**
 * The key of an installation: wraps the keys of workspaces and nothing else. Its id tells two of them apart without
 * telling anything about them, so that a wrong key is named as such.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

export interface InstallationKey {
  id: string;
  key: KeyObject;
}

/** The one that wraps, and older ones that may still open what they wrapped. */
export interface InstallationKeys {
  current: InstallationKey;
  previous: readonly InstallationKey[];
}

export const KEY_BYTES = 32;

/** The bytes are wiped: from here on only the key object holds them. */
export function toInstallationKey(bytes: Buffer): InstallationKey {
  if (bytes.length !== KEY_BYTES) throw new Error(`an installation key has ${KEY_BYTES} bytes, not ${bytes.length}`);
  const id = createHmac("sha256", bytes).update("executor installation key id v1").digest("hex").slice(0, 16);
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return { id, key };
}

export const newKeyText = (): string => randomBytes(KEY_BYTES).toString("base64");

/** Null for what is not the base64 (or base64url) of 32 bytes. */
export function parseKeyText(text: string): Buffer | null {
  const trimmed = text.trim();
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return null;
  const bytes = Buffer.from(trimmed, "base64");
  return bytes.length === KEY_BYTES ? bytes : null;
}
