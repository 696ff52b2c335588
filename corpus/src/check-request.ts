/**
 * Reads a request as a server would, by the document and the specification, and says where it is not what was meant: every
 * value given must be found in its place, unchanged, and nothing else. Reads by the styles' own rules and never writes, so it
 * shares nothing with the code under test.
 */
import { isDeepStrictEqual } from "node:util";
import type { RawEncoding, RawOperation, RawParam } from "./raw-operation.ts";
import { isRecord } from "./sample-input.ts";

export interface Received {
  method: string;
  /** Path and query as they came, nothing decoded. */
  target: string;
  headers: Headers;
  body: Uint8Array;
}

export interface Meant {
  /** By `place name`. */
  params: Map<string, unknown>;
  /** Undefined: none. */
  body: unknown;
  /** Sent by the credential or by us: not the input's. */
  allowedQuery: ReadonlySet<string>;
}

export async function checkRequest(operation: RawOperation, meant: Meant, got: Received): Promise<string[]> {
  const problems: string[] = [];
  if (got.method !== operation.method) problems.push(`method ${got.method}, not ${operation.method}`);
  const [rawPath = "", rawQuery = ""] = splitOnce(got.target, "?");
  checkPath(operation, meant, rawPath, problems);
  checkQuery(operation, meant, rawQuery, problems);
  for (const param of operation.params) {
    const value = meant.params.get(`${param.in} ${param.name}`);
    const isTwice = operation.params.some(
      (each) => each !== param && each.in === "header" && each.name.toLowerCase() === param.name.toLowerCase(),
    );
    if (param.in === "header" && isGiven(value) && !isTwice)
      checkHeader(param, value, got.headers.get(param.name), problems);
  }
  checkCookies(operation, meant, got.headers.get("cookie") ?? "", problems);
  problems.push(...(await checkBody(operation, meant.body, got)));
  return problems;
}

function checkPath(operation: RawOperation, meant: Meant, path: string, problems: string[]): void {
  const template = (operation.path.split(/[?#]/, 1)[0] as string).replace(/^(?!\/)/, "/");
  const names: string[] = [];
  const pattern = template
    .split(/(\{[^{}]*\})/)
    .map((piece) => {
      if (!/^\{[^{}]+\}$/.test(piece)) return literal(piece);
      names.push(piece.slice(1, -1));
      return "([^/]*)";
    })
    .join("");
  const found = new RegExp(`^${pattern}$`).exec(path);
  if (found === null) {
    problems.push(`path ${path} is not of ${operation.path}`);
    return;
  }
  // Placeholders side by side cannot be told apart by anyone.
  if (/\}\{/.test(template)) return;
  names.forEach((name, at) => {
    const param = operation.params.find((each) => each.in === "path" && each.name === name);
    const value = meant.params.get(`path ${name}`);
    const raw = found[at + 1] as string;
    const read = param === undefined ? decode(raw) : readText(param, raw, value, decode);
    if (!isSame(read, value)) problems.push(`path ${name}: ${raw} for ${show(value)}`);
  });
}

/** A template may hold characters that URLs write otherwise. */
const literal = (text: string): string =>
  [...text]
    .map((char) =>
      /[A-Za-z0-9/_~.-]/.test(char)
        ? char.replace(/[.]/g, "\\.")
        : `(?:${escape(char)}|${escape(encodeURIComponent(char))})`,
    )
    .join("");
const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** Path and header values. */
function readText(param: RawParam, raw: string, value: unknown, read: (text: string) => string): unknown {
  if (param.content !== null) return parseContent(param, read(raw), value);
  const { style, explode, name } = param;
  let text = raw;
  if (style === "label") {
    if (!text.startsWith(".")) return `no label: ${raw}`;
    text = text.slice(1);
  }
  if (style === "matrix") {
    if (!text.startsWith(";")) return `no matrix: ${raw}`;
    const pieces = text.slice(1).split(";");
    if (explode && isRecord(value)) return fromPairs(pieces.map((piece) => pair(piece, read)));
    const own = pieces.map((piece) => splitOnce(piece, "="));
    if (own.some(([key]) => read(key as string) !== name)) return `wrong name: ${raw}`;
    if (explode && Array.isArray(value)) return own.map(([, item]) => read(item ?? ""));
    text = own[0]?.[1] ?? "";
  }
  const separator = explode && style === "label" ? "." : ",";
  if (Array.isArray(value)) return text.split(style === "matrix" ? "," : separator).map(read);
  if (!isRecord(value)) return read(text);
  if (explode) return fromPairs(text.split(separator).map((piece) => pair(piece, read)));
  return alternating(text.split(",").map(read));
}

function checkQuery(operation: RawOperation, meant: Meant, raw: string, problems: string[]): void {
  const fixed = splitOnce(operation.path.split("#", 1)[0] as string, "?")[1] ?? "";
  const left = raw === "" ? [] : raw.split("&").map((piece) => pair(piece, (text) => text));
  for (const piece of fixed === "" ? [] : fixed.split("&")) {
    const [name] = pair(piece, decode);
    take(left, (key) => decode(key) === name);
  }
  for (const param of operation.params) {
    if (param.in === "querystring") {
      left.length = 0;
      continue;
    }
    if (param.in !== "query") continue;
    const value = meant.params.get(`query ${param.name}`);
    if (!isGiven(value) || isAmbiguous(operation, meant, param, left)) continue;
    const read = readPairs(param, left, value, decode);
    if (!isSame(read, value)) problems.push(`query ${param.name}: ${raw} for ${show(value)}`);
  }
  const unknown = left.filter(([name]) => !meant.allowedQuery.has(decode(name)));
  if (unknown.length > 0) problems.push(`query has more than was given: ${unknown.map(([name]) => name).join(", ")}`);
}

/** An exploded object whose keys are names of other parameters, or of another one's keys: nobody could tell them apart. */
function isAmbiguous(operation: RawOperation, meant: Meant, param: RawParam, left: [string, string][]): boolean {
  const namesOf = (each: RawParam): string[] => {
    const value = meant.params.get(`query ${each.name}`);
    return isRecord(value) && each.explode && each.style === "form" ? Object.keys(value) : [each.name];
  };
  const mine = new Set(namesOf(param));
  const others = operation.params.filter((each) => each.in === "query" && each !== param);
  if (
    !others.some(
      (each) => isGiven(meant.params.get(`query ${each.name}`)) && namesOf(each).some((name) => mine.has(name)),
    )
  )
    return false;
  take(left, (key) => mine.has(decode(key)));
  return true;
}

/** Takes what belongs to the parameter out of the pairs, which are not decoded yet. */
function readPairs(
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

function checkHeader(param: RawParam, value: unknown, raw: string | null, problems: string[]): void {
  if (HOP_HEADERS.has(param.name.toLowerCase())) return;
  const read = raw === null ? undefined : readText({ ...param, style: "simple" }, raw, value, (text) => text.trim());
  if (raw === null && isEmpty(value)) return;
  const wanted = typeof value === "string" ? value.trim() : value;
  if (!isSame(read, wanted)) problems.push(`header ${param.name}: ${raw} for ${show(value)}`);
}
const HOP_HEADERS = new Set(["accept", "content-type", "authorization"]);

function checkCookies(operation: RawOperation, meant: Meant, raw: string, problems: string[]): void {
  const left = raw === "" ? [] : raw.split("; ").map((piece) => pair(piece, (text) => text));
  for (const param of operation.params.filter((each) => each.in === "cookie")) {
    const value = meant.params.get(`cookie ${param.name}`);
    if (!isGiven(value)) continue;
    const read = readPairs(param, left, value, decode);
    if (!isSame(read, value)) problems.push(`cookie ${param.name}: ${raw} for ${show(value)}`);
  }
}

async function checkBody(operation: RawOperation, value: unknown, got: Received): Promise<string[]> {
  if (value === undefined) return got.body.length === 0 ? [] : ["a body was sent and none was given"];
  const sent = got.headers.get("content-type") ?? "";
  const type = essence(sent);
  const declared =
    operation.bodyTypes.find((each) => essence(each) === type) ??
    operation.bodyTypes.find((each) => covers(each, type));
  if (declared === undefined) return [`content type ${sent} is none of ${operation.bodyTypes.join(", ")}`];
  const encoding = operation.encoding[declared] ?? {};
  const text = (): string => new TextDecoder().decode(got.body);
  if (/[/+]json$/.test(type))
    return isDeepStrictEqual(JSON.parse(text()), JSON.parse(JSON.stringify(value)))
      ? []
      : [`JSON body ${text().slice(0, 200)} for ${show(value)}`];
  if (type === "application/x-www-form-urlencoded") return checkForm(encoding, value, text());
  if (type.startsWith("multipart/")) return checkMultipart(encoding, value, got, sent);
  if (/[/+]xml$/.test(type) && typeof value !== "string")
    return isWellFormed(text()) ? [] : [`no XML: ${text().slice(0, 200)}`];
  const isBytes = typeof value === "string" && Buffer.from(value, "base64").equals(got.body);
  const isText = text() === (typeof value === "string" ? value : JSON.stringify(value));
  return isBytes || isText ? [] : [`body ${text().slice(0, 100)} for ${show(value)}`];
}

function checkForm(encoding: Record<string, RawEncoding>, value: unknown, text: string): string[] {
  if (!isRecord(value)) return text === value ? [] : [`form ${text} for ${show(value)}`];
  const problems: string[] = [];
  const left = text === "" ? [] : text.split("&").map((piece) => pair(piece, (part) => part));
  const read = (part: string): string => decode(part.replaceAll("+", "%20"));
  for (const [name, item] of Object.entries(value)) {
    if (!isGiven(item)) continue;
    const own = encoding[name];
    const isJson = isRecord(item) && own?.style === undefined;
    const style = own?.style ?? "form";
    const param = {
      name,
      style,
      explode: own?.explode ?? style === "form",
      content:
        isJson || (own?.contentType?.includes("json") && typeof item === "object" && own.style === undefined)
          ? "application/json"
          : null,
    };
    const found = readPairs(param, left, item, read);
    if (!isSame(found, item)) problems.push(`form ${name}: ${text.slice(0, 200)} for ${show(item)}`);
  }
  if (left.length > 0) problems.push(`form has more than was given: ${left.map(([name]) => name).join(", ")}`);
  return problems;
}

async function checkMultipart(
  encoding: Record<string, RawEncoding>,
  value: unknown,
  got: Received,
  type: string,
): Promise<string[]> {
  if (!isRecord(value)) return [`multipart for ${show(value)}`];
  const formType = type.replace(/^multipart\/[\w-]+/, "multipart/form-data");
  const form = await new Response(got.body as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": formType },
  }).formData();
  const problems: string[] = [];
  for (const [name, item] of Object.entries(value)) {
    if (!isGiven(item)) continue;
    if (encoding[name]?.style === "deepObject") continue;
    const items = Array.isArray(item) ? item.filter(isGiven) : [item];
    const parts = form.getAll(name) as (string | File)[];
    const same = await Promise.all(items.map((each, at) => isPart(parts[at], each)));
    if (parts.length !== items.length || same.includes(false))
      problems.push(`part ${name}: ${parts.length} for ${show(item)}`);
  }
  return problems;
}

async function isPart(part: string | File | undefined, value: unknown): Promise<boolean> {
  if (part === undefined) return false;
  const base64 = isRecord(value) && typeof value.base64 === "string" ? value.base64 : value;
  const bytes = typeof part === "string" ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
  if (typeof base64 === "string" && bytes.equals(Buffer.from(base64, "base64"))) return true;
  const text = bytes.toString();
  return typeof value === "object"
    ? isDeepStrictEqual(parse(text), JSON.parse(JSON.stringify(value)))
    : text === String(value);
}

function isWellFormed(text: string): boolean {
  const open: string[] = [];
  for (const [, close, name, self] of text.matchAll(/<(\/?)([A-Za-z_][\w:.-]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (close !== "") {
      if (open.pop() !== name) return false;
    } else if (self === "") open.push(name as string);
  }
  return open.length === 0 && /<[A-Za-z_]/.test(text);
}

/** On the wire everything is text; what is nested within a list or an object has no rule and goes as JSON. */
function isSame(read: unknown, value: unknown): boolean {
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

const parseContent = (param: Pick<RawParam, "content">, text: string, value: unknown): unknown =>
  param.content?.includes("json") ? parse(text) : typeof value === "object" ? parse(text) : text;
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};
const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Object.values(value).some(isGiven);
const essence = (type: string): string => (type.split(";", 1)[0] as string).trim().toLowerCase();
/** Ranges, and what a schema says of a media type nobody can send. */
const covers = (declared: string, type: string): boolean => {
  const [main, sub] = essence(declared).split("/");
  if (main === "*" || essence(declared) === "*/*") return true;
  if (sub === "*") return type.startsWith(`${main}/`) || type === "application/octet-stream";
  return sub?.startsWith("*+") === true && type.endsWith(sub.slice(1));
};
function take(left: [string, string][], isMine: (key: string) => boolean): [string, string][] {
  const mine = left.filter(([key]) => isMine(key));
  for (const each of mine) left.splice(left.indexOf(each), 1);
  return mine;
}
function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
const pair = (piece: string, read: (text: string) => string): [string, string] => {
  const [name = "", value = ""] = splitOnce(piece, "=");
  return [read(name), read(value)];
};
const fromPairs = (pairs: [string, string][]): Record<string, string> => Object.fromEntries(pairs);
const alternating = (pieces: string[]): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: Math.ceil(pieces.length / 2) }, (_, at) => [
      pieces[at * 2] as string,
      pieces[at * 2 + 1] ?? "",
    ]),
  );
const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};
const show = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 200);
