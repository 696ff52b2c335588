/** What both judges of a request read text with: names and values of one style, taken apart by the style's own rules. */
import { isDeepStrictEqual } from "node:util";
import type { RawParam } from "./raw-operation.ts";
import { isRecord } from "./sample-input.ts";

/** Takes what belongs to the parameter out of the pairs, which are not decoded yet. */
export function readPairs(
  param: Pick<RawParam, "name" | "style" | "explode" | "content">,
  left: [string, string][],
  value: unknown,
  read: (text: string) => string,
): unknown {
  const { name, style, explode } = param;
  const mine = (): string[] => take(left, (key) => read(key) === name).map(([, text]) => text);
  if (param.content !== null) return parseContent(param, read(mine()[0] ?? ""), value);
  const isComposite = typeof value === "object" && value !== null;
  if (style === "deepObject" && isComposite) return readBrackets(name, left, value, read);
  if (!isComposite) return read(mine()[0] ?? "");
  if (explode) {
    if (Array.isArray(value)) return mine().map(read);
    return fromPairs(
      Object.keys(value)
        .flatMap((key) => take(left, (found) => read(found) === key))
        .map(([key, text]) => [read(key), read(text)]),
    );
  }
  const text = mine()[0];
  if (text === undefined) return Array.isArray(value) ? [] : {};
  const pieces = text.split(DELIMITERS[style] ?? ",").map(read);
  return Array.isArray(value) ? pieces : alternating(pieces);
}

const DELIMITERS: Record<string, RegExp> = {
  spaceDelimited: /%20|\+/,
  pipeDelimited: /%7C|\|/i,
  tabDelimited: /%09/,
};

/** Against the brackets the value would have; the order of a list is in its indexes. */
function readBrackets(name: string, left: [string, string][], value: object, read: (text: string) => string): unknown {
  const expected = new Map<string, string>();
  const walk = (at: string, item: unknown): void => {
    if (item === null || item === undefined) return;
    if (typeof item !== "object") return void expected.set(at, String(item));
    for (const [key, inner] of Object.entries(item)) walk(`${at}[${key}]`, inner);
  };
  walk(name, value);
  const found = new Map(
    take(left, (key) => read(key).startsWith(`${name}[`)).map(([key, text]) => [read(key), read(text)]),
  );
  return isDeepStrictEqual(found, expected) ? value : Object.fromEntries(found);
}

/** On the wire everything is text; what is nested within a list or an object has no rule and goes as JSON. */
export function isSame(read: unknown, value: unknown): boolean {
  if (Array.isArray(value))
    return (
      isDeepStrictEqual(read, value.filter(isGiven).map(asText)) ||
      (Array.isArray(read) && isEmpty(value)) ||
      isDeepStrictEqual(read, value)
    );
  if (isRecord(value)) {
    if (isDeepStrictEqual(read, value)) return true;
    const wanted = Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => isGiven(item))
        .map(([key, item]) => [key, asText(item)]),
    );
    return isRecord(read) && isDeepStrictEqual({ ...read }, wanted);
  }
  return (
    isDeepStrictEqual(read, value) || read === asText(value) || (!isGiven(value) && (read === undefined || read === ""))
  );
}

export const parseContent = (param: Pick<RawParam, "content">, text: string, value: unknown): unknown =>
  param.content?.includes("json") ? parse(text) : typeof value === "object" ? parse(text) : text;
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};
const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
export const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Object.values(value).some(isGiven);
export const essence = (type: string): string => (type.split(";", 1)[0] as string).trim().toLowerCase();
/** Ranges, and what a schema says of a media type nobody can send. */
export const covers = (declared: string, type: string): boolean => {
  const [main, sub] = essence(declared).split("/");
  if (main === "*" || essence(declared) === "*/*") return true;
  if (sub === "*") return type.startsWith(`${main}/`) || type === "application/octet-stream";
  return sub?.startsWith("*+") === true && type.endsWith(sub.slice(1));
};
export function take(left: [string, string][], isMine: (key: string) => boolean): [string, string][] {
  const mine = left.filter(([key]) => isMine(key));
  for (const each of mine) left.splice(left.indexOf(each), 1);
  return mine;
}
export function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
export const pair = (piece: string, read: (text: string) => string): [string, string] => {
  const [name = "", value = ""] = splitOnce(piece, "=");
  return [read(name), read(value)];
};
export const fromPairs = (pairs: [string, string][]): Record<string, string> => Object.fromEntries(pairs);
export const alternating = (pieces: string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(pieces.length / 2) }, (_, at) => [
      pieces[at * 2] as string,
      pieces[at * 2 + 1] ?? "",
    ]),
  );
export const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
export const show = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 200);
