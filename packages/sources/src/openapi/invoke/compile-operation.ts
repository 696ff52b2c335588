/**
 * What is known of an operation before any input comes, worked out once: a call that comes often costs little.
 * Kept as long as the operation's record itself lives; the record is never changed.
 */
import type { Operation, Param, Resolve } from "../operation.ts";
import { compileBody, type CompiledBody } from "./compile-body.ts";

export interface CompiledOperation {
  /** Literal texts and parameters in turn. */
  path: readonly (string | Param)[];
  /** What the document wrote behind a `?` in the path. */
  fixedQuery: string;
  byArg: ReadonlyMap<string, Param>;
  body: CompiledBody | null;
  accept: string;
  /** Every name an input may use. */
  names: readonly string[];
}

/** Chooses among the body's media types; no parameter can be named so, as their names are documented ones. */
export const CONTENT_TYPE_ARG = "$contentType";

export function compileOperation(operation: Operation, resolve: Resolve): CompiledOperation {
  const known = compiled.get(operation);
  if (known !== undefined) return known;
  const made = compile(operation, resolve);
  compiled.set(operation, made);
  return made;
}

const compiled = new WeakMap<Operation, CompiledOperation>();

function compile(operation: Operation, resolve: Resolve): CompiledOperation {
  const byArg = new Map(operation.params.map((param) => [param.arg, param]));
  const body =
    operation.body === null || operation.body.contents.length === 0 ? null : compileBody(operation.body, resolve);
  const { path, query } = splitPath(operation.path);
  const names = new Set([...byArg.keys(), ...(body === null ? [] : [...(body.fields ?? []), "body"])]);
  return {
    path: pathPieces(path, operation.params),
    fixedQuery: query,
    byArg,
    body,
    accept: acceptOf(operation),
    names: [...names],
  };
}

/** Some documents tell operations of one URL apart by a query or a fragment in the path; a fragment is never sent. */
function splitPath(template: string): { path: string; query: string } {
  const [sent = ""] = template.split("#", 1);
  const at = sent.indexOf("?");
  const path = at === -1 ? sent : sent.slice(0, at);
  // Without the slash, a path could continue the host.
  return { path: path.startsWith("/") ? path : `/${path}`, query: at === -1 ? "" : sent.slice(at + 1) };
}

function pathPieces(path: string, params: readonly Param[]): (string | Param)[] {
  const byName = new Map(params.filter((param) => param.in === "path").map((param) => [param.name, param]));
  const paramOf = (piece: string): Param | undefined =>
    piece.startsWith("{") ? byName.get(piece.slice(1, -1)) : undefined;
  return path.split(/(\{[^{}]+\})/).map((piece) => paramOf(piece) ?? literal(piece));
}

/** Characters that no URL may hold are encoded; what is encoded already stays. */
const literal = (text: string): string =>
  text.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gu, (char) => encodeURIComponent(char.toWellFormed()));

function acceptOf(operation: Operation): string {
  const types = new Set<string>();
  for (const { status, contentType } of operation.responses)
    if (contentType !== null && /^(2|default)/i.test(status) && MEDIA_RANGE.test(contentType)) types.add(contentType);
  types.delete("*/*");
  const ranked = [...types].toSorted((a, b) => Number(isJson(b)) - Number(isJson(a))).slice(0, 6);
  return [...(ranked.length === 0 ? ["application/json"] : ranked), "*/*;q=0.5"].join(", ");
}

const MEDIA_RANGE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(\s*;\s*[\w-]+=("[^"\r\n]*"|[\w.+-]+))*$/;
const isJson = (type: string): boolean => /[/+]json(;|$)/.test(type);
