/** JSON Schema of scalars and enums. Custom scalars are anything; a name that says what it is gets that type. */
import type { JsonSchema } from "@executor/contracts/tool";
import type { EnumRecord, ScalarRecord, TypeRecord } from "./type-record.ts";

export function leafSchema(type: ScalarRecord | EnumRecord): JsonSchema {
  if (type.kind === "enum") {
    const notes = type.values.filter(({ description }) => description).slice(0, 60);
    const lines = notes.map(({ name, description }) => `${name}: ${short(description ?? "", 120)}`);
    return withDescription(
      { type: "string", enum: type.values.map(({ name }) => name) },
      [type.description, ...lines].filter(Boolean).join("\n"),
    );
  }
  const builtIn = builtIns.get(type.name);
  if (builtIn) return { ...builtIn };
  const about = [type.description ?? `Custom scalar ${type.name}.`, type.specifiedBy].filter(Boolean).join(" ");
  return withDescription(customSchema(type.name), about);
}

/** A value that may also be null. */
export function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.enum))
    return { ...schema, type: [schema.type, "null"], enum: [...(schema.enum as unknown[]), null] };
  if (typeof schema.type === "string") return { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.type)) return { ...schema, type: [...(schema.type as unknown[]), "null"] };
  if (schema.$ref === undefined && schema.anyOf === undefined) return schema;
  const { description, ...rest } = schema;
  return { anyOf: [rest, { type: "null" }], ...(description === undefined ? {} : { description }) };
}

/** `make` gives the schema of the named type; lists and null go around it. */
export function wrappedSchema(type: string, make: (name: string) => JsonSchema): JsonSchema {
  if (type.endsWith("!")) return bareSchema(type.slice(0, -1), make);
  return orNull(bareSchema(type, make));
}

const bareSchema = (type: string, make: (name: string) => JsonSchema): JsonSchema =>
  type.startsWith("[") ? { type: "array", items: wrappedSchema(type.slice(1, -1), make) } : make(type);

export const withDescription = (schema: JsonSchema, description: string | undefined): JsonSchema =>
  description ? { ...schema, description: short(description, 1_000) } : schema;

export const short = (text: string, length: number): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
};

export const isLeaf = (type: TypeRecord | undefined): type is ScalarRecord | EnumRecord =>
  type?.kind === "scalar" || type?.kind === "enum";

const builtIns = new Map<string, JsonSchema>([
  ["String", { type: "string" }],
  ["ID", { type: "string" }],
  ["Int", { type: "integer" }],
  ["Float", { type: "number" }],
  ["Boolean", { type: "boolean" }],
]);

function customSchema(name: string): JsonSchema {
  if (/^date_?time|^timestamptz$|iso8601/i.test(name)) return { type: "string", format: "date-time" };
  if (/^date$/i.test(name)) return { type: "string", format: "date" };
  if (/^(uri|url)$/i.test(name)) return { type: "string", format: "uri" };
  if (/^(uuid|guid)$/i.test(name)) return { type: "string", format: "uuid" };
  if (
    /(string|html|markdown|email|uri|url|datetime|date|time|objectid|base64|remote|certificate|color|timestamp)$/i.test(
      name,
    )
  )
    return { type: "string" };
  if (/^(big_?int|long|decimal|big_?decimal|money|int64|uint64|numeric|bigserial|int8|float8)$/i.test(name))
    return { type: ["string", "number"] };
  return {};
}
