/**
 * The parameters of an operation, of OpenAPI 3 and Swagger 2 alike, and their names in the flat input. Bodies of Swagger 2
 * (`in: body`, `in: formData`) are set aside for read-body.ts.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { Param, ParamPlace, ParamStyle } from "./operation.ts";
import { gapsOf, splitQuery, type PathGap } from "./path-template.ts";
import { deref, isRecord, list, quote, record, text, type RawDocument } from "./raw-document.ts";

export interface ReadParams {
  params: Param[];
  /** Swagger 2: what the body is made of. */
  bodyParams: Record<string, unknown>[];
}

/** Also what each `$ref` to a parameter came to: most operations share theirs. */
export interface ParamReader {
  document: RawDocument;
  swagger: boolean;
  cache: Map<unknown, ReadParam>;
}
type ReadParam = { param: Param } | { bodyParam: Record<string, unknown> } | null;

export function readParams(reader: ParamReader, path: string, levels: readonly unknown[]): ReadParams {
  // Those of the operation come last and take the place of those of its path.
  const byKey = new Map<string, ReadParam & object>();
  for (const level of levels) {
    if (level !== undefined && level !== null && !Array.isArray(level))
      reader.document.warn(`${path} has parameters that are no list; they are left out.`);
    for (const raw of list(level)) {
      const read = readParam(reader, raw, path);
      if (read === null) continue;
      const { name, in: place } = "param" in read ? read.param : (read.bodyParam as { name?: unknown; in?: unknown });
      byKey.set(`${String(place)} ${String(name)}`, read);
    }
  }
  const params: Param[] = [];
  const bodyParams: Record<string, unknown>[] = [];
  const parts = splitQuery(path);
  const gaps = gapsOf(parts.path);
  const queryGaps = gapsInQuery(parts.query);
  for (const read of byKey.values()) {
    if ("bodyParam" in read) {
      bodyParams.push(read.bodyParam);
      continue;
    }
    const gap = read.param.in === "path" ? queryGaps.find(({ name }) => name === read.param.name) : undefined;
    // Declared as a part of the path, and stands in the query that the path holds.
    if (gap !== undefined && !gaps.some(({ name }) => name === gap.name))
      params.push({ ...read.param, name: gap.key, in: "query", style: "form" });
    else if (read.param.in !== "path" || gaps.some(({ name }) => name === gapName(read.param))) params.push(read.param);
    else
      reader.document.warn(`${path} has no place for its path parameter ${quote(read.param.name)}, which is left out.`);
  }
  addMissing(reader, path, gaps, params);
  for (const { key } of queryGaps)
    if (!params.some((param) => param.in === "query" && param.name === key))
      params.push({ ...textParam(key), in: "query", style: "form", explode: true });
  return { params, bodyParams };
}

/** Gives each parameter its name in the flat input: its own, unless an earlier one or the body has it. */
export function nameArgs(params: readonly Param[], hasBody: boolean): Param[] {
  const taken = new Set(hasBody ? ["body"] : []);
  const rank = (param: Param): number => places.indexOf(param.in);
  const args = new Map<Param, string>();
  for (const param of params.toSorted((a, b) => rank(a) - rank(b))) {
    const wanted = param.name === "__proto__" ? "_proto_" : param.name;
    let arg = taken.has(wanted) ? `${param.in}_${wanted}` : wanted;
    while (taken.has(arg)) arg = `${arg}_`;
    taken.add(arg);
    args.set(param, arg);
  }
  return params.map((param) => (args.get(param) === param.arg ? param : { ...param, arg: args.get(param) as string }));
}

/** Who keeps a name that several want: the earlier place. */
const places: readonly string[] = ["path", "query", "querystring", "header", "cookie"] satisfies ParamPlace[];
/** No parameters, whatever a document says: media types, the credential, the connection or we ourselves decide them. */
const ignoredHeaders = new Set(
  "accept content-type authorization proxy-authorization cookie host content-length transfer-encoding connection keep-alive upgrade te trailer expect user-agent accept-encoding content-encoding".split(
    " ",
  ),
);

function readParam(reader: ParamReader, raw: unknown, path: string): ReadParam {
  const key = isRecord(raw) && typeof raw.$ref === "string" ? raw.$ref : raw;
  const known = reader.cache.get(key);
  if (known !== undefined) return known;
  const read = makeParam(reader, raw, path);
  reader.cache.set(key, read);
  return read;
}

function makeParam({ document, swagger }: ParamReader, raw: unknown, path: string): ReadParam {
  const found = deref(document, raw);
  // YAML makes numbers of some names.
  if (isRecord(found) && (typeof found.name === "number" || typeof found.name === "boolean"))
    found.name = String(found.name);
  if (!isRecord(found) || typeof found.name !== "string" || found.name === "") {
    document.warn(`${path} has a parameter without a name, which is left out.`);
    return null;
  }
  const { name, in: place } = found;
  if (swagger && (place === "body" || place === "formData")) return { bodyParam: found };
  if (typeof place !== "string" || !places.includes(place)) {
    document.warn(
      `${path} has its parameter ${quote(name)} in ${quote(String(place))}, which is no such place; it is left out.`,
    );
    return null;
  }
  if (place === "header" && ignoredHeaders.has(name.toLowerCase())) return null;
  const content = contentOf(found);
  const schema = content?.schema ?? (swagger ? inlineSchema(found) : found.schema);
  if (!isRecord(schema) && typeof schema !== "boolean") {
    document.warn(`${path} does not say what its parameter ${quote(name)} looks like; anything is accepted.`);
  }
  return {
    param: {
      name,
      in: place as ParamPlace,
      arg: name,
      // A key against repetition is sent by us when the caller gives none.
      required: place === "path" || (found.required === true && !isIdempotencyKey(place, name)),
      ...(swagger ? swaggerStyle(found, place) : styleOf(document, found, place)),
      allowReserved: found.allowReserved === true,
      contentType: content?.contentType ?? null,
      schema: isRecord(schema) ? (schema as JsonSchema) : {},
      description: text(found.description).slice(0, 2_000),
    },
  };
}

export const isIdempotencyKey = (place: string, name: string): boolean =>
  place === "header" && name.toLowerCase() === "idempotency-key";

function contentOf(found: Record<string, unknown>): { contentType: string; schema: unknown } | null {
  if (!isRecord(found.content)) return null;
  const [first] = Object.entries(found.content);
  return first ? { contentType: first[0], schema: record(first[1]).schema ?? {} } : null;
}

const styles = new Set([
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "tabDelimited",
  "deepObject",
]);

function styleOf(
  document: RawDocument,
  found: Record<string, unknown>,
  place: string,
): { style: ParamStyle; explode: boolean } {
  const usual: ParamStyle = place === "path" || place === "header" ? "simple" : "form";
  let style: ParamStyle = usual;
  // 3.2 writes `cookie` for what `form` does in a cookie.
  if (found.style !== undefined && found.style !== "cookie") {
    if (typeof found.style === "string" && styles.has(found.style)) style = found.style as ParamStyle;
    else
      document.warn(
        `The style ${quote(String(found.style))} of ${quote(text(found.name))} is unknown; ${usual} is used.`,
      );
  }
  return {
    style,
    explode: typeof found.explode === "boolean" ? found.explode : style === "form" || style === "deepObject",
  };
}

const collectionStyles: Readonly<Record<string, ParamStyle>> = {
  ssv: "spaceDelimited",
  tsv: "tabDelimited",
  pipes: "pipeDelimited",
};

/** Swagger 2 says by `collectionFormat` how an array is written. */
export function swaggerStyle(found: Record<string, unknown>, place: string): { style: ParamStyle; explode: boolean } {
  const usual: ParamStyle = place === "path" || place === "header" ? "simple" : "form";
  const format = text(found.collectionFormat);
  if (format === "multi") return { style: usual, explode: true };
  return {
    style: Object.hasOwn(collectionStyles, format) ? (collectionStyles[format] as ParamStyle) : usual,
    explode: false,
  };
}

const notSchema = new Set(["name", "in", "required", "description", "collectionFormat", "allowEmptyValue"]);

/** Swagger 2 writes a parameter's schema into the parameter. */
export function inlineSchema(found: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(found).filter(([key]) => !notSchema.has(key) && !key.startsWith("x-")));
}

/** A document may declare a parameter as its gap is written, operators and all. */
const gapName = ({ name }: Param): string => (/^\+|\*$/.test(name) ? (gapsOf(`{${name}}`)[0]?.name ?? name) : name);

/** A placeholder nobody declared must still be filled. */
function addMissing({ document }: ParamReader, path: string, gaps: readonly PathGap[], params: Param[]): void {
  for (const { name } of gaps) {
    if (params.some((param) => param.in === "path" && gapName(param) === name)) continue;
    document.warn(`${path} does not declare its path parameter ${quote(name)}; it is taken as text.`);
    params.push(textParam(name));
  }
}

const textParam = (name: string): Param => ({
  name,
  in: "path",
  arg: name,
  required: true,
  style: "simple",
  explode: false,
  allowReserved: false,
  contentType: null,
  schema: { type: "string" },
  description: "",
});

/** `/search?query={text}`: key `query`, name `text`. Any other gap is taken for a parameter of its own name. */
function gapsInQuery(query: string): { key: string; name: string }[] {
  return query.split("&").flatMap((piece) => {
    const [, key, name] = /^([^={}]+)=\{([^{}]+)\}$/.exec(piece) ?? [];
    if (key !== undefined && name !== undefined) return [{ key, name }];
    return gapsOf(piece).map((gap) => ({ key: gap.name, name: gap.name }));
  });
}
