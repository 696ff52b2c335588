/**
 * Checks a person's answer against the JSON Schema of a question. Knows the little that questions use: type, enum,
 * const, properties, required, additionalProperties, items, and lengths. Other keywords are not looked at.
 */
type Schema = Record<string, unknown>;

/** What does not fit, each with its place; empty when all does. */
export function findMisfits(schema: Schema, value: unknown, at = "answer"): string[] {
  const misfits: string[] = [];
  const types = [schema["type"] ?? []].flat() as string[];
  if (types.length > 0 && !types.some((type) => hasType(type, value))) return [`${at}: must be ${types.join(" or ")}`];
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((option) => Bun.deepEquals(option, value, true)))
    misfits.push(`${at}: must be one of ${JSON.stringify(schema["enum"]).slice(0, 500)}`);
  if ("const" in schema && !Bun.deepEquals(schema["const"], value, true))
    misfits.push(`${at}: must be ${JSON.stringify(schema["const"]).slice(0, 500)}`);
  if (typeof value === "string") misfits.push(...checkLength(schema, value, at));
  if (Array.isArray(value) && isSchema(schema["items"]))
    for (const [index, item] of value.entries()) misfits.push(...findMisfits(schema["items"], item, `${at}.${index}`));
  if (isObject(value)) misfits.push(...checkObject(schema, value, at));
  return misfits.slice(0, 20);
}

function hasType(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function checkLength(schema: Schema, value: string, at: string): string[] {
  const { minLength, maxLength } = schema;
  if (typeof minLength === "number" && value.length < minLength)
    return [`${at}: must have at least ${minLength} characters`];
  if (typeof maxLength === "number" && value.length > maxLength)
    return [`${at}: must have at most ${maxLength} characters`];
  return [];
}

function checkObject(schema: Schema, value: Record<string, unknown>, at: string): string[] {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  const misfits = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name}: is required`);
  for (const [name, member] of Object.entries(value)) {
    const memberSchema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isSchema(memberSchema)) misfits.push(...findMisfits(memberSchema, member, `${at}.${name}`));
    else if (memberSchema === undefined && schema["additionalProperties"] === false)
      misfits.push(`${at}.${name}: is not asked for`);
  }
  return misfits;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isSchema = (value: unknown): value is Schema => isObject(value);
