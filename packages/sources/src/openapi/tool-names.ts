/**
 * Gives every operation its tool name, `<tag>.<operation>`. A name is a contract: policies and saved code hold it, so the rule
 * may be added to but what it gives for a document may not change.
 *
 * 1. Tag: the first tag that leaves something when made snake case; else the first segment of the path that is no placeholder,
 *    no version and not `api` or `rest`; else `default`.
 * 2. Operation: the operationId in snake case, without the tag's words in front where it repeats them (`issues/list-for-repo`
 *    below `issues` is `list_for_repo`); without an id, method and path: `GET /users/{id}` is `get_users_by_id`.
 * 3. Snake case: accents are taken off, everything but ASCII letters and digits parts words, and so do the humps of camelCase.
 *    What starts with a digit gets `_` in front; more than 60 characters are cut and get a hash; reserved words get `_` behind.
 * 4. Several operations with one name: the one whose "METHOD path" sorts first keeps it. The others get `_<method>` where no two
 *    of them share a method, else `_<hash of "METHOD path">`. Neither depends on other operations or on their order.
 */
import { createHash } from "node:crypto";

export interface NamedOperation {
  /** Upper case. */
  method: string;
  path: string;
  operationId: string | null;
  tags: readonly string[];
}

/** Names in the order of the operations. `onCollision` is told of every name that had to be changed. */
export function nameTools(
  operations: readonly NamedOperation[],
  onCollision: (operation: NamedOperation, wanted: string, name: string) => void,
): string[] {
  const wanted = operations.map(nameOperation);
  const groups = new Map<string, number[]>();
  for (const [at, name] of wanted.entries()) {
    const group = groups.get(name);
    if (group) group.push(at);
    else groups.set(name, [at]);
  }
  if (groups.size === wanted.length) return wanted;

  const names = [...wanted];
  const taken = new Set(groups.keys());
  for (const [name, group] of groups) {
    if (group.length === 1) continue;
    const ordered = group.toSorted((a, b) => compare(place(operations[a]!), place(operations[b]!)));
    const methods = new Set(ordered.map((at) => operations[at]!.method));
    for (const at of ordered.slice(1)) {
      const operation = operations[at]!;
      names[at] = freeName(name, operation, methods.size === ordered.length, taken);
      onCollision(operation, name, names[at]);
    }
  }
  return names;
}

/** The name before collisions are looked at. */
export function nameOperation(operation: NamedOperation): string {
  const tag = tagWords(operation);
  const id = operation.operationId === null ? [] : toWords(operation.operationId);
  const repeats = id.length > tag.length && tag.every((word, at) => id[at] === word);
  const words = repeats ? id.slice(tag.length) : id;
  return `${toSegment(tag)}.${toSegment(words.length > 0 ? words : placeWords(operation))}`;
}

/** Lower-case words of any text: `getHTTPStatus-v2` is get, http, status, v2. */
export function toWords(text: string): string[] {
  const plain = ascii.test(text) ? text : text.normalize("NFKD").replace(/\p{M}/gu, "");
  return (
    plain
      .slice(0, maxText)
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      // The end of an abbreviation: HTTPStatus is HTTP Status, but URLs stays one word.
      .replace(/([A-Z])([A-Z](?!s(?![a-z]))[a-z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}

const ascii = /^[\x00-\x7f]*$/;
/** An id is looked at no further; what is cut off still counts in its hash through method and path. */
const maxText = 2_000;
const maxSegment = 60;

/** A name that `await`, JSON or a proxy would ask for by itself, or that every object or function has. */
const reserved = new Set(
  "then catch finally constructor prototype proto apply call bind arguments caller length name tojson tostring valueof tolocalestring hasownproperty isprototypeof propertyisenumerable".split(
    " ",
  ),
);

function tagWords(operation: NamedOperation): string[] {
  for (const tag of operation.tags) {
    const words = toWords(tag);
    if (words.length > 0) return words;
  }
  for (const segment of operation.path.split("/")) {
    if (segment === "" || segment.includes("{") || noise.test(segment)) continue;
    const words = toWords(segment);
    if (words.length > 0) return words;
  }
  return ["default"];
}

const noise = /^(?:api|rest|v?\d+(?:[._-]?[a-z]*\d+)*)$/i;

function placeWords({ method, path }: NamedOperation): string[] {
  const words = [...toWords(method)];
  for (const part of path.split(/(\{[^{}]*\})/)) {
    const inner = toWords(part);
    if (inner.length > 0) words.push(...(part.startsWith("{") ? ["by", ...inner] : inner));
  }
  return words.length > 1 ? words : [...words, "root"];
}

function toSegment(words: readonly string[]): string {
  const joined = words.join("_");
  const name = /^[0-9]/.test(joined) ? `_${joined}` : joined;
  if (name.length > maxSegment) return `${name.slice(0, maxSegment - 9)}_${shortHash(name, 8)}`;
  return reserved.has(name) ? `${name}_` : name;
}

function freeName(name: string, operation: NamedOperation, byMethod: boolean, taken: Set<string>): string {
  const candidates = byMethod ? [`${name}_${toWords(operation.method).join("_")}`] : [];
  const hashed = `${name}_${shortHash(place(operation), 6)}`;
  candidates.push(hashed);
  for (let count = 2; count < 1_000; count++) candidates.push(`${hashed}_${count}`);
  const free = candidates.find((candidate) => !taken.has(candidate)) ?? `${hashed}_${taken.size}`;
  taken.add(free);
  return free;
}

const place = (operation: NamedOperation): string => `${operation.method} ${operation.path}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const shortHash = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);
