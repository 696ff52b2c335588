/**
 * Reads a request as a server would, by the document and the specification, and says where it is not what was meant: every
 * value given must be found in its place, unchanged, and nothing else. Reads by the styles' own rules and never writes, so it
 * shares nothing with the code under test.
 */
import { checkBody } from "./check-body.ts";
import type { RawOperation, RawParam } from "./raw-operation.ts";
import { isRecord } from "./sample-input.ts";
import {
  alternating,
  decode,
  fromPairs,
  isEmpty,
  isGiven,
  isSame,
  pair,
  parseContent,
  readPairs,
  show,
  splitOnce,
  take,
} from "./wire-text.ts";

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
      // As RFC 6570 says: it may be several segments.
      return piece.startsWith("{+") ? "(.*)" : "([^/]*)";
    })
    .join("");
  const found = new RegExp(`^${pattern}$`).exec(path);
  if (found === null) {
    problems.push(`path ${path} is not of ${operation.path}`);
    return;
  }
  // Placeholders side by side cannot be told apart by anyone.
  if (/\}[A-Za-z0-9%]*\{/.test(template)) return;
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
    // A parameter of that name stands in its place when it is given.
    if (!isGiven(meant.params.get(`query ${name}`))) take(left, (key) => decode(key) === name);
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
    return isRecord(value) && each.explode && each.style === "form" && each.content === null
      ? Object.keys(value)
      : [each.name];
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
