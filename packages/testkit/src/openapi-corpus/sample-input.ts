/**
 * Makes an input from the schema a tool shows, as a model would: everything filled in, or only what is required. Knows nothing
 * of the document behind it, so a schema that shows too little gives a request that is wrong.
 */
export type Schema = Record<string, unknown>;
export interface SampleMode {
  /** Optional properties too. */
  full: boolean;
  /** Text that needs care in URLs and forms, where the schema leaves it free. */
  harsh: boolean;
  /** Which alternative of `oneOf` and `anyOf`. */
  branch: number;
  /** A text that a pattern accepts; without it patterns are not looked at. */
  fromPattern?(pattern: string): string | null;
}

interface State extends SampleMode {
  root: Schema;
  depth: number;
  /** Differs within a list. */
  nth: number;
}

const MAX_DEPTH = 6;
const HARSH = "a b&c=d/é?#%+";

export function sampleInput(schema: Schema, mode: SampleMode): unknown {
  return sample(schema, { ...mode, root: schema, depth: 0, nth: 0 });
}

function sample(given: unknown, state: State): unknown {
  const schema = plain(given, state, 0);
  if ("const" in schema) return schema.const;
  const choices = list(schema.enum).filter((item) => item !== null);
  if (choices.length > 0) return choices[state.nth % choices.length];
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return null;
  switch (typeOf(schema)) {
    case "string":
      return sampleText(schema, state);
    case "integer":
    case "number":
      return sampleNumber(schema, state);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return sampleList(schema, state);
    case "object":
      return sampleObject(schema, state);
    default:
      return "any";
  }
}

/** Without references, `allOf` and alternatives. */
function plain(given: unknown, state: State, steps: number): Schema {
  if (!isRecord(given) || steps > 40) return {};
  const { $ref, allOf, oneOf, anyOf, ...own } = given;
  let schema: Schema = own;
  if (typeof $ref === "string") schema = merge(plain(resolve(state.root, $ref), state, steps + 1), schema);
  for (const part of list(allOf)) schema = merge(schema, plain(part, state, steps + 1));
  for (const options of [list(oneOf), list(anyOf)]) {
    const usable = options.filter((option) => !(isRecord(option) && option.type === "null"));
    if (usable.length > 0) schema = merge(schema, plain(usable[state.branch % usable.length], state, steps + 1));
  }
  return schema;
}

function merge(a: Schema, b: Schema): Schema {
  return {
    ...a,
    ...b,
    ...(a.properties || b.properties ? { properties: { ...record(a.properties), ...record(b.properties) } } : {}),
    ...(a.required || b.required ? { required: [...new Set([...list(a.required), ...list(b.required)])] } : {}),
  };
}

function typeOf(schema: Schema): string | undefined {
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  const found = types.find((type) => type !== "null") ?? types[0];
  if (typeof found === "string") return found;
  if (schema.properties || schema.additionalProperties || schema.required) return "object";
  if (schema.items) return "array";
  if (schema.format || schema.pattern) return "string";
  return schema.minimum === undefined && schema.maximum === undefined ? undefined : "number";
}

const FORMATS: Record<string, string> = {
  "date-time": "2024-05-06T07:08:09Z",
  date: "2024-05-06",
  time: "07:08:09Z",
  duration: "P1D",
  email: "ada@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/a?b=c",
  url: "https://example.com/a?b=c",
  "uri-reference": "/a?b=c",
  "uri-template": "/a/{b}",
  uuid: "3fa85f64-5717-4562-b3fc-2c963f66afa6",
  byte: "aGVsbG8=",
  binary: "aGVsbG8=",
  base64: "aGVsbG8=",
  "json-pointer": "/a",
  regex: "a+",
  int32: "1",
  int64: "1",
};

function sampleText(schema: Schema, state: State): string {
  const suffix = state.nth === 0 ? "" : String(state.nth);
  if (typeof schema.contentEncoding === "string" || schema.contentMediaType !== undefined) return "aGVsbG8=";
  if (typeof schema.pattern === "string") return fit(state.fromPattern?.(schema.pattern) ?? "text", schema);
  if (typeof schema.format === "string" && Object.hasOwn(FORMATS, schema.format))
    return fit(FORMATS[schema.format] as string, schema);
  return fit((state.harsh && schema.maxLength === undefined ? HARSH : "text") + suffix, schema);
}

function fit(text: string, { minLength, maxLength }: Schema): string {
  const least = typeof minLength === "number" ? Math.min(minLength, 10_000) : 0;
  const padded = text.padEnd(least, "x");
  return typeof maxLength === "number" && padded.length > maxLength ? padded.slice(0, maxLength) : padded;
}

function sampleNumber(schema: Schema, state: State): number {
  const number = (key: string): number | undefined =>
    typeof schema[key] === "number" ? (schema[key] as number) : undefined;
  const step = number("multipleOf") ?? (typeOf(schema) === "integer" ? 1 : 0.5);
  const least =
    number("minimum") ??
    (number("exclusiveMinimum") === undefined ? undefined : (number("exclusiveMinimum") as number) + step);
  const most =
    number("maximum") ??
    (number("exclusiveMaximum") === undefined ? undefined : (number("exclusiveMaximum") as number) - step);
  const wanted =
    least !== undefined
      ? Math.ceil(least / step) * step
      : most !== undefined && most < 1
        ? Math.floor(most / step) * step
        : step;
  const moved = wanted + state.nth * step;
  return most !== undefined && moved > most ? wanted : moved;
}

function sampleList(schema: Schema, state: State): unknown[] {
  if (state.depth > MAX_DEPTH) return [];
  const least = typeof schema.minItems === "number" ? Math.min(schema.minItems, 50) : 0;
  const most = typeof schema.maxItems === "number" ? schema.maxItems : 50;
  const count = Math.min(Math.max(least, state.full ? 2 : 1), Math.max(most, least));
  const items = Array.from({ length: count }, (_, nth) =>
    sample(schema.items, { ...state, depth: state.depth + 1, nth }),
  );
  const distinct = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
  return schema.uniqueItems === true || distinct.length >= least ? distinct : items;
}

function sampleObject(schema: Schema, state: State): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  const required = new Set(list(schema.required));
  const isDeep = state.depth >= MAX_DEPTH;
  const put = (name: string, value: unknown): unknown =>
    Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
  for (const [name, property] of Object.entries(record(schema.properties))) {
    const isWanted = required.has(name) || (state.full && state.depth < 3);
    if (!isWanted || state.depth > MAX_DEPTH * 2) continue;
    if (isDeep && !required.has(name)) continue;
    put(name, sample(property, { ...state, depth: state.depth + 1, nth: 0 }));
  }
  for (const name of required)
    if (typeof name === "string" && !Object.hasOwn(made, name) && state.depth <= MAX_DEPTH)
      put(name, sample(schema.additionalProperties, { ...state, depth: state.depth + 1 }));
  const least = typeof schema.minProperties === "number" ? schema.minProperties : 0;
  const extra = isRecord(schema.additionalProperties) ? schema.additionalProperties : {};
  const isOpen =
    isRecord(schema.additionalProperties) || (schema.properties === undefined && schema.additionalProperties !== false);
  const mayAdd = Object.keys(made).length === 0 && !isDeep && isOpen && (state.full || state.depth === 1);
  for (let nth = 0; nth < Math.max(mayAdd ? 1 : 0, least - Object.keys(made).length); nth++)
    put(`key${nth}`, sample(extra, { ...state, depth: state.depth + 1 }));
  return made;
}

function resolve(root: Schema, ref: string): unknown {
  return record(root.$defs)[ref.replace("#/$defs/", "")];
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
