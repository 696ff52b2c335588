/**
 * Turns schemas of Swagger 2 and OpenAPI 3 into JSON Schema 2020-12 as a caller sees it: references lead into `$defs`, which
 * holds what is reached and no more; what only the other direction has (`readOnly`, `writeOnly`) is gone.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { Resolve } from "./operation.ts";
import { isRecord, list, record, text, unescapePart } from "./raw-document.ts";

export type Direction = "input" | "output";

export interface SchemaConverter {
  convert(schema: unknown): JsonSchema;
  /** Adds `$defs` with everything the converted schemas refer to. */
  finish(schema: JsonSchema): JsonSchema;
}

/** More definitions than this do not help a reader; Stripe's answers reach over 500. */
const maxDefs = 200;
const maxDepth = 160;

interface State {
  resolve: Resolve;
  direction: Direction;
  /** By reference, in the order they were met. */
  names: Map<string, string>;
  taken: Set<string>;
}

export function schemaConverter(resolve: Resolve, direction: Direction): SchemaConverter {
  const state: State = { resolve, direction, names: new Map(), taken: new Set() };
  return {
    convert: (schema) => toRecord(convert(state, schema, 0)),
    finish(schema) {
      if (state.names.size === 0) return schema;
      const defs: [string, unknown][] = [];
      // Grows while it is walked, until nothing new is met.
      for (const [ref, name] of state.names) {
        const isOver = defs.length >= maxDefs;
        defs.push([
          name,
          isOver ? { description: "Left out: too many definitions." } : convert(state, resolve(ref) ?? {}, 0),
        ]);
      }
      return { ...schema, $defs: Object.fromEntries(defs) };
    },
  };
}

/** Keywords of OpenAPI that JSON Schema has no use for. */
const dropped = new Set([
  "nullable",
  "discriminator",
  "readOnly",
  "writeOnly",
  "xml",
  "example",
  "examples",
  "externalDocs",
]);
const maps = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
const values = new Set(["enum", "const", "default", "required", "type", "dependentRequired"]);

function convert(state: State, schema: unknown, depth: number): unknown {
  if (typeof schema === "boolean") return schema;
  if (!isRecord(schema) || depth > maxDepth) return {};
  if (typeof schema.$ref === "string") return convertRef(state, schema, schema.$ref);
  const out: [string, unknown][] = [];
  for (const [key, value] of Object.entries(schema)) {
    if (dropped.has(key)) continue;
    if (key === "properties") out.push([key, convertProperties(state, value, depth)]);
    else if (key === "required") out.push([key, requiredOf(state, schema)]);
    else if (key === "exclusiveMinimum" || key === "exclusiveMaximum") out.push(...exclusive(schema, key));
    else if (key === "type" && value === "file") out.push(["type", "string"], ["format", "binary"]);
    else if (values.has(key) || typeof value !== "object" || value === null) out.push([key, value]);
    else if (maps.has(key)) out.push([key, mapValues(record(value), (item) => convert(state, item, depth + 1))]);
    else if (Array.isArray(value))
      out.push([key, value.map((item) => (isRecord(item) ? convert(state, item, depth + 1) : item))]);
    else out.push([key, convert(state, value, depth + 1)]);
  }
  const converted = Object.fromEntries(out.filter(([key, value]) => key !== "required" || list(value).length > 0));
  return schema.nullable === true ? orNull(converted) : converted;
}

function convertRef(state: State, schema: Record<string, unknown>, ref: string): unknown {
  const target = endOfChain(state, ref);
  if (target === null) return text(schema.description) === "" ? {} : { description: schema.description };
  let name = state.names.get(target);
  if (name === undefined) {
    if (state.names.size >= maxDefs * 2) return {};
    name = freeName(state, target);
    state.names.set(target, name);
  }
  const pointer = { $ref: `#/$defs/${name}` };
  const described = typeof schema.description === "string" ? { ...pointer, description: schema.description } : pointer;
  return schema.nullable === true ? orNull(described) : described;
}

/** A definition that is nothing but a reference stands for what it refers to. Null: nowhere. */
function endOfChain(state: State, start: string): string | null {
  const seen = new Set<string>();
  let ref = start;
  while (!seen.has(ref)) {
    seen.add(ref);
    const target = state.resolve(ref);
    if (target === null || target === undefined) return null;
    if (!isRecord(target) || typeof target.$ref !== "string" || Object.keys(target).length > 1) return ref;
    ref = target.$ref;
  }
  return null;
}

/** The last part of the reference, as a word that needs no escaping. */
function freeName(state: State, ref: string): string {
  const last = unescapePart(ref.slice(ref.lastIndexOf("/") + 1))
    .replace(/[^A-Za-z0-9_.-]+/g, "_")
    .slice(0, 80);
  const base = last === "" || last === "__proto__" ? "definition" : last;
  let name = base;
  for (let count = 2; state.taken.has(name); count++) name = `${base}_${count}`;
  state.taken.add(name);
  return name;
}

function convertProperties(state: State, properties: unknown, depth: number): unknown {
  const kept = Object.entries(record(properties)).filter(([, value]) => !isHidden(state, value));
  return Object.fromEntries(kept.map(([name, value]) => [name, convert(state, value, depth + 1)]));
}

function requiredOf(state: State, schema: Record<string, unknown>): unknown[] {
  const properties = record(schema.properties);
  return list(schema.required).filter(
    (name) => typeof name === "string" && !(Object.hasOwn(properties, name) && isHidden(state, properties[name])),
  );
}

/** Of the other direction only. */
function isHidden(state: State, property: unknown): boolean {
  return isRecord(property) && property[state.direction === "input" ? "readOnly" : "writeOnly"] === true;
}

/** Before 3.1 it was a switch beside the bound. */
function exclusive(schema: Record<string, unknown>, key: "exclusiveMinimum" | "exclusiveMaximum"): [string, unknown][] {
  const value = schema[key];
  if (typeof value === "number") return [[key, value]];
  const bound = schema[key === "exclusiveMinimum" ? "minimum" : "maximum"];
  return value === true && typeof bound === "number" ? [[key, bound]] : [];
}

function orNull(schema: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(schema.enum))
    return {
      ...schema,
      ...typeOrNull(schema),
      enum: schema.enum.includes(null) ? schema.enum : [...schema.enum, null],
    };
  if (schema.type !== undefined) return { ...schema, ...typeOrNull(schema) };
  const { description, ...rest } = schema;
  if (Object.keys(rest).length === 0) return schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: "null" }] };
}

function typeOrNull({ type }: Record<string, unknown>): { type?: unknown } {
  if (type === undefined) return {};
  const types = Array.isArray(type) ? type : [type];
  return { type: types.includes("null") ? types : [...types, "null"] };
}

const mapValues = (map: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
const toRecord = (value: unknown): JsonSchema => (isRecord(value) ? value : value === false ? { not: {} } : {});
