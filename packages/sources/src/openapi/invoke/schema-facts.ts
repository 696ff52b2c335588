/**
 * The few things a request has to know about a schema: its properties, which of them are required of a caller, whether more are
 * allowed, and where bytes are meant. Follows `$ref` and `allOf` (and, for hints only, `oneOf` and `anyOf`); cycles and broken
 * references end the walk, they never fail it.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { Resolve } from "../operation.ts";

export interface ObjectFacts {
  properties: Map<string, JsonSchema>;
  required: Set<string>;
  /** Said outright: a schema that says nothing declares its properties and no others. */
  allowsMore: boolean;
}

export function objectFacts(schema: JsonSchema, resolve: Resolve): ObjectFacts {
  const facts: ObjectFacts = { properties: new Map(), required: new Set(), allowsMore: false };
  collect(schema, resolve, facts, new Set(), true);
  for (const [name, property] of facts.properties)
    if (followed(property, resolve)["readOnly"] === true) facts.required.delete(name);
  return facts;
}

/** The schema behind its references; an empty one when they lead nowhere. */
export function followed(schema: unknown, resolve: Resolve): JsonSchema {
  let current = schema;
  for (let step = 0; step < MAX_STEPS; step++) {
    if (!isSchema(current)) return {};
    const ref = current["$ref"];
    if (typeof ref !== "string") return current;
    current = resolve(ref);
  }
  return {};
}

/** Is it bytes rather than text: `format: binary`, Swagger's `file`, or 3.1's media type without an encoding. */
export function isBinary(schema: unknown, resolve: Resolve, depth = 0): boolean {
  const plain = followed(schema, resolve);
  if (plain["format"] === "binary" || plain["type"] === "file") return true;
  if (typeof plain["contentMediaType"] === "string" && plain["contentEncoding"] === undefined)
    return !/json|^text\/|xml/.test(plain["contentMediaType"]);
  return depth < 4 && alternatives(plain).some((part) => isBinary(part, resolve, depth + 1));
}

export const itemsOf = (schema: unknown, resolve: Resolve): unknown => followed(schema, resolve)["items"];

const MAX_STEPS = 50;

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function collect(schema: unknown, resolve: Resolve, facts: ObjectFacts, seen: Set<unknown>, binding: boolean): void {
  const plain = followed(schema, resolve);
  if (seen.has(plain) || seen.size > MAX_STEPS) return;
  seen.add(plain);
  const properties = plain["properties"];
  if (isSchema(properties))
    for (const [name, property] of Object.entries(properties))
      if (isSchema(property) && !facts.properties.has(name)) facts.properties.set(name, property);
  const required = plain["required"];
  if (binding && Array.isArray(required))
    for (const name of required) if (typeof name === "string") facts.required.add(name);
  const more = plain["additionalProperties"];
  if (more === true || isSchema(more) || isSchema(plain["patternProperties"])) facts.allowsMore = true;
  for (const part of list(plain["allOf"])) collect(part, resolve, facts, seen, binding);
  for (const part of [...list(plain["oneOf"]), ...list(plain["anyOf"])]) collect(part, resolve, facts, seen, false);
}

const alternatives = (schema: JsonSchema): unknown[] => [
  ...list(schema["allOf"]),
  ...list(schema["oneOf"]),
  ...list(schema["anyOf"]),
];
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
