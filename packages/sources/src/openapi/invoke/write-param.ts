/**
 * Writes one parameter by its style: the tables of the OpenAPI specification, which are those of RFC 6570.
 * Pure text: it knows nothing of URLs. What is null or undefined is left out, as RFC 6570 says; a value that comes to nothing
 * at all (null, an empty list) gives null and is not sent.
 * Nested values, of which the specification says nothing, are written as brackets by deepObject and as JSON by all others.
 */
import type { Param } from "../operation.ts";

export type Encode = (text: string) => string;
export type Pair = readonly [name: string, value: string];
type StyledParam = Pick<Param, "name" | "style" | "explode">;

/** For path and header: the text in the place of the parameter. */
export function writeText(param: StyledParam, value: unknown, encode: Encode): string | null {
  const plain = (part: unknown): string => encode(toText(part));
  const { prefix, separator, named } = TEXT_STYLES[param.style] ?? SIMPLE;
  const name = encode(param.name);
  if (!isComposite(value)) {
    if (isAbsent(value)) return null;
    const text = plain(value);
    return named ? prefix + pairText(name, text) : prefix + text;
  }
  const isList = Array.isArray(value);
  const members = isList
    ? listMembers(value).map((item): Pair => ["", plain(item)])
    : objectPairs(value, plain, encode);
  if (members.length === 0) return null;
  if (!param.explode) {
    const joined = members.map(([key, text]) => (isList ? text : `${key},${text}`)).join(",");
    return named ? `${prefix}${name}=${joined}` : prefix + joined;
  }
  const pieces = members.map(([key, text]) => {
    if (!isList) return named ? pairText(key, text) : `${key}=${text}`;
    return named ? pairText(name, text) : text;
  });
  return prefix + pieces.join(separator);
}

/** For query, cookie and form bodies: pairs of encoded name and encoded value. */
export function writePairs(param: StyledParam, value: unknown, encode: Encode): Pair[] {
  if (isAbsent(value)) return [];
  const name = encode(param.name);
  if (param.style === "deepObject" && isComposite(value))
    return bracketPairs(param.name, value).map((pair) => encoded(pair, encode));
  if (!isComposite(value)) return [[name, encode(toText(value))]];
  const plain = (part: unknown): string => encode(toText(part));
  if (Array.isArray(value)) {
    const items = listMembers(value).map(plain);
    if (items.length === 0) return [];
    return param.explode ? items.map((item): Pair => [name, item]) : [[name, items.join(delimiter(param, encode))]];
  }
  const pairs = objectPairs(value, plain, encode);
  if (param.explode || pairs.length === 0) return pairs;
  return [[name, pairs.flat().join(delimiter(param, encode))]];
}

/** `a[b][0]` and so on; names are not encoded yet. */
export function bracketPairs(name: string, value: unknown): Pair[] {
  if (isAbsent(value)) return [];
  if (!isComposite(value)) return [[name, toText(value)]];
  if (Array.isArray(value)) return value.flatMap((item, index) => bracketPairs(`${name}[${index}]`, item));
  return Object.entries(value).flatMap(([key, item]) => bracketPairs(`${name}[${key}]`, item));
}

/** A single value as text; what is nested goes as JSON. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : isComposite(value) ? JSON.stringify(value) : String(value);
}

export const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;
export const isComposite = (value: unknown): value is object => typeof value === "object" && value !== null;

const SIMPLE = { prefix: "", separator: ",", named: false };
const TEXT_STYLES: { [style: string]: typeof SIMPLE | undefined } = {
  simple: SIMPLE,
  label: { prefix: ".", separator: ".", named: false },
  matrix: { prefix: ";", separator: ";", named: true },
};

/** Matrix writes an empty value without `=`. */
const pairText = (name: string, text: string): string => (text === "" ? name : `${name}=${text}`);

const listMembers = (list: readonly unknown[]): unknown[] => list.filter((item) => !isAbsent(item));

const objectPairs = (value: object, plain: (part: unknown) => string, encode: Encode): Pair[] =>
  Object.entries(value)
    .filter(([, item]) => !isAbsent(item))
    .map(([key, item]): Pair => [encode(key), plain(item)]);

const encoded = ([name, value]: Pair, encode: Encode): Pair => [encode(name), encode(value)];

function delimiter(param: StyledParam, encode: Encode): string {
  if (param.style === "spaceDelimited") return encode(" ");
  if (param.style === "pipeDelimited") return encode("|");
  return param.style === "tabDelimited" ? encode("\t") : ",";
}
