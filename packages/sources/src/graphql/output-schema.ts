/** JSON Schema of what a selection gives back. `__typename` of a fixed type is a constant; members of a union become alternatives. */
import type { JsonSchema } from "@executor/contracts/tool";
import { Kind, parse, type SelectionSetNode } from "graphql";
import { isLeaf, leafSchema, withDescription, wrappedSchema } from "./leaf-schema.ts";
import { type TypeLookup, type TypeRecord } from "./type-record.ts";

/** `selection` is one that selectByDefault made: fields, inline fragments, no aliases. */
export function outputSchemaOf(type: string, selection: string, find: TypeLookup): JsonSchema {
  if (selection === "") return leafOf(type, find);
  const [operation] = parse(selection, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) return {};
  return wrappedSchema(type, (name) => selectedSchema(operation.selectionSet, find(name), find));
}

const leafOf = (type: string, find: TypeLookup): JsonSchema =>
  wrappedSchema(type, (name) => {
    const found = find(name);
    return isLeaf(found) ? leafSchema(found) : {};
  });

function selectedSchema(selection: SelectionSetNode, type: TypeRecord | undefined, find: TypeLookup): JsonSchema {
  if (type === undefined) return {};
  const own = selectedFields(selection, type, find);
  const members = selection.selections.flatMap((node) => {
    const member = node.kind === Kind.INLINE_FRAGMENT ? find(node.typeCondition?.name.value ?? "") : undefined;
    return node.kind === Kind.INLINE_FRAGMENT && member
      ? [{ member, fields: selectedFields(node.selectionSet, member, find) }]
      : [];
  });
  if (members.length === 0) return objectOf(own);
  const alternatives = members.map(({ member, fields }) =>
    objectOf(new Map([...own, ["__typename", { const: member.name }], ...fields])),
  );
  const every = "members" in type && type.members.length === members.length;
  return { anyOf: every ? alternatives : [...alternatives, objectOf(own)] };
}

function selectedFields(selection: SelectionSetNode, type: TypeRecord, find: TypeLookup): Map<string, JsonSchema> {
  const fields = new Map<string, JsonSchema>();
  for (const node of selection.selections) {
    if (node.kind !== Kind.FIELD) continue;
    const name = node.name.value;
    if (name === "__typename") {
      fields.set(name, type.kind === "object" ? { const: type.name } : { type: "string" });
      continue;
    }
    const field =
      "fields" in type && type.kind !== "input" ? type.fields.find((each) => each.name === name) : undefined;
    if (!field) continue;
    const inner = node.selectionSet;
    const schema = inner
      ? wrappedSchema(field.type, (named) => selectedSchema(inner, find(named), find))
      : leafOf(field.type, find);
    fields.set(name, withDescription(schema, field.description ?? (schema.description as string | undefined)));
  }
  return fields;
}

/** Open: with `select` other fields come back, and code that reads them must still typecheck. */
const objectOf = (fields: Map<string, JsonSchema>): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(fields),
  required: [...fields.keys()],
  additionalProperties: true,
});
