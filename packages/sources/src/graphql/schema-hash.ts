/**
 * What a caller of a field relies on, as one digest: an approval is bound to it. It changes when the field changes, when any
 * input type its arguments can reach changes, or when the types of its default result do.
 */
import { createHash } from "node:crypto";
import { namedTypeOf, type FieldRecord, type TypeLookup, type TypeRecord } from "./type-record.ts";

export interface SchemaHasher {
  /** `resultTypes`: the composite types its default selection goes through. */
  hashField(operation: string, field: FieldRecord, selection: string, resultTypes: Iterable<string>): string;
}

export function createSchemaHasher(find: TypeLookup): SchemaHasher {
  const own = new Map<string, string>();
  const ownDigest = (name: string): string => {
    let known = own.get(name);
    if (known === undefined) own.set(name, (known = digest(JSON.stringify(find(name) ?? name))));
    return known;
  };
  const reach = createReach(find, ownDigest);
  return {
    hashField(operation, field, selection, resultTypes) {
      const inputs = (field.args ?? []).map((arg) => reach(namedTypeOf(arg.type)));
      const results = [...resultTypes].toSorted().map(ownDigest);
      return digest(JSON.stringify([operation, field, selection, inputs, results]));
    },
  };
}

/**
 * Digest of a type and all that it reaches. Input types refer to each other in circles, and a database's schema has thousands
 * of fields that all reach the same thousand types: strongly connected groups (Tarjan) make it one pass over all of them.
 */
function createReach(find: TypeLookup, ownDigest: (name: string) => string): (name: string) => string {
  const done = new Map<string, string>();
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];

  const finish = (name: string): void => {
    if (low.get(name) !== order.get(name)) return;
    const group = stack.splice(stack.lastIndexOf(name));
    const below = new Set(group.flatMap((member) => inputsOf(find(member))).flatMap((next) => done.get(next) ?? []));
    const sum = digest([...group.map(ownDigest).toSorted(), ...[...below].toSorted()].join());
    for (const member of group) done.set(member, sum);
  };

  return (start) => {
    // Not recursive: a chain of types may be as long as a stranger likes.
    const open: { name: string; next: string[] }[] = [];
    const enter = (name: string): void => {
      order.set(name, order.size);
      low.set(name, order.get(name) as number);
      stack.push(name);
      open.push({ name, next: inputsOf(find(name)) });
    };
    if (!done.has(start)) enter(start);
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const next = top.next.pop();
      if (next === undefined) {
        open.pop();
        const parent = open.at(-1)?.name;
        if (parent !== undefined) low.set(parent, Math.min(low.get(parent) as number, low.get(top.name) as number));
        finish(top.name);
      } else if (!order.has(next)) enter(next);
      else if (!done.has(next)) low.set(top.name, Math.min(low.get(top.name) as number, order.get(next) as number));
    }
    return done.get(start) as string;
  };
}

const inputsOf = (type: TypeRecord | undefined): string[] =>
  type?.kind === "input" ? type.fields.map((field) => namedTypeOf(field.type)) : [];
const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 27);
