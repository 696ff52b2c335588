/**
 * What a call asks for when it does not say: the leaves of the result and a short look at what hangs on it. Small on purpose:
 * every field more is one more that the server may refuse or charge for. Never a field with required arguments, never one
 * that looks like a secret, never more than `maxFields`. Must stay valid GraphQL on any schema.
 */
import { isRequired, namedTypeOf, type FieldRecord, type TypeLookup, type TypeRecord } from "./type-record.ts";

export interface DefaultSelection {
  /** `{ id title author { login } }`; empty when the result is a leaf. */
  text: string;
  /** Names of the composite types it goes through. */
  types: Set<string>;
}

export function selectByDefault(type: string, find: TypeLookup): DefaultSelection {
  const walk: Walk = { find, left: maxFields, types: new Set() };
  return { text: selectType(walk, namedTypeOf(type), "full", 0), types: walk.types };
}

const maxFields = 120;
const maxMembers = 12;
/** Payloads, connections and edges are looked through, but not for ever. */
const maxWrappers = 4;
const maxLeaves: Record<Level, number> = { full: 40, item: 20, summary: 8 };

/** full: the result itself; item: one of many; summary: what hangs on it. */
type Level = "full" | "item" | "summary";
interface Walk {
  find: TypeLookup;
  left: number;
  types: Set<string>;
}

function selectType(walk: Walk, name: string, level: Level, wrappers: number): string {
  const type = walk.find(name);
  if (!type || !isComposite(type)) return "";
  walk.types.add(name);
  if (type.kind === "object") return braced(selectFields(walk, type.fields, level, wrappers));
  return braced(selectAbstract(walk, type, level));
}

function selectFields(walk: Walk, fields: readonly FieldRecord[], level: Level, wrappers: number): string[] {
  const usable = fields.filter((field) => isUsable(field));
  if (isConnection(usable)) return selectConnection(walk, usable, wrappers);
  const leaves = usable.filter((field) => !isComposite(walk.find(namedTypeOf(field.type))));
  const chosen = takeLeaves(walk, leaves, level);
  if (level === "summary") return chosen;
  const nested = usable.filter((field) => isComposite(walk.find(namedTypeOf(field.type))));
  // A payload around the real thing: what is inside counts as the result.
  const isWrapper = leaves.length <= 3 && nested.length > 0 && nested.length <= 6 && wrappers < maxWrappers;
  for (const field of nested) {
    const inner = innerLevel(field, level, isWrapper);
    // Without a page size many servers refuse lists; with arguments a field is the caller's own business.
    if (walk.left <= 0 || (!isWrapper && (field.args ?? []).length > 0) || isPaged(walk, field, isWrapper)) continue;
    const text = selectType(walk, namedTypeOf(field.type), inner, wrappers + 1);
    if (text !== "") chosen.push(`${field.name} ${text}`);
  }
  return chosen;
}

function innerLevel(field: FieldRecord, level: Level, isWrapper: boolean): Level {
  if (!isWrapper) return "summary";
  return field.type.includes("[") ? "item" : level;
}

const isPaged = (walk: Walk, field: FieldRecord, isWrapper: boolean): boolean => {
  if ((field.args ?? []).some(({ name }) => name === "first" || name === "last")) return true;
  const type = walk.find(namedTypeOf(field.type));
  return !isWrapper && type?.kind === "object" && isConnection(type.fields);
};

const isConnection = (fields: readonly FieldRecord[]): boolean => {
  const names = new Set(fields.map(({ name }) => name));
  return (names.has("nodes") || names.has("edges")) && (names.has("pageInfo") || names.has("totalCount"));
};

function selectConnection(walk: Walk, fields: readonly FieldRecord[], wrappers: number): string[] {
  const chosen = takeLeaves(
    walk,
    fields.filter((field) => !isComposite(walk.find(namedTypeOf(field.type)))),
    "summary",
  );
  const page = fields.find(({ name }) => name === "pageInfo");
  const nodes = fields.find(({ name }) => name === "nodes") ?? fields.find(({ name }) => name === "edges");
  for (const field of [page, nodes]) {
    if (!field || wrappers >= maxWrappers) continue;
    const text =
      field.name === "edges"
        ? selectEdge(walk, field, wrappers)
        : selectType(walk, namedTypeOf(field.type), field === page ? "summary" : "item", wrappers + 1);
    if (text !== "") chosen.push(`${field.name} ${text}`);
  }
  return chosen;
}

function selectEdge(walk: Walk, edges: FieldRecord, wrappers: number): string {
  const type = walk.find(namedTypeOf(edges.type));
  if (type?.kind !== "object") return selectType(walk, namedTypeOf(edges.type), "item", wrappers + 1);
  walk.types.add(type.name);
  const usable = type.fields.filter((field) => isUsable(field));
  const chosen = takeLeaves(
    walk,
    usable.filter((field) => !isComposite(walk.find(namedTypeOf(field.type)))),
    "summary",
  );
  const node = usable.find(({ name }) => name === "node");
  const text = node ? selectType(walk, namedTypeOf(node.type), "item", wrappers + 1) : "";
  if (text !== "") chosen.push(`node ${text}`);
  return braced(chosen);
}

/** Of a union or interface: which one it is, what all have, and for a few members what is theirs alone. */
function selectAbstract(walk: Walk, type: Extract<TypeRecord, { members: string[] }>, level: Level): string[] {
  const shared = type.kind === "interface" ? type.fields.filter((field) => isUsable(field)) : [];
  const isLeaf = (field: FieldRecord): boolean => !isComposite(walk.find(namedTypeOf(field.type)));
  const chosen = ["__typename", ...takeLeaves(walk, shared.filter(isLeaf), level)];
  if (type.members.length > maxMembers || (level === "summary" && type.kind === "interface")) return chosen;
  // Two members may have a field of the same name and different types: GraphQL merges both into one, so only the first may stay.
  const types = new Map(shared.map((field) => [field.name, field.type]));
  for (const name of type.members) {
    const member = walk.find(name);
    if (member?.kind !== "object") continue;
    walk.types.add(name);
    const own = member.fields.filter(
      (field) =>
        isUsable(field) &&
        isLeaf(field) &&
        !shared.some((each) => each.name === field.name) &&
        (types.get(field.name) ?? field.type) === field.type,
    );
    const leaves = takeLeaves(walk, own, level === "summary" ? "summary" : "item");
    for (const field of own) if (leaves.includes(field.name)) types.set(field.name, field.type);
    if (leaves.length > 0) chosen.push(`... on ${name} ${braced(leaves)}`);
  }
  return chosen;
}

function takeLeaves(walk: Walk, leaves: readonly FieldRecord[], level: Level): string[] {
  const most = Math.min(maxLeaves[level], Math.max(walk.left, 0));
  // What tells one thing from another comes first where not everything fits; the order of the schema stays.
  const best = leaves.length <= most ? leaves : leaves.toSorted((a, b) => rank(a) - rank(b)).slice(0, most);
  walk.left -= best.length;
  return leaves.filter((field) => best.includes(field)).map(({ name }) => name);
}

const telling = [
  "id",
  "name",
  "title",
  "number",
  "key",
  "slug",
  "login",
  "username",
  "email",
  "url",
  "state",
  "status",
  "type",
  "body",
  "description",
  "createdAt",
  "updatedAt",
];
const rank = (field: FieldRecord): number => {
  const at = telling.indexOf(field.name);
  return at === -1 ? telling.length : at;
};

const isUsable = (field: FieldRecord): boolean =>
  field.deprecated === undefined &&
  !field.name.startsWith("__") &&
  !(field.args ?? []).some(isRequired) &&
  !isSecret(field.name);
/** Not the tokens that lead to the next page. */
const isSecret = (name: string): boolean => secretLike.test(name) && !/^(next|prev|page|continuation|sync)/i.test(name);
const secretLike = /token$|secret|password|passphrase|api_?key$|private_?key$|credential/i;

const isComposite = (
  type: TypeRecord | undefined,
): type is Extract<TypeRecord, { kind: "object" | "interface" | "union" }> =>
  type?.kind === "object" || type?.kind === "interface" || type?.kind === "union";
const braced = (fields: readonly string[]): string => `{ ${fields.length === 0 ? "__typename" : fields.join(" ")} }`;
