/**
 * Sorts one flat input into parameters and body. Names what is unknown, missing or given twice; the values themselves are
 * looked at where they are written.
 */
import { nearestNames } from "@executor/core/tools/nearest-names";
import type { Param } from "../operation.ts";
import type { CompiledBody, CompiledContent } from "./compile-body.ts";
import { CONTENT_TYPE_ARG, type CompiledOperation } from "./compile-operation.ts";
import { isAbsent, isComposite } from "./write-param.ts";

export interface GatheredInput {
  params: Map<Param, unknown>;
  content: CompiledContent | null;
  /** Undefined: none is sent. */
  body: unknown;
}

export function gatherInput(operation: CompiledOperation, input: unknown, problems: string[]): GatheredInput {
  const gathered: GatheredInput = { params: new Map(), content: null, body: undefined };
  if (!isAbsent(input) && (!isComposite(input) || Array.isArray(input))) {
    problems.push(`the input must be an object, and ${Array.isArray(input) ? "a list" : `a ${typeof input}`} came`);
    return gathered;
  }
  const { body } = operation;
  const fields = new Map<string, unknown>();
  const unknown: string[] = [];
  let whole: unknown;
  let contentType: unknown;
  for (const [name, value] of Object.entries(input ?? {})) {
    const param = operation.byArg.get(name);
    if (param !== undefined) gathered.params.set(param, value);
    else if (body?.fields?.has(name)) fields.set(name, value);
    else if (name === "body" && body !== null) whole = value;
    else if (name === CONTENT_TYPE_ARG && body !== null) contentType = value;
    else if (body?.contents.some((content) => content.allowsMore)) fields.set(name, value);
    else unknown.push(name);
  }
  problems.push(...unknown.map((name) => unknownName(name, operation.names)));
  if (body !== null) gatherBody(gathered, body, { fields, whole, contentType }, problems);
  return gathered;
}

function unknownName(name: string, names: readonly string[]): string {
  const shown = JSON.stringify(name.slice(0, 100));
  const near = nearestNames(name, names);
  if (near.length > 0) return `${shown} is no input of this tool; did you mean ${near.join(" or ")}?`;
  const some = names.slice(0, 30).join(", ");
  return `${shown} is no input of this tool; it takes ${names.length === 0 ? "none" : some}${names.length > 30 ? ", …" : ""}`;
}

function gatherBody(
  gathered: GatheredInput,
  body: CompiledBody,
  given: { fields: Map<string, unknown>; whole: unknown; contentType: unknown },
  problems: string[],
): void {
  const { fields, whole, contentType } = given;
  if (whole !== undefined && fields.size > 0)
    problems.push(
      `give either body, or its fields beside the parameters (${[...fields.keys()].slice(0, 5).join(", ")}), not both`,
    );
  gathered.content = chooseContent(body, contentType, whole, problems);
  gathered.body = whole ?? (fields.size > 0 || whole === null ? toObject(fields, whole) : undefined);
  const { content } = gathered;
  if (content === null) return;
  if (gathered.body === undefined) {
    if (body.required && body.fields !== null && content.required.size === 0) gathered.body = Object.create(null);
    else if (body.required) problems.push(missingBody(body, content));
    return;
  }
  if (!isComposite(gathered.body) || Array.isArray(gathered.body)) return;
  for (const name of content.required)
    if (!Object.hasOwn(gathered.body, name)) problems.push(`${JSON.stringify(name)} is required (body)`);
}

/** Null is a body of its own only where it was given as one. */
function toObject(fields: Map<string, unknown>, whole: unknown): unknown {
  if (fields.size === 0) return whole;
  const object: Record<string, unknown> = Object.create(null);
  for (const [name, value] of fields) object[name] = value;
  return object;
}

function missingBody(body: CompiledBody, content: CompiledContent): string {
  const needed = [...content.required].slice(0, 20).join(", ");
  if (body.fields !== null && needed !== "") return `these are required (body): ${needed}`;
  return `body is required (${content.contentType})`;
}

function chooseContent(
  body: CompiledBody,
  wanted: unknown,
  whole: unknown,
  problems: string[],
): CompiledContent | null {
  const [best] = body.contents;
  if (!isAbsent(wanted)) {
    const found = body.contents.find((content) => content.contentType === wanted);
    if (found !== undefined) return found;
    problems.push(
      `${CONTENT_TYPE_ARG} must be one of ${body.contents.map((content) => content.contentType).join(", ")}`,
    );
  }
  // A text where the best would be an object: the first that is text is meant.
  if (typeof whole === "string" && best !== undefined && best.describesObject)
    return body.contents.find((content) => content.format === "text" || content.format === "xml") ?? best;
  return best ?? null;
}
