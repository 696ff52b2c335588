/**
 * Makes the request for one field: arguments are checked against their types and go as variables, never into the text.
 */
import { AppError } from "@executor/contracts/error";
import { nearestNames } from "@executor/core/tools/nearest-names";
import { validateInputValue } from "graphql";
import { parseDocument, validateDocument } from "./check-document.ts";
import type { FieldDetail } from "./index-schema.ts";
import { selectKey } from "./input-schema.ts";
import type { SchemaTypes } from "./schema-types.ts";
import { readSelect } from "./select-input.ts";
import type { GraphqlRequest } from "./send-operation.ts";
import { isRequired, type InputValueRecord } from "./type-record.ts";

export function prepareField(
  { operation, field, selection }: FieldDetail,
  input: unknown,
  types: SchemaTypes,
): GraphqlRequest {
  const args = field.args ?? [];
  const key = selectKey(args);
  const given = readInput(input, args, selection === "" ? null : key);
  const select = given.get(key);
  const variables = args.filter(({ name }) => given.has(name));
  for (const arg of args) checkArgument(arg, given, types);

  const chosen = select === undefined || select === null ? null : readSelect(select, key);
  const head = variables.map(({ name, type }) => `$${name}: ${type}`).join(", ");
  const passed = variables.map(({ name }) => `${name}: $${name}`).join(", ");
  const query = `${operation}${head && `(${head})`} { ${field.name}${passed && `(${passed})`} ${chosen ?? selection} }`;
  // The default selection fits by how it was made; what the caller wrote is checked.
  if (chosen !== null) validateDocument(types.schema(), parseDocument(query, key), key);
  return {
    query,
    variables: Object.fromEntries(variables.map(({ name }) => [name, given.get(name)])),
    operationName: null,
  };
}

function readInput(input: unknown, args: readonly InputValueRecord[], key: string | null): Map<string, unknown> {
  if (input === undefined || input === null) return new Map();
  if (typeof input !== "object" || Array.isArray(input)) throw invalid("The input must be an object of arguments.");
  const names = [...args.map(({ name }) => name), ...(key === null ? [] : [key])];
  const given = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  for (const name of given.keys()) {
    if (names.includes(name)) continue;
    const near = nearestNames(name, names);
    const hint =
      near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `It takes ${names.join(", ") || "no arguments"}.`;
    throw invalid(`${name.slice(0, 100)} is not an argument of this field. ${hint}`);
  }
  return given;
}

function checkArgument(arg: InputValueRecord, given: ReadonlyMap<string, unknown>, types: SchemaTypes): void {
  if (!given.has(arg.name)) {
    if (isRequired(arg)) throw invalid(`${arg.name} is required: ${arg.type}.`);
    return;
  }
  const problems: string[] = [];
  validateInputValue(given.get(arg.name), types.inputType(arg.type), (error, path) => {
    if (problems.length < 5) problems.push(`${[arg.name, ...path].join(".")}: ${error.message.slice(0, 500)}`);
  });
  if (problems.length > 0) throw invalid(problems.join(" "));
}

const invalid = (detail: string): AppError => new AppError("call.input_invalid", detail);
