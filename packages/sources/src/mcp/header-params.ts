/**
 * `x-mcp-header` (revision 2026-07-28): a tool may say that an argument is sent as a header too. The SDK does the sending; this finds
 * what is wrong with such a wish, because a tool whose headers cannot be sent as it wants must not be offered. Looks at every
 * place of the schema without recursion: schemas come from strangers and may be deep.
 */
const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~\w-]{1,100}$/;
const TYPES = new Set(["string", "integer", "boolean"]);
const MAX_PLACES = 20_000;

interface Place {
  schema: object;
  /** Only `properties` lie between it and the root: its value can be found in any input. */
  isReachable: boolean;
  isRoot: boolean;
}

/** Null: nothing is wrong. */
export function findHeaderFault(inputSchema: object): string | null {
  const taken = new Set<string>();
  const open: Place[] = [{ schema: inputSchema, isReachable: true, isRoot: true }];
  for (let seen = 0; seen < MAX_PLACES; seen++) {
    const place = open.pop();
    if (!place) return null;
    const fault = Object.hasOwn(place.schema, KEY) ? faultOf(place, taken) : null;
    if (fault !== null) return fault;
    open.push(...placesBelow(place));
  }
  return null;
}

function faultOf({ schema, isReachable, isRoot }: Place, taken: Set<string>): string | null {
  const { [KEY]: name, type } = schema as { [KEY]?: unknown; type?: unknown };
  if (!isReachable || isRoot) return `${KEY} stands where no argument can be found`;
  if (typeof name !== "string" || !TOKEN.test(name)) return `${KEY} is no name of a header`;
  if (typeof type !== "string" || !TYPES.has(type))
    return `${KEY} stands at an argument that is no text, integer or yes/no`;
  if (taken.has(name.toLowerCase())) return `${KEY} ${name} is there twice`;
  taken.add(name.toLowerCase());
  return null;
}

function placesBelow({ schema, isReachable }: Place): Place[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (typeof value !== "object" || value === null || NOT_SCHEMAS.has(keyword)) return [];
    if (keyword === "properties") return objectsIn(value).map((each) => ({ schema: each, isReachable, isRoot: false }));
    const below = Array.isArray(value) || MAPS.has(keyword) ? objectsIn(value) : [value];
    return below.map((each) => ({ schema: each, isReachable: false, isRoot: false }));
  });
}

/** Their members are data: what looks like a keyword in them is none. */
const NOT_SCHEMAS = new Set(["default", "const", "enum", "examples", "example", "required", "type"]);
/** Their values are schemas, their names are not keywords. */
const MAPS = new Set(["patternProperties", "dependentSchemas", "$defs", "definitions"]);
const objectsIn = (value: object): object[] =>
  Object.values(value).filter((each): each is object => typeof each === "object" && each !== null);
