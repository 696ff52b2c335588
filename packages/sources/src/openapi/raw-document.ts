/**
 * A parsed document and the way around in it. Nothing here trusts its shape: every look goes through `record` and `text`, and
 * references are followed one at a time, never expanded.
 */

export interface RawDocument {
  root: Record<string, unknown>;
  /** Where it was read from, and what it calls itself (3.2 `$self`): references to either are references into it. */
  urls: readonly string[];
  warn(sentence: string): void;
}

/** Where it was read from, and what it calls itself; the last is what its relative addresses are relative to. */
export function documentUrls(root: Record<string, unknown>, readFrom: string | null): string[] {
  const urls = readFrom === null ? [] : [readFrom];
  const self = text(root.$self).split("#", 1)[0] as string;
  if (self !== "" && URL.canParse(self, readFrom ?? undefined)) urls.push(new URL(self, readFrom ?? undefined).href);
  return urls;
}

/** Follows `$ref`s until something else comes. Undefined: they lead nowhere or in a circle; a warning says so. */
export function deref(document: RawDocument, value: unknown): unknown {
  if (!isRecord(value) || typeof value.$ref !== "string") return value;
  const seen = new Set<string>();
  let at: unknown = value;
  while (isRecord(at) && typeof at.$ref === "string") {
    const ref = localRef(document, at.$ref);
    if (ref === null || seen.has(ref)) {
      document.warn(
        `The reference ${quote(at.$ref)} ${ref === null ? "leads out of the document" : "leads in a circle"}.`,
      );
      return undefined;
    }
    seen.add(ref);
    const target = lookUp(document, ref);
    if (target === undefined) document.warn(`The reference ${quote(at.$ref)} leads nowhere.`);
    at = target;
  }
  return at;
}

/** `#/…` for references into this document, whichever way they are written; null for those that leave it. */
export function localRef(document: RawDocument, ref: string): string | null {
  if (ref.startsWith("#")) return ref;
  const hash = ref.indexOf("#");
  const file = hash < 0 ? ref : ref.slice(0, hash);
  const pointer = hash < 0 ? "#" : ref.slice(hash);
  for (const url of document.urls) {
    if (file === url || (URL.canParse(file, url) && new URL(file, url).href === url)) return pointer;
  }
  return null;
}

/** By JSON pointer; own properties only. */
export function lookUp(document: RawDocument, ref: string): unknown {
  if (ref === "#" || ref === "#/") return document.root;
  if (!ref.startsWith("#/")) return undefined;
  let at: unknown = document.root;
  for (const part of ref.slice(2).split("/")) {
    if (typeof at !== "object" || at === null) return undefined;
    const key = own(at, part) ? part : unescapePart(part);
    if (!own(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

export function unescapePart(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  if (!plain.includes("%")) return plain;
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");
export const strings = (value: unknown): string[] => list(value).filter((item) => typeof item === "string");
/** For warnings: short, and on one line. */
export const quote = (value: string): string => JSON.stringify(value.length > 120 ? `${value.slice(0, 120)}…` : value);
const own = (value: object, key: string): boolean => Object.hasOwn(value, key);
