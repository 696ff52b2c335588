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

export function rawOperations(root: Record<string, unknown>): RawOperation[] {
  const found: RawOperation[] = [];
  for (const [path, value] of Object.entries(record(root.paths))) {
    if (path.startsWith("x-")) continue;
    const item = record(follow(root, value));
    for (const [key, operation] of [
      ...METHODS.map((method) => [method, item[method]] as const),
      ...Object.entries(record(item.additionalOperations)),
    ])
      if (isRecord(operation)) found.push(readOperation(root, key.toUpperCase(), path, item, operation));
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
  const all = [...byKey.values()];
  const isSwagger = root.swagger !== undefined;
  const body = isSwagger ? swaggerBody(root, operation, all) : bodyOf(root, operation);
  return {
    method,
    path,
    params: all
      .filter(({ in: place }) => place !== "body" && place !== "formData")
      .map((param) => readParam(param, isSwagger)),
    ...body,
    answer: answerOf(root, operation, isSwagger),
  };
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
      record(record(follow(root, media)).encoding) as Record<string, RawEncoding>,
    ]),
  );
  return { bodyTypes: Object.keys(content), encoding };
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
