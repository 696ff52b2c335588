/**
 * A GraphQL schema as plain data: one JSON text per type, so that one field can be described or called without touching the
 * thousand types it has nothing to do with. Types are referred to as GraphQL writes them: `[User!]!`.
 */
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isScalarType,
  isUnionType,
  print,
  type ConstValueNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
} from "graphql";

export type TypeRecord = ScalarRecord | EnumRecord | InputRecord | ObjectRecord | InterfaceRecord | UnionRecord;
interface Named {
  name: string;
  description?: string;
}
export interface ScalarRecord extends Named {
  kind: "scalar";
  specifiedBy?: string;
}
export interface EnumRecord extends Named {
  kind: "enum";
  values: (Named & { deprecated?: string })[];
}
export interface InputRecord extends Named {
  kind: "input";
  fields: InputValueRecord[];
  oneOf?: true;
}
export interface ObjectRecord extends Named {
  kind: "object";
  fields: FieldRecord[];
  interfaces: string[];
}
export interface InterfaceRecord extends Named {
  kind: "interface";
  fields: FieldRecord[];
  interfaces: string[];
  /** Objects that implement it. */
  members: string[];
}
export interface UnionRecord extends Named {
  kind: "union";
  members: string[];
}
export interface FieldRecord extends Named {
  type: string;
  args?: InputValueRecord[];
  deprecated?: string;
}
/** An argument, or a field of an input type. `fallback` is its default as GraphQL writes it. */
export interface InputValueRecord extends Named {
  type: string;
  fallback?: string;
  deprecated?: string;
}

/** Finds a type by its name; undefined for what the schema does not have. */
export type TypeLookup = (name: string) => TypeRecord | undefined;

export function recordSchema(schema: GraphQLSchema): TypeRecord[] {
  return Object.values(schema.getTypeMap())
    .filter((type) => !isIntrospectionType(type))
    .map((type) => recordType(schema, type));
}

/** `[User!]!` is about `User`. */
export const namedTypeOf = (type: string): string => type.replaceAll(/[[\]!]/g, "");
export const isRequired = (value: InputValueRecord): boolean =>
  value.type.endsWith("!") && value.fallback === undefined;

function recordType(schema: GraphQLSchema, type: GraphQLNamedType): TypeRecord {
  const named = { name: type.name, ...described(type) };
  if (isScalarType(type))
    return { kind: "scalar", ...named, ...(type.specifiedByURL ? { specifiedBy: type.specifiedByURL } : {}) };
  if (isEnumType(type)) {
    const values = type.getValues().map((value) => ({ name: value.name, ...described(value), ...deprecated(value) }));
    return { kind: "enum", ...named, values };
  }
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).map(recordInputValue);
    return { kind: "input", ...named, fields, ...(type.isOneOf ? { oneOf: true as const } : {}) };
  }
  if (isUnionType(type)) return { kind: "union", ...named, members: type.getTypes().map(({ name }) => name) };
  const fields = Object.values(type.getFields()).map(recordField);
  const interfaces = type.getInterfaces().map(({ name }) => name);
  if (isObjectType(type)) return { kind: "object", ...named, fields, interfaces };
  if (!isInterfaceType(type)) throw new TypeError("a type of no known kind");
  return {
    kind: "interface",
    ...named,
    fields,
    interfaces,
    members: schema.getPossibleTypes(type).map(({ name }) => name),
  };
}

function recordField(field: GraphQLField<unknown, unknown>): FieldRecord {
  const args = field.args.map(recordInputValue);
  return {
    name: field.name,
    ...described(field),
    type: String(field.type),
    ...(args.length > 0 ? { args } : {}),
    ...deprecated(field),
  };
}

function recordInputValue(value: GraphQLArgument | GraphQLInputField): InputValueRecord {
  const fallback = defaultText(value);
  return {
    name: value.name,
    ...described(value),
    type: String(value.type),
    ...(fallback === undefined ? {} : { fallback }),
    ...deprecated(value),
  };
}

function defaultText(value: GraphQLArgument | GraphQLInputField): string | undefined {
  const literal: ConstValueNode | undefined = value.default?.literal ?? value.astNode?.defaultValue;
  if (literal) return print(literal);
  if (value.default === undefined && value.defaultValue === undefined) return undefined;
  return JSON.stringify(value.default?.value ?? value.defaultValue ?? null);
}

const described = (of: { description?: string | null }): { description?: string } =>
  of.description ? { description: of.description } : {};
const deprecated = (of: { deprecationReason?: string | null }): { deprecated?: string } =>
  of.deprecationReason == null ? {} : { deprecated: of.deprecationReason };
