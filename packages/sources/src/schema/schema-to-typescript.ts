/**
 * Writes JSON Schema as a TypeScript type, for people, models and the type checker.
 * Never longer than it is told to be: what does not fit is left out so that the type gets wider, never wrong. A property that
 * is missing from an object leaves an index signature behind; a nested type that is too deep becomes `unknown`.
 * Schemas come from strangers: cycles, wrong types and names like `__proto__` must come out as some valid type.
 */
import type { JsonSchema } from "@executor/contracts/tool";

export interface TypescriptOptions {
  /** What `$ref`s lead to, by the last part of the reference; default: the schema's own `$defs`. */
  defs?: Readonly<Record<string, unknown>>;
  maxLength?: number;
  /** Objects over several lines, indented by this; default: all on one line. */
  indent?: string;
  /** Written where something was left out; default `unknown`. A type checker that must let more pass says `any`. */
  elided?: string;
}

export function schemaToTypescript(schema: unknown, options: TypescriptOptions = {}): string {
  const maxLength = options.maxLength ?? 2_000;
  for (let depth = maxDepth; depth > 1; depth--) {
    const writer = newWriter(schema, options, depth, maxLength);
    const text = write(writer, schema, 0);
    if (!writer.cut && text.length <= maxLength) return text;
  }
  // Even the outermost object is too long: as many of its properties as there is room for.
  const text = write(newWriter(schema, options, 1, maxLength), schema, 0);
  return text.length <= maxLength ? text : (options.elided ?? "unknown");
}

/** One line: `(input: { owner: string; state?: "open" | "closed" }) => Promise<{ id: number }[]>`. */
export function signatureOf(
  shape: { inputSchema: JsonSchema; outputSchema: JsonSchema },
  options: { maxInput?: number; maxOutput?: number; elided?: string } = {},
): string {
  const { elided } = options;
  const input = schemaToTypescript(shape.inputSchema, { maxLength: options.maxInput ?? 600, elided });
  const output = schemaToTypescript(shape.outputSchema, { maxLength: options.maxOutput ?? 800, elided });
  return `(input${needsInput(shape.inputSchema) ? "" : "?"}: ${input}) => Promise<${output}>`;
}

/** Deeper nesting does not help a reader. */
const maxDepth = 6;
/** More alternatives than this say no more than their common type. */
const maxEnum = 24;

interface Writer {
  defs: Readonly<Record<string, unknown>>;
  root: unknown;
  depth: number;
  /** Characters left; what is written when there are none sets `cut`. */
  left: number;
  cut: boolean;
  indent: string | null;
  elided: string;
  /** References being written right now: meeting one again is a cycle. */
  open: string[];
  nesting: number;
}

function newWriter(schema: unknown, options: TypescriptOptions, depth: number, maxLength: number): Writer {
  const own = isRecord(schema) && isRecord(schema.$defs) ? schema.$defs : {};
  return {
    defs: options.defs ?? own,
    root: schema,
    depth,
    left: maxLength,
    cut: false,
    indent: options.indent ?? null,
    elided: options.elided ?? "unknown",
    open: [],
    nesting: 0,
  };
}

function needsInput(schema: JsonSchema): boolean {
  if (Array.isArray(schema.required) && schema.required.length > 0) return true;
  return schema.type !== undefined && schema.type !== "object";
}

function write(writer: Writer, schema: unknown, level: number): string {
  // Each step costs something, so that nesting that writes nothing (allOf in allOf) ends too.
  writer.left--;
  if (writer.left <= 0 || writer.nesting > 100) {
    writer.cut = true;
    return writer.elided;
  }
  if (schema === false) return spend(writer, "never");
  if (!isRecord(schema)) return spend(writer, writer.elided);
  writer.nesting++;
  const text =
    typeof schema.$ref === "string" ? writeRef(writer, schema.$ref, schema, level) : writeAll(writer, schema, level);
  writer.nesting--;
  return text;
}

function writeAll(writer: Writer, schema: Record<string, unknown>, level: number): string {
  const parts: string[] = [];
  const own = writeOwn(writer, schema, level);
  if (own !== null) parts.push(own);
  for (const member of list(schema.allOf)) parts.push(write(writer, member, level));
  for (const key of ["anyOf", "oneOf"]) {
    const members = list(schema[key]);
    if (members.length > 0) parts.push(unite(members.map((member) => write(writer, member, level))));
  }
  const text = intersect(parts, writer.elided);
  return schema.nullable === true ? unite([text, "null"]) : text;
}

function writeRef(writer: Writer, ref: string, schema: Record<string, unknown>, level: number): string {
  if (writer.open.includes(ref) || writer.open.length > 40) return spend(writer, writer.elided);
  const target = follow(writer, ref);
  if (target === undefined) return spend(writer, writer.elided);
  writer.open.push(ref);
  const text = write(writer, target, level);
  writer.open.pop();
  return schema.nullable === true ? unite([text, "null"]) : text;
}

/** By name among the definitions, else as a pointer into the schema itself. */
function follow(writer: Writer, ref: string): unknown {
  if (ref === "#") return writer.root;
  if (!ref.startsWith("#/")) return undefined;
  const parts = ref.slice(2).split("/").map(unescapePointer);
  const name = parts.at(-1) as string;
  if (parts.length === 2 && Object.hasOwn(writer.defs, name)) return writer.defs[name];
  let at: unknown = writer.root;
  for (const part of parts) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) {
      return Object.hasOwn(writer.defs, name) ? writer.defs[name] : undefined;
    }
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

function unescapePointer(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** What the schema says besides its combinations; null when that is nothing. */
function writeOwn(writer: Writer, schema: Record<string, unknown>, level: number): string | null {
  if (Object.hasOwn(schema, "const")) return spend(writer, literal(schema.const));
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    const values = schema.enum as unknown[];
    if (values.length <= maxEnum) return spend(writer, unite(values.map(literal)));
    return spend(writer, unite(values.map((value) => (value === null ? "null" : typeof value))));
  }
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length > 0) return unite(types.map((type) => writeType(writer, type, schema, level)));
  if (isRecord(schema.properties) || isRecord(schema.additionalProperties)) return writeObject(writer, schema, level);
  if (schema.items !== undefined || Array.isArray(schema.prefixItems)) return writeArray(writer, schema, level);
  return null;
}

function writeType(writer: Writer, type: unknown, schema: Record<string, unknown>, level: number): string {
  switch (type) {
    case "string":
    case "file":
      return spend(writer, "string");
    case "integer":
    case "number":
      return spend(writer, "number");
    case "boolean":
    case "null":
      return spend(writer, type);
    case "array":
      return writeArray(writer, schema, level);
    case "object":
      return writeObject(writer, schema, level);
    default:
      return spend(writer, writer.elided);
  }
}

function writeArray(writer: Writer, schema: Record<string, unknown>, level: number): string {
  if (Array.isArray(schema.prefixItems) && schema.prefixItems.length <= 10) {
    const items = schema.prefixItems.map((item) => write(writer, item, level));
    if (schema.items !== false) items.push(`...${arrayOf(write(writer, schema.items ?? true, level))}`);
    return `[${items.join(", ")}]`;
  }
  return arrayOf(schema.items === undefined ? spend(writer, writer.elided) : write(writer, schema.items, level));
}

function writeObject(writer: Writer, schema: Record<string, unknown>, level: number): string {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const names = Object.keys(properties);
  const more = schema.additionalProperties;
  if (names.length === 0) {
    if (more === false) return spend(writer, "{}");
    return isRecord(more) && level < writer.depth
      ? `Record<string, ${write(writer, more, level + 1)}>`
      : spend(writer, `Record<string, ${writer.elided}>`);
  }
  if (level >= writer.depth) return spend(writer, `Record<string, ${writer.elided}>`);
  return writeProperties(writer, schema, properties, level);
}

function writeProperties(
  writer: Writer,
  schema: Record<string, unknown>,
  properties: Record<string, unknown>,
  level: number,
): string {
  const required = new Set(list(schema.required));
  // Required ones first: they are what must not be left out.
  const names = Object.keys(properties).toSorted((a, b) => Number(required.has(b)) - Number(required.has(a)));
  const fields: string[] = [];
  let open = schema.additionalProperties === true || isRecord(schema.additionalProperties);
  for (const name of names) {
    const key = `${identifier.test(name) ? name : JSON.stringify(name)}${required.has(name) ? "" : "?"}: `;
    // Room for the index signature that stands for the rest.
    if (writer.left < key.length + 40) {
      writer.cut = true;
      open = true;
      break;
    }
    writer.left -= key.length + 2;
    const atDepth = level + 1 >= writer.depth ? shallow(properties[name]) : properties[name];
    fields.push(key + write(writer, atDepth, level + 1));
  }
  if (open) fields.push(`[key: string]: ${writer.elided}`);
  if (writer.indent === null) return `{ ${fields.join("; ")} }`;
  const pad = `\n${writer.indent.repeat(level + 1)}`;
  return `{${fields.map((field) => `${pad}${field};`).join("")}\n${writer.indent.repeat(level)}}`;
}

/** In the outermost object alone an array of objects says that it is one, and no more. */
function shallow(schema: unknown): unknown {
  if (!isRecord(schema) || schema.type !== "array" || !isRecord(schema.items)) return schema;
  return schema.items.type === "object" ? { type: "array", items: { type: "object" } } : schema;
}

function spend(writer: Writer, text: string): string {
  writer.left -= text.length;
  return text;
}

function literal(value: unknown): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return JSON.stringify(value);
  if (value === null) return "null";
  return Array.isArray(value) ? "unknown[]" : "Record<string, unknown>";
}

function unite(members: readonly string[]): string {
  const unique = [...new Set(members)];
  if (unique.includes("unknown")) return "unknown";
  if (unique.includes("any")) return "any";
  const real = unique.filter((member) => member !== "never");
  return real.length === 0 ? "never" : real.join(" | ");
}

function intersect(members: readonly string[], elided: string): string {
  const real = [...new Set(members)].filter((member) => member !== "unknown" && member !== "any");
  if (real.length === 0) return elided;
  if (real.length === 1) return real[0] as string;
  return real.map((member) => (hasBareUnion(member) ? `(${member})` : member)).join(" & ");
}

const arrayOf = (item: string): string => (hasBareUnion(item) || hasBare(item, " & ") ? `(${item})[]` : `${item}[]`);
const hasBareUnion = (type: string): boolean => hasBare(type, " | ");

/** Is the operator there outside of brackets and quotes? */
function hasBare(type: string, operator: string): boolean {
  let depth = 0;
  for (let at = 0; at < type.length; at++) {
    const char = type[at] as string;
    if (char === '"') at = endOfString(type, at);
    else if ("{[(<".includes(char)) depth++;
    else if ("}])>".includes(char)) depth--;
    else if (depth === 0 && type.startsWith(operator, at)) return true;
  }
  return false;
}

function endOfString(type: string, start: number): number {
  let at = start + 1;
  while (at < type.length && type[at] !== '"') at += type[at] === "\\" ? 2 : 1;
  return at;
}

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
