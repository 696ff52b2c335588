/** An operation as the document itself says it; shares no code with the product, so that both cannot be wrong in one way. */
import { isRecord } from "./sample-input.ts";

export interface RawParam {
  name: string;
  in: string;
  style: string;
  explode: boolean;
  /** Written as this media type. */
  content: string | null;
}

export interface RawOperation {
  method: string;
  path: string;
  params: RawParam[];
  /** Media types of the body; none: there is no body. */
  bodyTypes: string[];
  /** Per media type and property. */
  encoding: Record<string, Record<string, RawEncoding>>;
  /** The first good answer. */
  answer: { status: number; contentType: string | null };
}
export interface RawEncoding {
  style?: string;
  explode?: boolean;
  contentType?: string;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** By method and path. */
export function rawOperations(root: Record<string, unknown>): Map<string, RawOperation> {
  const found = new Map<string, RawOperation>();
  for (const [path, value] of Object.entries({ ...record(root["x-ms-paths"]), ...record(root.paths) })) {
    if (path.startsWith("x-")) continue;
    const item = { ...record(follow(root, value)), ...record(value) };
    for (const [key, operation] of [
      ...METHODS.map((method) => [method, item[method]] as const),
      ...Object.entries(record(item.additionalOperations)),
    ])
      if (isRecord(operation))
        found.set(`${key.toUpperCase()} ${path}`, readOperation(root, key.toUpperCase(), path, item, operation));
  }
  return found;
}

function readOperation(
  root: Record<string, unknown>,
  method: string,
  path: string,
  item: Record<string, unknown>,
  operation: Record<string, unknown>,
): RawOperation {
  const byKey = new Map<string, Record<string, unknown>>();
  for (const raw of [...list(item.parameters), ...list(operation.parameters)]) {
    const param = record(follow(root, raw));
    byKey.set(`${String(param.in)} ${String(param.name)}`, param);
  }
  const all = [...byKey.values()].filter(({ name }) => name !== "");
  const isSwagger = root.swagger !== undefined;
  const body = isSwagger ? swaggerBody(root, operation, all) : bodyOf(root, operation);
  return {
    method,
    path,
    params: withGaps(
      path,
      all
        .filter(({ in: place }) => place !== "body" && place !== "formData")
        .map((param) => inQuery(path, readParam(param, isSwagger))),
    ),
    ...body,
    answer: answerOf(root, operation, isSwagger),
  };
}

/** A part of the path by its declaration, whose gap stands in the query that the path holds. */
function inQuery(path: string, param: RawParam): RawParam {
  const [before = "", query = ""] = (path.split("#", 1)[0] as string).split("?", 2);
  const gap = `{${param.name}}`;
  if (param.in !== "path" || before.includes(gap) || !query.includes(gap)) return param;
  const piece = query.split("&").find((each) => each.endsWith(`=${gap}`));
  return { ...param, in: "query", style: "form", name: piece?.slice(0, -gap.length - 1) ?? param.name };
}

/** What stands as `key={gap}` in the query of a path is a parameter, also when nobody declares it. */
function withGaps(path: string, params: RawParam[]): RawParam[] {
  const query = (path.split("#", 1)[0] as string).split("?", 2)[1] ?? "";
  const keys = [...query.matchAll(/(?:^|&)([^=&{}]+)=\{[^{}]+\}(?=&|$)/g)].map(([, key]) => key as string);
  const missing = keys.filter((key) => !params.some((param) => param.in === "query" && param.name === key));
  return [...params, ...missing.map((name) => ({ name, in: "query", style: "form", explode: true, content: null }))];
}

function readParam(param: Record<string, unknown>, isSwagger: boolean): RawParam {
  const place = String(param.in);
  const usual = place === "path" || place === "header" ? "simple" : "form";
  const content = isRecord(param.content) ? (Object.keys(param.content)[0] ?? null) : null;
  if (isSwagger) return { name: String(param.name), in: place, ...collection(param, usual), content: null };
  const style = typeof param.style === "string" && param.style !== "cookie" ? param.style : usual;
  const explode = typeof param.explode === "boolean" ? param.explode : style === "form" || style === "deepObject";
  return { name: String(param.name), in: place, style, explode, content };
}

function collection(param: Record<string, unknown>, usual: string): { style: string; explode: boolean } {
  const format = param.collectionFormat;
  if (format === "multi") return { style: usual, explode: true };
  const style =
    format === "ssv"
      ? "spaceDelimited"
      : format === "pipes"
        ? "pipeDelimited"
        : format === "tsv"
          ? "tabDelimited"
          : usual;
  return { style, explode: false };
}

function bodyOf(
  root: Record<string, unknown>,
  operation: Record<string, unknown>,
): Pick<RawOperation, "bodyTypes" | "encoding"> {
  const content = record(record(follow(root, operation.requestBody)).content);
  const encoding = Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      encodingOf(record(record(follow(root, media)).encoding), type, root),
    ]),
  );
  // The empty type is a converter's mishap for JSON.
  return { bodyTypes: Object.keys(content).map((type) => (type === "" ? "application/json" : type)), encoding };
}

/** In multipart, 3.0 knows no styles but the one that is written there anyhow. */
function encodingOf(
  encoding: Record<string, unknown>,
  type: string,
  root: Record<string, unknown>,
): Record<string, RawEncoding> {
  if (!type.startsWith("multipart/") || !String(root.openapi).startsWith("3.0"))
    return encoding as Record<string, RawEncoding>;
  return Object.fromEntries(
    Object.entries(encoding).map(([name, value]) => {
      const { style, ...rest } = record(value) as RawEncoding;
      return [name, style === "deepObject" ? { ...rest, style } : rest];
    }),
  );
}

function swaggerBody(
  root: Record<string, unknown>,
  operation: Record<string, unknown>,
  params: Record<string, unknown>[],
): Pick<RawOperation, "bodyTypes" | "encoding"> {
  const consumes = list(operation.consumes ?? root.consumes).map(String);
  if (params.some((param) => param.in === "body"))
    return { bodyTypes: consumes.length > 0 ? consumes : ["application/json"], encoding: {} };
  const fields = params.filter((param) => param.in === "formData");
  if (fields.length === 0) return { bodyTypes: [], encoding: {} };
  const forms = consumes.filter((type) => /form/.test(type));
  const types = forms.length > 0 ? forms : ["application/x-www-form-urlencoded", "multipart/form-data"];
  const arrays = fields.filter((field) => field.type === "array");
  const encoding = Object.fromEntries(arrays.map((field) => [String(field.name), collection(field, "form")]));
  return { bodyTypes: types, encoding: Object.fromEntries(types.map((type) => [type, encoding])) };
}

function answerOf(
  root: Record<string, unknown>,
  operation: Record<string, unknown>,
  isSwagger: boolean,
): RawOperation["answer"] {
  for (const [status, raw] of Object.entries(record(operation.responses))) {
    if (!/^2\d\d$/.test(status)) continue;
    const response = record(follow(root, raw));
    const types = isSwagger
      ? response.schema
        ? list(operation.produces ?? root.produces ?? ["application/json"])
        : []
      : Object.keys(record(response.content));
    return { status: Number(status), contentType: typeof types[0] === "string" ? types[0] : null };
  }
  return { status: 200, contentType: "application/json" };
}

/** References within the document; one that leads nowhere is nothing. */
export function follow(root: Record<string, unknown>, value: unknown): unknown {
  let at = value;
  for (let step = 0; step < 50 && isRecord(at) && typeof at.$ref === "string"; step++) {
    if (!at.$ref.startsWith("#/")) return undefined;
    let target: unknown = root;
    for (const part of at.$ref.slice(2).split("/")) {
      const key = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
      target =
        typeof target === "object" && target !== null && Object.hasOwn(target, key)
          ? Reflect.get(target, key)
          : undefined;
    }
    at = target;
  }
  return at;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
