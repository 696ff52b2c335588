/**
 * Names of tools made from names of fields. A GraphQL name is always an identifier, so it stays as it is; only names that mean
 * something to JavaScript objects and promises get a suffix. Must give the same name for the same field for ever.
 */

/** In the order of the fields; unique. */
export function nameTools(fields: readonly string[]): Map<string, string> {
  const taken = new Set(fields.filter((field) => !isHostile(field)));
  const names = new Map<string, string>();
  for (const field of fields) {
    let name = field;
    if (isHostile(field)) {
      name = `${field}_field`;
      for (let count = 2; taken.has(name); count++) name = `${field}_field_${count}`;
      taken.add(name);
    }
    names.set(field, name);
  }
  return names;
}

/** A property of this name is there before anybody put it, or makes an object look like a promise. */
const isHostile = (name: string): boolean =>
  name === "then" ||
  name === "toJSON" ||
  name === "prototype" ||
  name in Object.prototype ||
  name in Function.prototype;
