/**
 * What is known of an operation before any input comes, worked out once: a call that comes often costs little.
 * Kept as long as the operation's record itself lives; the record is never changed.
 */
import type { Operation, Param, Resolve } from "../operation.ts";
import { splitQuery, splitTemplate } from "../path-template.ts";
import { compileBody, type CompiledBody } from "./compile-body.ts";

export interface CompiledOperation {
  /** Literal texts and parameters in turn. */
  path: readonly (string | FilledGap)[];
  /** What the document wrote behind a `?` in the path; a parameter of that name takes its place when it is given. */
  fixedQuery: readonly FixedPair[];
  byArg: ReadonlyMap<string, Param>;
  body: CompiledBody | null;
  accept: string;
  /** Every name an input may use. */
  names: readonly string[];
}

export interface FilledGap {
  param: Param;
  /** The value may be several segments. */
  spans: boolean;
}

export interface FixedPair {
  text: string;
  param: Param | null;
  /** Holds a placeholder, which only the parameter can fill. */
  isGap: boolean;
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
  const { path, query } = splitQuery(operation.path);
  const names = new Set([...byArg.keys(), ...(body === null ? [] : [...(body.fields ?? []), "body"])]);
  return {
    // Without the slash, a path could continue the host. An empty one is the server's own address.
    path: pathPieces(path === "" || path.startsWith("/") ? path : `/${path}`, operation.params),
    fixedQuery: fixedPairs(query, operation.params),
    byArg,
    body,
    accept: acceptOf(operation),
    names: [...names],
  };
}

function fixedPairs(query: string, params: readonly Param[]): FixedPair[] {
  return query
    .split("&")
    .filter((text) => text !== "")
    .map((text) => {
      const name = text.split("=", 1)[0];
      const param = params.find((each) => each.in === "query" && each.name === name) ?? null;
      return { text: literal(text), param, isGap: /\{[^{}]*\}/.test(text) };
    });
}

function pathPieces(path: string, params: readonly Param[]): (string | FilledGap)[] {
  const byName = new Map(params.filter((param) => param.in === "path").map((param) => [param.name, param]));
  return splitTemplate(path).map((piece) => {
    if (typeof piece === "string") return literal(piece);
    const param = byName.get(piece.name) ?? byName.get(piece.text.slice(1, -1));
    return param === undefined ? literal(piece.text) : { param, spans: piece.spans };
  });
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
