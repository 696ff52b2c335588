/**
 * Finds the key of this installation, or makes it: from a value that was given, from the keychain if asked for, else from
 * the file `secrets-key`. Two processes that start at once end up with the same one.
 *
 * With a keychain the key is made as a file first, because only a file can be made by exactly one: it is copied into the
 * keychain, read back, and then the file goes. After making or reading the file everybody looks into the keychain again,
 * and what is there wins; so a key that was moved there in the meantime is never replaced. A marker stays behind: a
 * keychain that cannot be opened later is then an error, not a reason to make another key.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "@executor/contracts/error";
import { type InstallationKey, type InstallationKeys, parseKeyText, toInstallationKey } from "./installation-key.ts";
import { readKeyFile, type Warn } from "./key-file.ts";
import type { Keychain } from "./keychain.ts";

export interface KeyPlaces {
  /** Data directory of the installation. */
  home: string;
  /** Base64; instead of a file. */
  given?: string | null;
  /** Base64 of older keys, which may open but never wrap. */
  previous?: readonly string[];
  /** Null: use the file. */
  keychain?: Keychain | null;
  warn: Warn;
}

export const KEY_FILE = "secrets-key";

export async function loadInstallationKeys(places: KeyPlaces): Promise<InstallationKeys> {
  const text = places.given ?? (places.keychain ? await fromKeychain(places, places.keychain) : fromFile(places));
  return { current: parse(text, "The installation key"), previous: (places.previous ?? []).map(parsePrevious) };
}

const parsePrevious = (text: string): InstallationKey => parse(text, "A previous installation key");

function parse(text: string, what: string): InstallationKey {
  const bytes = parseKeyText(text);
  if (bytes === null)
    throw new AppError("credential.unreadable", `${what} must be the base64 of 32 bytes, and it is not.`);
  return toInstallationKey(bytes);
}

const fromFile = ({ home, warn }: KeyPlaces): string => readKeyFile(join(home, KEY_FILE), warn);

async function fromKeychain(places: KeyPlaces, keychain: Keychain): Promise<string> {
  const file = join(places.home, KEY_FILE);
  const marker = `${file}.in-keychain`;
  try {
    const there = await keychain.read();
    if (there !== null) return there;
  } catch (error) {
    if (existsSync(marker))
      throw new AppError(
        "credential.unreadable",
        "The key of this installation lies in the keychain, and the keychain cannot be opened. Unlock it and try again.",
        { cause: error },
      );
    places.warn("The keychain cannot be used; the key stays in a file.", { path: file, error });
    return fromFile(places);
  }
  if (existsSync(marker))
    throw new AppError(
      "credential.unreadable",
      `The key of this installation is gone from the keychain. Restore it there, or restore the file ${file} and remove ${marker}.`,
    );
  return await moveToKeychain(places, keychain, marker);
}

async function moveToKeychain(places: KeyPlaces, keychain: Keychain, marker: string): Promise<string> {
  const file = join(places.home, KEY_FILE);
  const text = readKeyFile(file, places.warn);
  try {
    const moved = await keychain.read();
    if (moved === null) await keychain.write(text);
    const kept = await keychain.read();
    if (kept === null) throw new Error("the keychain did not keep the key");
    writeFileSync(marker, "", { mode: 0o600 });
    rmSync(file, { force: true });
    return kept;
  } catch (error) {
    places.warn("The key could not be moved to the keychain; it stays in a file.", { path: file, error });
    return text;
  }
}
