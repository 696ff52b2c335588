/**
 * Bytes in an input: a base64 text, or `{ base64, filename?, contentType? }`. Input is JSON and holds no bytes itself.
 * Text that is no base64 is refused: sending it as it is would upload something else than was meant.
 */
import { isComposite } from "./write-param.ts";

export interface FileValue {
  bytes: Uint8Array;
  filename: string | null;
  contentType: string | null;
}

/** Null when it is neither a base64 text nor a file object. */
export function readFileValue(value: unknown): FileValue | null {
  if (typeof value === "string") return withBytes(value, null, null);
  if (!isFileObject(value)) return null;
  const filename = own(value, "filename");
  const contentType = own(value, "contentType");
  if ((contentType !== null && !MEDIA_TYPE.test(contentType)) || !hasOnlyKnown(value)) return null;
  return withBytes(own(value, "base64") ?? "", filename, contentType);
}

/** `{ base64: "…" }`: means bytes wherever a body may hold them. */
export const isFileObject = (value: unknown): value is object =>
  isComposite(value) && Object.hasOwn(value, "base64") && typeof Reflect.get(value, "base64") === "string";

export const FILE_EXPECTED = "must be base64 text, or { base64, filename?, contentType? }";

const KNOWN = new Set(["base64", "filename", "contentType"]);
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;\s*[\w-]+=("[^"\r\n]*"|[\w.+-]+))*$/;
const BASE64 = /^[A-Za-z0-9+/\-_]*={0,2}$/;
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,/;

const hasOnlyKnown = (value: object): boolean =>
  Object.entries(value).every(([key, item]) => KNOWN.has(key) && (typeof item === "string" || item === null));

function own(value: object, key: string): string | null {
  const found: unknown = Object.hasOwn(value, key) ? Reflect.get(value, key) : null;
  return typeof found === "string" ? found : null;
}

function withBytes(text: string, filename: string | null, contentType: string | null): FileValue | null {
  const head = DATA_URL.exec(text);
  const plain = (head === null ? text : text.slice(head[0].length)).replace(/[\r\n]/g, "");
  if (!BASE64.test(plain) || plain.replace(/=+$/, "").length % 4 === 1) return null;
  const stated = head?.[1];
  return {
    bytes: new Uint8Array(Buffer.from(plain, "base64")),
    filename,
    contentType: contentType ?? (stated !== undefined && MEDIA_TYPE.test(stated) ? stated : null),
  };
}
