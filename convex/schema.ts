/**
 * The tables of core, as Convex wants them. Nothing is described here: columns, keys, indexes and who writes what are in
 * packages/core/src/store/tables.ts. Two indexes are Convex's own: `by_key` finds a row by its key, `by_head` feeds queueHead.
 */
import { type TableName, tables } from "@executor/core/store/tables";
import { defineSchema, defineTable, type GenericTableIndexes, type TableDefinition } from "convex/server";
import { type GenericValidator, v, type VObject } from "convex/values";

const validators: Record<string, GenericValidator> = {
  text: v.string(),
  int: v.number(),
  real: v.number(),
  // Optional, because a row may be older than its column; tx.ts reads it as null.
  "text?": v.optional(v.union(v.string(), v.null())),
  "int?": v.optional(v.union(v.number(), v.null())),
  "real?": v.optional(v.union(v.number(), v.null())),
};

interface Table {
  key: string;
  columns: Record<string, string>;
  indexes: Record<string, readonly string[]>;
}

/** As loose as tx.ts needs it: rows get their types from core, not from here. */
type Definition = TableDefinition<
  VObject<Record<string, string | number | null>, Record<string, GenericValidator>>,
  GenericTableIndexes
>;

function toConvex({ key, columns, indexes }: Table): Definition {
  const fields = Object.entries(columns).map(([name, kind]) => [name, validatorOf(kind)] as const);
  let definition = defineTable(Object.fromEntries(fields)).index("by_key", [key]) as Definition;
  for (const [name, [first, ...rest]] of Object.entries(indexes)) {
    if (first !== undefined) definition = definition.index(name, [first, ...rest]);
  }
  return definition;
}

function validatorOf(kind: string): GenericValidator {
  const validator = validators[kind];
  if (!validator) throw new Error(`convex/schema.ts does not know the column kind "${kind}"`);
  return validator;
}

const definitions = Object.fromEntries(
  Object.entries(tables).map(([name, table]) => [name, toConvex(table)]),
) as Record<TableName, Definition>;
definitions.tasks = definitions.tasks.index("by_head", ["status", "queuedAt"]);

export default defineSchema(definitions);
