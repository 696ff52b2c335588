/**
 * The `select` of a call as GraphQL text. It may be text, or lists and objects of names. What comes out is always exactly one
 * selection set, printed from its AST: text that tries to close the field and open another operation does not parse as one.
 */
import { AppError } from "@executor/contracts/error";
import { Kind, OperationTypeNode, print } from "graphql";
import { parseDocument } from "./check-document.ts";

export function readSelect(select: unknown, key: string): string {
  const text = typeof select === "string" ? braced(select) : written(select, key, 0);
  const { definitions } = parseDocument(text, key);
  const [operation] = definitions;
  const isOne =
    definitions.length === 1 &&
    operation?.kind === Kind.OPERATION_DEFINITION &&
    operation.operation === OperationTypeNode.QUERY &&
    operation.name === undefined &&
    (operation.variableDefinitions ?? []).length === 0 &&
    (operation.directives ?? []).length === 0;
  if (!isOne) throw invalid(key, 'must be one selection, such as "{ id title }", with nothing before or after it.');
  return print(operation.selectionSet);
}

const maxDepth = 30;
const isName = (text: string): boolean => /^[_A-Za-z][_0-9A-Za-z]*$/.test(text);
const isFragment = (text: string): boolean => /^\.\.\.\s*on\s+[_A-Za-z][_0-9A-Za-z]*$/.test(text);

function braced(text: string): string {
  const trimmed = text.replace(/^\uFEFF/, "").trim();
  return trimmed.startsWith("{") ? trimmed : `{ ${trimmed}\n}`;
}

/** `["id", { author: ["login"] }]` and `{ id: true, author: { login: true } }`. */
function written(select: unknown, key: string, depth: number): string {
  if (depth > maxDepth) throw invalid(key, `nests deeper than ${maxDepth} levels.`);
  if (Array.isArray(select)) {
    const parts = select.map((part: unknown) =>
      typeof part === "string" ? named(part, key) : inner(part, key, depth),
    );
    return `{ ${parts.join(" ")} }`;
  }
  return `{ ${inner(select, key, depth)} }`;
}

function inner(select: unknown, key: string, depth: number): string {
  if (typeof select !== "object" || select === null || Array.isArray(select))
    throw invalid(key, 'must be text, or names in lists and objects: ["id", { "author": ["login"] }].');
  const parts = Object.entries(select).map(([name, value]: [string, unknown]) => {
    if (value === false || value === null) return "";
    if (isFragment(name)) return `${name} ${written(value, key, depth + 1)}`;
    return value === true ? named(name, key) : `${named(name, key)} ${written(value, key, depth + 1)}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

function named(name: string, key: string): string {
  if (!isName(name)) throw invalid(key, `has ${JSON.stringify(name.slice(0, 60))}, which is no name of a field.`);
  return name;
}

const invalid = (key: string, why: string): AppError => new AppError("call.input_invalid", `${key} ${why}`);
