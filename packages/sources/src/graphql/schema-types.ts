/**
 * The types of an opened index. A record is parsed when somebody asks for it, an input type is built when something is checked
 * against it, and the whole schema only when a selection or a document must be validated. Each is kept once made.
 */
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLFloat,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  parseConstValue,
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLType,
} from "graphql";
import type { GraphqlMeta } from "./index-schema.ts";
import type { FieldRecord, InputValueRecord, TypeLookup, TypeRecord } from "./type-record.ts";

export interface SchemaTypes {
  find: TypeLookup;
  inputType(type: string): GraphQLInputType;
  schema(): GraphQLSchema;
}

export function openSchemaTypes(details: string, meta: GraphqlMeta): SchemaTypes {
  const table = JSON.parse(details.slice(meta.typesAt, meta.typesAt + meta.typesLength)) as Record<
    string,
    [number, number]
  >;
  const records = new Map<string, TypeRecord>();
  const find: TypeLookup = (name) => {
    const known = records.get(name);
    if (known || !Object.hasOwn(table, name)) return known;
    const [at, length] = table[name] as [number, number];
    const record = JSON.parse(details.slice(at, at + length)) as TypeRecord;
    records.set(name, record);
    return record;
  };
  const build = createBuilder(find);
  let schema: GraphQLSchema | undefined;
  return {
    find,
    inputType: (type) => build(type) as GraphQLInputType,
    schema: () => (schema ??= buildSchema(Object.keys(table), meta, build)),
  };
}

type Build = (type: string) => GraphQLType;

function buildSchema(names: readonly string[], meta: GraphqlMeta, build: Build): GraphQLSchema {
  const root = (name: string | null): GraphQLObjectType | undefined =>
    name === null ? undefined : (build(name) as GraphQLObjectType);
  return new GraphQLSchema({
    query: root(meta.roots.query),
    mutation: root(meta.roots.mutation),
    types: names.map((name) => build(name) as GraphQLNamedType),
    // It was read from a schema that holds together; checking all of it again takes longer than building it.
    assumeValid: true,
  });
}

const specified = new Map<string, GraphQLNamedType>(
  [GraphQLString, GraphQLID, GraphQLInt, GraphQLFloat, GraphQLBoolean].map((type) => [type.name, type]),
);

function createBuilder(find: TypeLookup): Build {
  const built = new Map<string, GraphQLNamedType>(specified);
  const build = (type: string): GraphQLType => {
    if (type.endsWith("!")) return new GraphQLNonNull(build(type.slice(0, -1)) as never);
    if (type.startsWith("[")) return new GraphQLList(build(type.slice(1, -1)) as never);
    let named = built.get(type);
    if (!named) {
      named = buildNamed(find(type) ?? { kind: "scalar", name: type }, build);
      built.set(type, named);
    }
    return named;
  };
  return build;
}

/** Fields are thunks: nothing a type refers to is built before it is looked at. */
function buildNamed(record: TypeRecord, build: Build): GraphQLNamedType {
  const { name } = record;
  const many = <T>(names: readonly string[]): T[] => names.map((each) => build(each) as T);
  switch (record.kind) {
    case "scalar":
      return new GraphQLScalarType({ name });
    case "enum":
      return new GraphQLEnumType({ name, values: Object.fromEntries(record.values.map((value) => [value.name, {}])) });
    case "input":
      return new GraphQLInputObjectType({
        name,
        isOneOf: record.oneOf === true,
        fields: () => inputConfigs(record.fields, build),
      });
    case "union":
      return new GraphQLUnionType({ name, types: () => many(record.members) });
    case "object":
      return new GraphQLObjectType({
        name,
        interfaces: () => many(record.interfaces),
        fields: () => fieldConfigs(record.fields, build),
      });
    case "interface":
      return new GraphQLInterfaceType({
        name,
        interfaces: () => many(record.interfaces),
        fields: () => fieldConfigs(record.fields, build),
      });
  }
}

type FieldConfigs = Record<string, GraphQLFieldConfig<unknown, unknown>>;
const fieldConfigs = (fields: readonly FieldRecord[], build: Build): FieldConfigs =>
  Object.fromEntries(
    fields.map((field) => [
      field.name,
      { type: build(field.type) as GraphQLOutputType, args: inputConfigs(field.args ?? [], build) },
    ]),
  );

const inputConfigs = (values: readonly InputValueRecord[], build: Build): Record<string, GraphQLArgumentConfig> =>
  Object.fromEntries(
    values.map((value) => [
      value.name,
      {
        type: build(value.type) as GraphQLInputType,
        ...(value.fallback === undefined
          ? {}
          : { default: { literal: parseConstValue(value.fallback, { noLocation: true }) } }),
      },
    ]),
  );
