/** Request and response bodies of an operation, of OpenAPI 3 and Swagger 2 alike, and which properties stand in the flat input. */
import type { JsonSchema } from "@executor/contracts/tool";
import type { Body, BodyContent, Param, ParamStyle, ResponseShape } from "./operation.ts";
import { deref, isRecord, list, record, strings, text, type RawDocument } from "./raw-document.ts";
import { inlineSchema, swaggerStyle } from "./read-params.ts";

export function readBody(document: RawDocument, raw: unknown): Body | null {
  if (raw === undefined || raw === null) return null;
  const found = deref(document, raw);
  if (!isRecord(found)) return null;
  const contents: BodyContent[] = [];
  const ignoresStyles = text(document.root.openapi).startsWith("3.0");
  for (const [contentType, media] of mediaTypes(document, found.content)) {
    contents.push({
      contentType,
      schema: mediaSchema(document, contentType, media),
      encoding: readEncoding(media.encoding, ignoresStyles && isMultipart(contentType)),
    });
  }
  if (contents.length === 0) return null;
  return {
    required: found.required === true,
    contents,
    fields: null,
    description: text(found.description).slice(0, 2_000),
  };
}

/** Swagger 2: one `in: body` parameter, or a form made of `in: formData` parameters. */
export function readSwaggerBody(
  document: RawDocument,
  bodyParams: readonly Record<string, unknown>[],
  consumes: readonly string[],
): Body | null {
  const whole = bodyParams.find((param) => param.in === "body");
  const description = text(whole?.description).slice(0, 2_000);
  if (whole) {
    const types = consumes.length > 0 ? consumes : ["application/json"];
    const schema = (isRecord(whole.schema) ? whole.schema : {}) as JsonSchema;
    const contents = types.slice(0, maxContents).map((contentType) => ({ contentType, schema, encoding: {} }));
    return { required: whole.required === true, contents: contents.toSorted(byUse), fields: null, description };
  }
  const fields = bodyParams.filter((param) => typeof param.name === "string");
  if (fields.length === 0) return null;
  const hasFile = fields.some((field) => field.type === "file");
  const forms = consumes.filter((type) => (hasFile ? isMultipart(type) : isForm(type) || isMultipart(type)));
  const usual = hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded";
  const properties = Object.fromEntries(
    fields.map((field) => [field.name, { ...inlineSchema(field), description: text(field.description) }]),
  );
  const required = fields.filter((field) => field.required === true).map((field) => field.name);
  const schema = { type: "object", properties, required };
  const arrays = fields.filter((field) => field.type === "array");
  const encoding = Object.fromEntries(arrays.map((field) => [field.name as string, swaggerStyle(field, "formData")]));
  const contents = (forms.length > 0 ? forms : [usual]).map((contentType) => ({ contentType, schema, encoding }));
  return { required: required.length > 0, contents: contents.toSorted(byUse), fields: null, description };
}

/**
 * Names of the properties that may stand beside the parameters; null when the body is no plain object, or when one of its
 * names is a parameter's.
 */
export function flatFields(document: RawDocument, body: Body, params: readonly Param[]): string[] | null {
  const content = body.contents[0];
  if (!content || !(isJson(content.contentType) || isForm(content.contentType) || isMultipart(content.contentType)))
    return null;
  const names = new Set<string>();
  if (!collectFields(document, content.schema, names, new Set())) return null;
  names.delete("__proto__");
  if (names.size === 0 || names.size > 1_000 || params.some((param) => names.has(param.arg))) return null;
  return [...names];
}

/** What comes back when all is well; errors are told by status and body, whatever the document says of them. */
export function readResponses(
  document: RawDocument,
  raw: unknown,
  produces: readonly string[] | null,
): ResponseShape[] {
  const shapes: ResponseShape[] = [];
  for (const [status, value] of Object.entries(record(raw))) {
    if (!/^(?:[123]|default$)/i.test(status)) continue;
    const found = deref(document, value);
    if (!isRecord(found)) continue;
    const description = text(found.description).slice(0, 500);
    if (produces !== null) {
      const schema = isRecord(found.schema) ? found.schema : null;
      const types =
        schema === null ? [null] : produces.length > 0 ? produces.slice(0, maxContents) : ["application/json"];
      for (const contentType of types) shapes.push({ status, contentType, schema, description });
      continue;
    }
    const media = mediaTypes(document, found.content);
    if (media.length === 0) shapes.push({ status, contentType: null, schema: null, description });
    for (const [contentType, type] of media) {
      shapes.push({ status, contentType, schema: mediaSchema(document, contentType, type), description });
    }
  }
  return shapes;
}

const maxContents = 8;
const essence = (type: string): string => (type.split(";", 1)[0] as string).trim().toLowerCase();
const isJson = (type: string): boolean => /[/+]json$/.test(essence(type)) || essence(type) === "*/*";
const isForm = (type: string): boolean => essence(type) === "application/x-www-form-urlencoded";
const isMultipart = (type: string): boolean => essence(type).startsWith("multipart/");

function rankOf({ contentType }: { contentType: string }): number {
  const type = essence(contentType);
  if (type === "application/json") return 0;
  if (isJson(type)) return 1;
  if (isForm(type)) return 2;
  if (isMultipart(type)) return 3;
  return type.startsWith("text/") ? 4 : 5;
}
const byUse = (a: { contentType: string }, b: { contentType: string }): number => rankOf(a) - rankOf(b);

function mediaTypes(document: RawDocument, content: unknown): [string, Record<string, unknown>][] {
  const entries: [string, Record<string, unknown>][] = [];
  for (const [contentType, raw] of Object.entries(record(content))) {
    // A converter's mishap, found in the wild: the body is described, its type is lost.
    entries.push([contentType === "" ? "application/json" : contentType, record(deref(document, raw))]);
  }
  if (entries.length < 2) return entries;
  return entries.toSorted(([a], [b]) => byUse({ contentType: a }, { contentType: b })).slice(0, maxContents);
}

function mediaSchema(document: RawDocument, contentType: string, media: Record<string, unknown>): JsonSchema {
  if (isRecord(media.schema)) return media.schema;
  // 3.2: a stream of items.
  if (isRecord(media.itemSchema)) return { type: "array", items: media.itemSchema };
  if (media.schema !== undefined && typeof media.schema !== "boolean") {
    document.warn(`A body of type ${contentType} has a schema that is none; anything is accepted.`);
  }
  if (isJson(contentType) || isForm(contentType) || isMultipart(contentType)) return {};
  return essence(contentType).startsWith("text/") ? { type: "string" } : { type: "string", format: "binary" };
}

/** 3.0 has no styles in multipart; deepObject is written there all the same, for APIs that read nothing else (Stripe's files). */
function readEncoding(raw: unknown, ignoresStyles: boolean): BodyContent["encoding"] {
  const read: BodyContent["encoding"] = Object.create(null);
  for (const [name, value] of Object.entries(record(raw))) {
    const { contentType, style: stated, explode, allowReserved } = record(value);
    const style = ignoresStyles && stated !== "deepObject" ? undefined : stated;
    Object.assign(read, {
      [name]: {
        ...(typeof contentType === "string" ? { contentType } : {}),
        ...(typeof style === "string" ? { style: style as ParamStyle } : {}),
        ...(typeof explode === "boolean" ? { explode } : {}),
        ...(typeof allowReserved === "boolean" ? { allowReserved } : {}),
      },
    });
  }
  return read;
}

/** False: this is not (only) an object with named properties. */
function collectFields(document: RawDocument, schema: unknown, names: Set<string>, seen: Set<unknown>): boolean {
  const found = deref(document, schema);
  if (!isRecord(found) || seen.has(found) || seen.size > 200) return seen.has(found);
  seen.add(found);
  const types = Array.isArray(found.type) ? strings(found.type) : found.type === undefined ? [] : [found.type];
  if (types.length > 0 && !types.includes("object")) return false;
  for (const variant of [...list(found.oneOf), ...list(found.anyOf)]) {
    // Alternatives that only say which of the properties are required leave the object plain.
    const only =
      isRecord(variant) && Object.keys(variant).every((key) => key === "required" || key === "type" || key === "title");
    if (!only) return false;
    for (const name of strings(record(variant).required)) names.add(name);
  }
  for (const [name, property] of Object.entries(record(found.properties))) {
    if (!isRecord(property) || property.readOnly !== true) names.add(name);
  }
  // Required and described nowhere: it must be given all the same.
  const declared = record(found.properties);
  for (const name of list(found.required))
    if (typeof name === "string" && !Object.hasOwn(declared, name)) names.add(name);
  return list(found.allOf).every((member) => collectFields(document, member, names, seen));
}
