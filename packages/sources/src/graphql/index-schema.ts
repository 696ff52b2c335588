/**
 * Makes the tools of a schema: one per query field, one per mutation field, and one for whole documents.
 * `details` holds every type once, every root field with its default selection, and a table that says where types lie.
 */
import { createHash } from "node:crypto";
import type { ReadProgress, IndexedTool, SourceIndex } from "@executor/core/ports/source";
import type { GraphQLSchema } from "graphql";
import { selectByDefault } from "./default-selection.ts";
import { short } from "./leaf-schema.ts";
import { createSchemaHasher, type SchemaHasher } from "./schema-hash.ts";
import { nameTools } from "./tool-names.ts";
import { namedTypeOf, recordSchema, type FieldRecord, type TypeLookup, type TypeRecord } from "./type-record.ts";

/** What lies in `details` for one tool. */
export interface FieldDetail {
  operation: RootOperation;
  field: FieldRecord;
  /** Empty: the result is a leaf. */
  selection: string;
}
export type RootOperation = "query" | "mutation";

/** What `open` knows before it has looked at `details`. */
export interface GraphqlMeta {
  /** Names of the root types. */
  roots: { query: string | null; mutation: string | null };
  /** Fields a document may have at its root, and the tools they are gated as where that is not their own name. */
  fields: { query: string[]; mutation: string[] };
  renamed: { query: [string, string][]; mutation: [string, string][] };
  /** Where the table of types lies in `details`: name to [at, length]. */
  typesAt: number;
  typesLength: number;
}

export const documentTool = "document";

export function indexSchema(
  schema: GraphQLSchema,
  onProgress: (progress: ReadProgress) => void = () => {},
): Omit<SourceIndex, "title" | "document"> {
  const records = recordSchema(schema);
  const byName = new Map(records.map((record) => [record.name, record]));
  const find: TypeLookup = (name) => byName.get(name);
  const texts = createTexts();
  const table = Object.fromEntries(records.map((record) => [record.name, texts.add(JSON.stringify(record))]));
  const [typesAt, typesLength] = texts.add(JSON.stringify(table));
  const roots = { query: schema.getQueryType()?.name ?? null, mutation: schema.getMutationType()?.name ?? null };
  const meta: GraphqlMeta = {
    roots,
    fields: { query: [], mutation: [] },
    renamed: { query: [], mutation: [] },
    typesAt,
    typesLength,
  };

  const hasher = createSchemaHasher(find);
  const tools: IndexedTool[] = [];
  const total = rootFields(find, roots.query).length + rootFields(find, roots.mutation).length;
  for (const operation of ["query", "mutation"] as const) {
    const fields = rootFields(find, roots[operation]);
    const names = nameTools(fields.map(({ name }) => name));
    for (const field of fields) {
      const name = names.get(field.name) as string;
      meta.fields[operation].push(field.name);
      if (name !== field.name) meta.renamed[operation].push([field.name, name]);
      tools.push(fieldTool({ operation, field, name, find, hasher, add: texts.add }));
    }
    onProgress({ phase: "indexing", done: tools.length, total });
  }
  tools.push(rawTool(texts.add, tools));
  return { tools, warnings: warningsOf(schema, meta), details: texts.text(), metaJson: JSON.stringify(meta) };
}

function createTexts() {
  const parts: string[] = [];
  let length = 0;
  return {
    add(text: string): [at: number, length: number] {
      parts.push(text);
      length += text.length;
      return [length - text.length, text.length];
    },
    text: () => parts.join(""),
  };
}

const rootFields = (find: TypeLookup, name: string | null): FieldRecord[] => {
  const type: TypeRecord | undefined = name === null ? undefined : find(name);
  return type?.kind === "object" ? type.fields : [];
};

interface FieldToolParts {
  operation: RootOperation;
  field: FieldRecord;
  name: string;
  find: TypeLookup;
  hasher: SchemaHasher;
  add(text: string): [number, number];
}

function fieldTool({ operation, field, name, find, hasher, add }: FieldToolParts): IndexedTool {
  const selection = selectByDefault(field.type, find);
  const detail: FieldDetail = { operation, field, selection: selection.text };
  const [at, length] = add(JSON.stringify(detail));
  const isQuery = operation === "query";
  return {
    name: `${operation}.${name}`,
    description: describe(operation, field),
    effect: isQuery ? "safe" : "unsafe",
    idempotent: false,
    approval: isQuery ? "auto" : "required",
    hash: hasher.hashField(operation, field, selection.text, selection.types),
    keywords: keywordsOf(operation, field, find),
    at,
    length,
  };
}

function describe(operation: RootOperation, field: FieldRecord): string {
  const about = field.description
    ? short(field.description, 900)
    : `GraphQL ${operation} ${field.name}: ${field.type}.`;
  return field.deprecated === undefined ? about : short(`${about} Deprecated: ${field.deprecated}`, 1_000);
}

function keywordsOf(operation: RootOperation, field: FieldRecord, find: TypeLookup): string {
  const args = field.args ?? [];
  // A mutation's arguments are mostly one `input`: the words to find it by are inside.
  const inner = args.flatMap((arg) => {
    const type = find(namedTypeOf(arg.type));
    return type?.kind === "input" ? type.fields.map(({ name }) => name) : [];
  });
  const words = ["graphql", operation, namedTypeOf(field.type), ...args.map(({ name }) => name), ...inner.slice(0, 30)];
  return [...new Set(words)].join(" ").slice(0, 600);
}

function rawTool(add: (text: string) => [number, number], tools: readonly IndexedTool[]): IndexedTool {
  const [at, length] = add(JSON.stringify({ operation: "document" }));
  return {
    name: documentTool,
    description:
      "Run a GraphQL document of your own: several fields, aliases and fragments in one request. Every root field in it needs the permission of its own tool.",
    effect: "unsafe",
    idempotent: false,
    approval: "required",
    // What a document can do is what the fields can do.
    hash: createHash("sha256")
      .update(tools.map(({ hash }) => hash).join())
      .digest("base64url")
      .slice(0, 27),
    keywords: "graphql query mutation raw operation variables fragment",
    at,
    length,
  };
}

function warningsOf(schema: GraphQLSchema, meta: GraphqlMeta): string[] {
  const subscriptions = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).length;
  const renamed = [...meta.renamed.query, ...meta.renamed.mutation];
  return [
    ...(subscriptions > 0 ? [`${subscriptions} subscription fields were left out: a call has one answer.`] : []),
    ...renamed
      .slice(0, 20)
      .map(([field, name]) => `The field ${field} is called ${name}, for its own name means something to JavaScript.`),
  ];
}
