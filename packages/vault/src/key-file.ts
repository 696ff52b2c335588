/**
 * The installation key as a file that only its owner may read. Made on first use, whole or not at all: the text is
 * written beside it and then linked into place, which fails if another process was first; then that one's key is read.
 * Never overwrites a key: what it once sealed would be lost.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { AppError } from "@executor/contracts/error";
import { newKeyText, parseKeyText } from "./installation-key.ts";

export type Warn = (message: string, fields?: Record<string, unknown>) => void;

/** `make`: false looks only, and gives null where there is none. */
export function readKeyFile(path: string, warn: Warn, options: { make: false }): string | null;
export function readKeyFile(path: string, warn: Warn, options?: { make: true }): string;
export function readKeyFile(path: string, warn: Warn, { make }: { make: boolean } = { make: true }): string | null {
  try {
    const existing = readIfThere(path);
    if (existing === null && !make) return null;
    if (existing === null) makeKeyFile(path);
    keepPrivate(path, warn);
    const text = existing ?? readFileSync(path, "utf8");
    if (parseKeyText(text) === null)
      throw new AppError(
        "credential.unreadable",
        `The key file ${path} does not hold the base64 of 32 bytes. Restore it from a backup; without it the stored credentials cannot be opened.`,
      );
    return text.trim();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code = "unknown" } = error as { code?: string };
    throw new AppError(
      "credential.unreadable",
      `The key file ${path} cannot be read or made (${code}). Check its owner and that its directory can be written.`,
      { cause: error },
    );
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}

function makeKeyFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeNew(draft, `${newKeyText()}\n`);
    linkSync(draft, path);
    syncDirectory(dirname(path));
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A key that seals something must outlive a power cut; some systems cannot sync a directory. */
function syncDirectory(path: string): void {
  try {
    const directory = openSync(path, "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch {
    // Windows.
  }
}

function keepPrivate(path: string, warn: Warn): void {
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0 || process.platform === "win32") return;
  chmodSync(path, 0o600);
  warn("The key file could be read by others; it is private now. If somebody may have read it, replace the key.", {
    path,
    mode: mode.toString(8),
  });
}
