/** What a caller of an operation gives and gets, as JSON Schema and as a line of TypeScript. Made when somebody asks. */
import type { JsonSchema } from "@executor/contracts/tool";
import type { ToolShape } from "@executor/core/ports/source";
import { signatureOf } from "../schema/schema-to-typescript.ts";
import { schemaConverter, type SchemaConverter } from "./convert-schema.ts";
import { formatOf } from "./invoke/compile-body.ts";
import type { Body, Operation, Param, Resolve, ResponseShape } from "./operation.ts";
import { isRecord, list, record } from "./raw-document.ts";

export function toolShape(operation: Operation, resolve: Resolve): ToolShape {
  const inputSchema = inputOf(operation, resolve);
  const outputSchema = outputOf(operation, resolve);
  const signature = signatureOf({ inputSchema, outputSchema });
  return { signature, inputSchema: withChoices(inputSchema, operation, resolve), outputSchema };
}

function inputOf(operation: Operation, resolve: Resolve): JsonSchema {
  const converter = schemaConverter(resolve, "input");
  const properties: [string, unknown][] = [];
  const required: string[] = [];
  for (const param of operation.params) {
    properties.push([param.arg, describeParam(converter, param)]);
    if (param.required) required.push(param.arg);
  }
  const { body } = operation;
  if (body?.fields) {
    const fields = bodyFields(body, resolve);
    for (const name of body.fields) {
      properties.push([name, withFiles(converter.convert(fields.properties.get(name) ?? {}))]);
      if (body.required && fields.required.has(name)) required.push(name);
    }
  } else if (body) {
    properties.push(["body", wholeBody(converter, body, resolve)]);
    if (body.required) required.push("body");
  }
  const schema: JsonSchema = { type: "object", properties: Object.fromEntries(properties) };
  return converter.finish(required.length > 0 ? { ...schema, required } : schema);
}

/** "This or that is required" has no place in a signature; who validates shall know of it. */
function withChoices(inputSchema: JsonSchema, { body }: Operation, resolve: Resolve): JsonSchema {
  if (!body?.fields || !body.required) return inputSchema;
  const { choices } = bodyFields(body, resolve);
  return choices.length === 0 ? inputSchema : { ...inputSchema, allOf: choices };
}

function describeParam(converter: SchemaConverter, param: Param): JsonSchema {
  const schema = converter.convert(param.schema);
  return param.description === "" ? schema : { ...schema, description: param.description };
}

function wholeBody(converter: SchemaConverter, body: Body, resolve: Resolve): JsonSchema {
  const schema = isBytes(body, resolve) ? fileInput : withFiles(converter.convert(body.contents[0]?.schema ?? {}));
  return body.description === "" || schema.description !== undefined
    ? schema
    : { ...schema, description: body.description };
}

/** Some documents tell bytes by the media type alone. */
function isBytes({ contents: [best] }: Body, resolve: Resolve): boolean {
  if (best === undefined || formatOf(best.contentType.toLowerCase(), best.schema, resolve, false) !== "binary")
    return false;
  const followed = follow(best.schema, resolve);
  // An object where bytes are said goes as JSON.
  return !isRecord(followed) || (followed.type !== "object" && followed.properties === undefined);
}

interface Fields {
  properties: Map<string, unknown>;
  required: Set<unknown>;
  /** Alternatives that say which of the properties are required. */
  choices: JsonSchema[];
}

/** The properties of an object body, those of its `allOf` parts too; the last to say something wins. */
function bodyFields(body: Body, resolve: Resolve): Fields {
  const fields: Fields = { properties: new Map(), required: new Set(), choices: [] };
  const seen = new Set<unknown>();
  const collect = (schema: unknown): void => {
    const found = follow(schema, resolve);
    if (!isRecord(found) || seen.has(found)) return;
    seen.add(found);
    for (const part of list(found.allOf)) collect(part);
    for (const [name, property] of Object.entries(record(found.properties))) fields.properties.set(name, property);
    for (const name of list(found.required)) fields.required.add(name);
    for (const key of ["oneOf", "anyOf"]) {
      const options = list(found[key]).map((option) => ({ required: list(record(option).required) }));
      if (options.some(({ required }) => required.length > 0)) fields.choices.push({ [key]: options });
    }
  };
  collect(body.contents[0]?.schema);
  return fields;
}

function follow(schema: unknown, resolve: Resolve): unknown {
  const seen = new Set<string>();
  let at = schema;
  while (isRecord(at) && typeof at.$ref === "string" && !seen.has(at.$ref)) {
    seen.add(at.$ref);
    at = resolve(at.$ref);
  }
  return at;
}

/** A file is given as base64, with a name and a type where they matter. */
function withFiles(schema: JsonSchema): JsonSchema {
  if (isFile(schema)) {
    const { description } = schema;
    return description === undefined
      ? { ...fileInput, description: "A file, in base64." }
      : { ...fileInput, description };
  }
  if (schema.type === "array" && isRecord(schema.items) && isFile(schema.items))
    return { ...schema, items: withFiles(schema.items) };
  if (!isRecord(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, value]) => [
    name,
    isRecord(value) ? withFiles(value) : value,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

const isFile = (schema: JsonSchema): boolean =>
  schema.type === "string" && (schema.format === "binary" || schema.contentMediaType === "application/octet-stream");
const fileObject = {
  type: "object",
  properties: { base64: { type: "string" }, filename: { type: "string" }, contentType: { type: "string" } },
  required: ["base64"],
};

const fileInput: JsonSchema = { anyOf: [{ type: "string", contentEncoding: "base64" }, fileObject] };

function outputOf({ responses }: Operation, resolve: Resolve): JsonSchema {
  const good = responses.filter(({ status }) => status.startsWith("2"));
  const shapes = good.length > 0 ? good : responses.filter(({ status }) => status.toLowerCase() === "default");
  const converter = schemaConverter(resolve, "output");
  const seen = new Map<string, JsonSchema>();
  for (const shape of onePerStatus(shapes)) {
    const schema = outputOfOne(converter, shape);
    if (schema) seen.set(JSON.stringify(schema), schema);
  }
  const schemas = [...seen.values()];
  if (schemas.length === 0) return shapes.length > 0 && good.length > 0 ? { type: "null" } : {};
  return converter.finish(schemas.length === 1 ? (schemas[0] as JsonSchema) : { anyOf: schemas });
}

/** The best media type of each: the request asks for that one. */
function onePerStatus(shapes: readonly ResponseShape[]): ResponseShape[] {
  const first = new Map<string, ResponseShape>();
  for (const shape of shapes) if (!first.has(shape.status)) first.set(shape.status, shape);
  return [...first.values()];
}

function outputOfOne(converter: SchemaConverter, { contentType, schema }: ResponseShape): JsonSchema | null {
  if (schema === null) return contentType === null ? null : {};
  const converted = converter.convert(schema);
  return isFile(converted) ? fileAnswer : converted;
}

const fileAnswer = {
  type: "object",
  properties: { base64: { type: "string" }, contentType: { type: "string" } },
  required: ["base64", "contentType"],
};
