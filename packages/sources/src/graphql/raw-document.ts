/**
 * A whole document, taken apart for the gate and put together again for the server. What is sent is printed from the very
 * operation whose root fields were gated, with the fragments it uses and nothing else; so nothing that hides in the rest of the
 * text (a second operation, a comment, an unused fragment) can run. What cannot be taken apart is refused.
 */
import { AppError } from "@executor/contracts/error";
import type { GatePath } from "@executor/core/ports/source";
import {
  Kind,
  OperationTypeNode,
  print,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";
import { parseDocument } from "./check-document.ts";
import type { GraphqlMeta, RootOperation } from "./index-schema.ts";

export interface RawDocument {
  operation: RootOperation;
  /** Of the chosen operation; aliases resolved, each field once. */
  rootFields: string[];
  /** The chosen operation and its fragments. */
  document: DocumentNode;
  operationName: string | null;
  variables: Readonly<Record<string, unknown>>;
}

export function readRawDocument(input: unknown): RawDocument {
  const { query, variables, operationName } = readInput(input);
  const parsed = parseDocument(query, "query");
  const { operations, fragments } = sortDefinitions(parsed);
  const chosen = chooseOperation(operations, operationName);
  if (chosen.operation === OperationTypeNode.SUBSCRIPTION)
    throw invalid("query is a subscription; only queries and mutations can be called.");
  const rootFields = collectRootFields(chosen.selectionSet, fragments);
  if (rootFields.length === 0) throw invalid("query has no fields at its root.");
  return {
    operation: chosen.operation,
    rootFields,
    document: { kind: Kind.DOCUMENT, definitions: [chosen, ...usedFragments(chosen, fragments)] },
    operationName: chosen.name?.value ?? null,
    variables,
  };
}

/** One per root field. Fields the schema does not have are refused here, before a person is asked about them. */
export function gateRawDocument(input: unknown, meta: GraphqlMeta): GatePath[] {
  const { operation, rootFields } = readRawDocument(input);
  const known = new Set(meta.fields[operation]);
  const renamed = new Map(meta.renamed[operation]);
  return rootFields.map((field) => {
    if (introspection.has(field)) return { name: `query.${field}`, effect: "safe" };
    if (!known.has(field)) throw invalid(`query asks for ${field}, which is no ${operation} field of this source.`);
    return { name: `${operation}.${renamed.get(field) ?? field}`, effect: operation === "query" ? "safe" : "unsafe" };
  });
}

export const printRawDocument = (raw: RawDocument): string => print(raw.document);

/** They tell about the schema only, on queries and mutations alike. */
const introspection = new Set(["__schema", "__type", "__typename"]);
const inputKeys = new Set(["query", "variables", "operationName"]);

function readInput(input: unknown) {
  if (!isRecord(input))
    throw invalid("The input must be { query: string, variables?: object, operationName?: string }.");
  const stranger = Object.keys(input).find((key) => !inputKeys.has(key));
  if (stranger !== undefined)
    throw invalid(`${stranger} is not an input here; variables of the document go into "variables".`);
  const { query, variables, operationName } = input;
  if (typeof query !== "string" || query.trim() === "") throw invalid("query must be the text of a GraphQL document.");
  if (variables !== undefined && variables !== null && !isRecord(variables))
    throw invalid("variables must be an object.");
  if (operationName !== undefined && operationName !== null && typeof operationName !== "string")
    throw invalid("operationName must be a string.");
  return { query, variables: variables ?? {}, operationName: operationName ?? null };
}

function sortDefinitions(document: DocumentNode) {
  const operations: OperationDefinitionNode[] = [];
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition);
    else if (definition.kind !== Kind.FRAGMENT_DEFINITION)
      throw invalid("query may hold operations and fragments only, no definitions of types.");
    // Two of one name: servers disagree about which one counts.
    else if (fragments.has(definition.name.value))
      throw invalid(`query has two fragments named ${definition.name.value}.`);
    else fragments.set(definition.name.value, definition);
  }
  return { operations, fragments };
}

function chooseOperation(
  operations: readonly OperationDefinitionNode[],
  wanted: string | null,
): OperationDefinitionNode {
  const names = operations.map((operation) => operation.name?.value);
  if (operations.length === 0) throw invalid("query has no operation.");
  if (operations.length > 1 && names.includes(undefined))
    throw invalid("query has several operations and one of them has no name; every one needs a name.");
  if (new Set(names).size !== names.length) throw invalid("query has two operations of the same name.");
  if (wanted === null || wanted === "") {
    if (operations.length > 1)
      throw invalid(`query has several operations: operationName must be one of ${names.join(", ")}.`);
    return operations[0] as OperationDefinitionNode;
  }
  const chosen = operations[names.indexOf(wanted)];
  if (!chosen) throw invalid(`query has no operation named ${wanted}.`);
  return chosen;
}

/**
 * Type conditions and @skip/@include are not looked at: a field that might run counts as one that runs.
 */
function collectRootFields(root: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>): string[] {
  const fields = new Set<string>();
  const seen = new Set<string>();
  const open: SelectionSetNode[] = [root];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const selection of next.selections) {
      if (selection.kind === Kind.FIELD) fields.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet);
      else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value);
        open.push(fragmentNamed(selection.name.value, fragments).selectionSet);
      }
    }
  }
  return [...fields];
}

function usedFragments(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const used = new Map<string, FragmentDefinitionNode>();
  const open: (OperationDefinitionNode | FragmentDefinitionNode)[] = [operation];
  for (let next = open.pop(); next; next = open.pop()) {
    visit(next, {
      FragmentSpread: ({ name }) => {
        if (used.has(name.value)) return;
        const fragment = fragmentNamed(name.value, fragments);
        used.set(name.value, fragment);
        open.push(fragment);
      },
    });
  }
  return used.values();
}

function fragmentNamed(name: string, fragments: ReadonlyMap<string, FragmentDefinitionNode>): FragmentDefinitionNode {
  const fragment = fragments.get(name);
  if (!fragment) throw invalid(`query uses a fragment ${name} that it does not define.`);
  return fragment;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const invalid = (detail: string): AppError => new AppError("call.input_invalid", detail);
