/**
 * Writes one schema of a document as JSON, without what nobody needs (examples, extensions), and notes the references in it.
 * This is the hot path of reading: every schema passes here once. A plain schema is stripped in place and written natively;
 * one that is too deep or too large is written with care, because a document of aliases can be a graph, and a graph written
 * out can be endless.
 */
import { isRecord, localRef, type RawDocument } from "./raw-document.ts";

export interface SchemaWriter {
  document: RawDocument;
  /** Local references met since it was last emptied. */
  refs: Set<string>;
  /** Values that may still be written, over the whole document. */
  left: number;
}

export const newSchemaWriter = (document: RawDocument): SchemaWriter => ({
  document,
  refs: new Set(),
  left: 10_000_000,
});

export function writeSchema(writer: SchemaWriter, schema: unknown): string {
  if (schema === undefined) return "{}";
  if (typeof schema === "object" && schema !== null && strip(writer, schema, 0)) return JSON.stringify(schema);
  return writeKeywords(writer, schema, 0);
}

/** Sets what is dropped to undefined, which JSON.stringify leaves out. False when it met its bounds. */
function strip(writer: SchemaWriter, schema: object, depth: number): boolean {
  if (depth >= maxDepth || --writer.left <= 0) return false;
  if (Array.isArray(schema)) return schema.every((item) => !isObject(item) || strip(writer, item, depth + 1));
  const keywords = schema as Record<string, unknown>;
  for (const key in keywords) {
    const value = keywords[key];
    if (value === undefined) continue;
    if (dropped.has(key) || key.startsWith("x-")) keywords[key] = undefined;
    else if (key === "$ref" && typeof value === "string") keywords[key] = noteRef(writer, value);
    else if (isObject(value) && !stripKeyword(writer, key, value, depth + 1)) return false;
  }
  return true;
}

function stripKeyword(writer: SchemaWriter, key: string, value: object, depth: number): boolean {
  if (values.has(key)) return isBounded(writer, value, depth);
  if (!maps.has(key) || Array.isArray(value)) return strip(writer, value, depth);
  const map = value as Record<string, unknown>;
  for (const name in map) {
    const schema = map[name];
    if (isObject(schema) && !strip(writer, schema, depth + 1)) return false;
  }
  return true;
}

function isBounded(writer: SchemaWriter, value: object, depth: number): boolean {
  if (depth >= maxDepth || --writer.left <= 0) return false;
  for (const field of Object.values(value)) if (isObject(field) && !isBounded(writer, field, depth + 1)) return false;
  return true;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const maxDepth = 150;

function writeKeywords(writer: SchemaWriter, schema: unknown, depth: number): string {
  if (typeof schema === "boolean") return schema ? "true" : "false";
  if (Array.isArray(schema)) return writeList(writer, schema, depth);
  if (typeof schema !== "object" || schema === null) return "{}";
  if (isTooMuch(writer, depth)) return "{}";
  const keywords = schema as Record<string, unknown>;
  let out = "";
  for (const key in keywords) {
    if (dropped.has(key) || key.startsWith("x-")) continue;
    const written = writeKeyword(writer, key, keywords[key], depth);
    out += out === "" ? `${JSON.stringify(key)}:${written}` : `,${JSON.stringify(key)}:${written}`;
  }
  return `{${out}}`;
}

const dropped = new Set(["example", "examples", "externalDocs", "$comment", "$schema", "$id", "id"]);
/** Their keys are names, not keywords: a property may be called `example`. */
const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Values, not schemas. */
const values = new Set(["enum", "const", "default", "discriminator", "xml", "required", "type", "dependentRequired"]);

function writeKeyword(writer: SchemaWriter, key: string, value: unknown, depth: number): string {
  if (typeof value === "string") return key === "$ref" ? JSON.stringify(noteRef(writer, value)) : JSON.stringify(value);
  if (typeof value === "boolean" || typeof value === "number") return plain(value);
  if (value === null) return "null";
  if (values.has(key)) return writeValue(writer, value, depth + 1);
  if (maps.has(key) && isRecord(value)) return writeMap(writer, value, depth + 1);
  return writeKeywords(writer, value, depth + 1);
}

function writeMap(writer: SchemaWriter, map: Record<string, unknown>, depth: number): string {
  if (isTooMuch(writer, depth)) return "{}";
  let out = "";
  for (const key in map) {
    const written = writeKeywords(writer, map[key], depth + 1);
    out += out === "" ? `${JSON.stringify(key)}:${written}` : `,${JSON.stringify(key)}:${written}`;
  }
  return `{${out}}`;
}

function writeList(writer: SchemaWriter, items: readonly unknown[], depth: number): string {
  if (isTooMuch(writer, depth)) return "[]";
  let out = "";
  for (const item of items) {
    const written = typeof item === "string" ? JSON.stringify(item) : writeKeywords(writer, item, depth + 1);
    out += out === "" ? written : `,${written}`;
  }
  return `[${out}]`;
}

/** Any JSON; bounded like the rest. */
function writeValue(writer: SchemaWriter, value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return plain(value);
  if (isTooMuch(writer, depth)) return "null";
  if (Array.isArray(value)) return `[${value.map((item) => writeValue(writer, item, depth + 1)).join(",")}]`;
  const fields = Object.entries(value).map(
    ([key, field]) => `${JSON.stringify(key)}:${writeValue(writer, field, depth + 1)}`,
  );
  return `{${fields.join(",")}}`;
}

function noteRef(writer: SchemaWriter, ref: string): string {
  const local = localRef(writer.document, ref);
  if (local !== null) writer.refs.add(local);
  return local ?? ref;
}

function isTooMuch(writer: SchemaWriter, depth: number): boolean {
  writer.left--;
  if (depth < maxDepth && writer.left > 0) return false;
  writer.document.warn(
    writer.left > 0
      ? `A schema nests deeper than ${maxDepth} levels; what lies below is left out.`
      : "The document is too large when it is written out; the rest of its schemas is left out.",
  );
  return true;
}

/** JSON has no NaN, and YAML has. */
const plain = (value: unknown): string => JSON.stringify(value) ?? "null";
