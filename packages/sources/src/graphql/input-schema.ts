/**
 * JSON Schema of a field's arguments: what a caller writes. Input types and enums lie in `$defs`, once each; a schema of
 * thousands of input types that all reach each other is cut where it stops helping, and what is cut accepts anything.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import { isLeaf, leafSchema, withDescription, wrappedSchema } from "./leaf-schema.ts";
import { isRequired, type InputValueRecord, type TypeLookup, type TypeRecord } from "./type-record.ts";

/** Name of the input that holds the selection: an argument of that name goes first. */
export const selectKey = (args: readonly InputValueRecord[]): "select" | "$select" =>
  args.some(({ name }) => name === "select") ? "$select" : "select";

export function inputSchemaOf(args: readonly InputValueRecord[], hasSelection: boolean, find: TypeLookup): JsonSchema {
  const defs = new Map<string, JsonSchema>();
  const waiting: Extract<TypeRecord, { kind: "input" | "enum" }>[] = [];
  const make = (name: string): JsonSchema => {
    const type = find(name);
    if (type === undefined) return { description: `Type ${name}.` };
    if (type.kind !== "input" && type.kind !== "enum") return isLeaf(type) ? leafSchema(type) : {};
    if (!defs.has(name)) {
      if (defs.size >= maxDefs) return { description: `Input type ${name}, not shown: the schema is too large.` };
      defs.set(name, {});
      waiting.push(type);
    }
    return { $ref: `#/$defs/${name}` };
  };
  const schema = objectSchema(args, make);
  for (let type = waiting.shift(); type; type = waiting.shift()) {
    defs.set(type.name, type.kind === "enum" ? leafSchema(type) : inputTypeSchema(type, make));
  }
  const properties = schema.properties as Record<string, JsonSchema>;
  if (hasSelection) Object.assign(properties, { [selectKey(args)]: selectSchema });
  return defs.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(defs) };
}

const maxDefs = 150;

const selectSchema: JsonSchema = {
  type: ["string", "array", "object"],
  description:
    'Which fields of the result to return, as GraphQL "{ id title author { login } }" or as ["id", "title", { "author": ["login"] }]. Default: the fields of the output schema.',
  items: {},
  additionalProperties: true,
};

type Make = (name: string) => JsonSchema;

function inputTypeSchema(type: Extract<TypeRecord, { kind: "input" }>, make: Make): JsonSchema {
  const schema = withDescription(objectSchema(type.fields, make), type.description);
  return type.oneOf ? { ...schema, minProperties: 1, maxProperties: 1 } : schema;
}

function objectSchema(values: readonly InputValueRecord[], make: Make): JsonSchema {
  const required = values.filter(isRequired).map(({ name }) => name);
  return {
    type: "object",
    // Defines its own properties, so a field called __proto__ is a field like any other.
    properties: Object.fromEntries(values.map((value) => [value.name, valueSchema(value, make)])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

function valueSchema(value: InputValueRecord, make: Make): JsonSchema {
  const notes = [
    value.description,
    value.deprecated === undefined ? undefined : `Deprecated: ${value.deprecated}`,
    value.fallback === undefined ? undefined : `Default: ${value.fallback}`,
  ];
  const schema = wrappedSchema(value.type, make);
  return withDescription(schema, notes.filter(Boolean).join(" ")) as JsonSchema;
}
