/**
 * Makes one request of an operation and an input: where it goes, its headers, its body. Pure, and the place where an input is
 * kept inside its bounds: a value never leaves its path segment, adds a query parameter or begins a header; what says who is
 * asking comes from the credential alone. All problems of an input are told at once.
 */
import { AppError } from "@executor/contracts/error";
import type { Operation, Param, Resolve } from "../operation.ts";
import { CONTENT_TYPE_ARG, compileOperation, type CompiledOperation } from "./compile-operation.ts";
import { gatherInput, type GatheredInput } from "./gather-input.ts";
import { formEncode, percentEncode, percentEncodeReserved } from "./percent-encode.ts";
import { writeBody } from "./write-body.ts";
import { isAbsent, isComposite, type Pair, toText, writePairs, writeText } from "./write-param.ts";

export interface BuiltRequest {
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string | Uint8Array<ArrayBufferLike> | null;
}

export interface RequestContext {
  resolve: Resolve;
  /** Absolute; see server-url.ts. */
  server: URL;
  /** Of the source; the input's own come before them, where the document lets the input set them. */
  headers: Readonly<Record<string, string>>;
  /** Where the credential goes: there the input may not write. */
  authPlaces: readonly { in: string; name: string }[];
  toolPath: string;
  callId: string;
}

export function buildRequest(operation: Operation, input: unknown, context: RequestContext): BuiltRequest {
  const compiled = compileOperation(operation, context.resolve);
  const problems: string[] = [];
  const gathered = gatherInput(compiled, input, problems);
  refuseAuthPlaces(operation, gathered, context, problems);
  const path = writePath(compiled, gathered, problems);
  const query = writeQuery(operation, compiled, gathered, context.server);
  const headers = writeHeaders(operation, compiled, gathered, context, problems);
  const body = addBody(operation, gathered, headers, problems);
  if (problems.length > 0) throw invalid(context.toolPath, problems);
  const { origin, pathname } = context.server;
  const url = `${origin}${pathname.endsWith("/") ? pathname.slice(0, -1) : pathname}${path}${query === "" ? "" : `?${query}`}`;
  return { method: operation.method, url, headers: [...headers.values()], body };
}

const MAX_PROBLEMS = 20;

function invalid(toolPath: string, problems: readonly string[]): AppError {
  const shown = problems.slice(0, MAX_PROBLEMS).join("; ");
  const more = problems.length > MAX_PROBLEMS ? `; and ${problems.length - MAX_PROBLEMS} more` : "";
  return new AppError("call.input_invalid", `The input of ${toolPath} does not fit: ${shown}${more}.`, {
    data: { problems: problems.slice(0, MAX_PROBLEMS) },
  });
}

/** Set by us, by the connection or by the credential, whatever a document says. */
const NEVER_FROM_INPUT = new Set(
  "authorization proxy-authorization cookie host content-length transfer-encoding connection keep-alive upgrade te trailer expect proxy-connection user-agent accept-encoding content-encoding".split(
    " ",
  ),
);

function isOurs(param: Param, context: RequestContext): boolean {
  if (param.in === "header" && NEVER_FROM_INPUT.has(param.name.toLowerCase())) return true;
  return context.authPlaces.some(
    (place) =>
      place.in === param.in &&
      (param.in === "header" ? place.name.toLowerCase() === param.name.toLowerCase() : place.name === param.name),
  );
}

function refuseAuthPlaces(
  operation: Operation,
  gathered: GatheredInput,
  context: RequestContext,
  problems: string[],
): void {
  for (const param of operation.params) {
    const isGiven = !isAbsent(gathered.params.get(param));
    if (isOurs(param, context)) {
      if (isGiven)
        problems.push(
          `${param.arg} cannot be set from here: leave it out, it is sent with the credential of the source`,
        );
      gathered.params.delete(param);
    } else if (!isGiven && param.required && param.in !== "path") problems.push(missing(param));
  }
}

const missing = (param: Param): string => `${param.arg} is required (${param.in}${typeText(param)})`;
const typeText = ({ schema }: Param): string => (typeof schema["type"] === "string" ? `, ${schema["type"]}` : "");

function writePath(compiled: CompiledOperation, gathered: GatheredInput, problems: string[]): string {
  let path = "";
  // Per segment: a value may be all of it or a part, and only the whole can be dangerous.
  let filledBy: Param | null = null;
  let segment = "";
  const endSegment = (): void => {
    if (filledBy !== null && isUnsafeSegment(segment))
      problems.push(`${filledBy.arg} may not be empty, "." or "..": it is one part of the URL's path`);
    filledBy = null;
    segment = "";
  };
  for (const piece of compiled.path) {
    if (typeof piece !== "string") {
      const { param, spans } = piece;
      const text = writePathParam(param, gathered.params.get(param), spans ? encodeSegments : percentEncode, problems);
      if (text === null) return path;
      for (const [at, part] of (spans ? text.split("/") : [text]).entries()) {
        if (at > 0) endSegment();
        filledBy = param;
        segment += part;
      }
      path += text;
      continue;
    }
    const [first = "", ...others] = piece.split("/");
    segment += first;
    for (const other of others) {
      endSegment();
      segment = other;
    }
    path += piece;
  }
  endSegment();
  return path;
}

const encodeSegments = (text: string): string => text.split("/").map(percentEncode).join("/");

function writePathParam(
  param: Param,
  value: unknown,
  encode: (text: string) => string,
  problems: string[],
): string | null {
  const text = param.contentType === null ? writeText(param, value, encode) : contentText(param, value, encode);
  if (text === null)
    problems.push(isAbsent(value) ? missing(param) : `${param.arg} may not be empty: it is a part of the URL's path`);
  return text;
}

/** URL parsers take %2e for a dot, so encoding would not help. */
const isUnsafeSegment = (segment: string): boolean => segment === "" || /^(\.|%2e){1,2}$/i.test(segment);

function writeQuery(operation: Operation, compiled: CompiledOperation, gathered: GatheredInput, server: URL): string {
  const fixed = compiled.fixedQuery.filter(({ param, isGap }) =>
    param === null ? !isGap : !isGap && isAbsent(gathered.params.get(param)),
  );
  const parts = [server.search.slice(1), ...fixed.map(({ text }) => text)].filter((part) => part !== "");
  for (const param of operation.params) {
    const value = gathered.params.get(param);
    if (isAbsent(value)) continue;
    if (param.in === "querystring") parts.push(wholeQuery(param, value));
    else if (param.in === "query")
      parts.push(...pairsOf(param, value, param.allowReserved ? percentEncodeReserved : percentEncode).map(joined));
  }
  return parts.filter((part) => part !== "").join("&");
}

const joined = ([name, value]: Pair): string => `${name}=${value}`;

function pairsOf(param: Param, value: unknown, encode: (text: string) => string): Pair[] {
  if (param.contentType === null) {
    // A name is never "reserved": its brackets and ampersands stay encoded.
    return writePairs(param, value, encode).map(([name, text]): Pair => [name.replaceAll("=", "%3D"), text]);
  }
  const text = contentText(param, value, encode);
  return text === null ? [] : [[percentEncode(param.name), text]];
}

/** 3.2: one value is the whole query. */
function wholeQuery(param: Param, value: unknown): string {
  if (param.contentType !== "application/x-www-form-urlencoded") return contentText(param, value, percentEncode) ?? "";
  if (!isComposite(value)) return percentEncodeReserved(toText(value)).replaceAll("%26", "&");
  return Object.entries(value)
    .flatMap(([name, item]) => writePairs({ name, style: "form", explode: true }, item, formEncode))
    .map(joined)
    .join("&");
}

function contentText(param: Param, value: unknown, encode: (text: string) => string): string | null {
  if (isAbsent(value)) return null;
  const isJson = /[/+]json(;|$)/.test(param.contentType ?? "");
  return encode(isJson ? JSON.stringify(value) : toText(value));
}

type Headers = Map<string, [name: string, value: string]>;

function writeHeaders(
  operation: Operation,
  compiled: CompiledOperation,
  gathered: GatheredInput,
  context: RequestContext,
  problems: string[],
): Headers {
  const headers: Headers = new Map([["accept", ["Accept", compiled.accept]]]);
  for (const [name, value] of Object.entries(context.headers)) headers.set(name.toLowerCase(), [name, value]);
  const cookies: string[] = [];
  for (const param of operation.params) {
    const value = gathered.params.get(param);
    if (param.in === "cookie") cookies.push(...pairsOf(param, value, percentEncode).map(joined));
    if (param.in !== "header") continue;
    const text = isAbsent(value) ? idempotencyKey(param, context) : headerText(param, value);
    if (text === null) continue;
    if (isHeaderText(text)) headers.set(param.name.toLowerCase(), [param.name, text]);
    else
      problems.push(
        `${param.arg} holds characters that no header may hold (line breaks, control characters, or beyond Latin-1)`,
      );
  }
  const fixed = headers.get("cookie")?.[1];
  if (cookies.length > 0)
    headers.set("cookie", ["Cookie", [...(fixed === undefined ? [] : [fixed]), ...cookies].join("; ")]);
  return headers;
}

/** A repetition of this very call is then recognised by the other side. */
const idempotencyKey = (param: Param, context: RequestContext): string | null =>
  param.name.toLowerCase() === "idempotency-key" ? context.callId : null;

const headerText = (param: Param, value: unknown): string | null =>
  param.contentType === null ? writeText(param, value, asIs) : contentText(param, value, asIs);
const asIs = (text: string): string => text;
const isHeaderText = (text: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(text);

function addBody(
  operation: Operation,
  gathered: GatheredInput,
  headers: Headers,
  problems: string[],
): BuiltRequest["body"] {
  if (gathered.content === null || gathered.body === undefined) return null;
  if (operation.method === "GET" || operation.method === "HEAD") {
    problems.push(`${operation.method} requests carry no body; leave out its fields and ${CONTENT_TYPE_ARG}`);
    return null;
  }
  const written = writeBody(gathered.content, gathered.body, problems);
  if (written === null) return null;
  headers.set("content-type", ["Content-Type", written.contentType]);
  return written.body;
}
