/** Between the sample and the judge: what a place cannot hold is taken out of an input, and what is left is sorted by where it must arrive. */
import type { Operation } from "@executor/sources/openapi/operation";
import type { Meant } from "./check-request.ts";
import { isRecord } from "./sample-input.ts";

/** Headers take no letters beyond ASCII, and what a style uses as a separator cannot stand within its values. */
export function soften(operation: Operation, input: unknown): unknown {
  if (!isRecord(input)) return input;
  const softened = { ...input };
  for (const param of operation.params) {
    const value = softened[param.arg];
    if (value === undefined || param.contentType !== null) continue;
    const isList = typeof value === "object";
    // A pattern may allow what no path can hold.
    if (param.in === "path" && typeof value === "string" && /^\.{0,2}$/.test(value)) softened[param.arg] = "text";
    if (param.in === "path" && isEmpty(value)) softened[param.arg] = Array.isArray(value) ? ["text"] : { key: "text" };
    if (param.in === "header")
      softened[param.arg] = mapText(value, (text) => text.replace(/[^\x20-\x7e]/g, "e").replaceAll(",", "."));
    if (isList || param.style === "label")
      softened[param.arg] = mapText(softened[param.arg], (text) =>
        param.style === "label" || param.in === "header" || param.style.endsWith("Delimited") || param.in === "path"
          ? toWord(text)
          : text,
      );
  }
  const encoding = operation.body?.contents[0]?.encoding ?? {};
  for (const [name, { style }] of Object.entries(encoding))
    if (style?.endsWith("Delimited") && Array.isArray(softened[name])) softened[name] = mapText(softened[name], toWord);
  return softened;
}

const toWord = (text: string): string => text.replace(/[^A-Za-z0-9-]/g, "-");

/** Comes to nothing, and a path has no place for nothing. */
const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).every((item) => item === null);

function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
  return value;
}

export function meantBy(operation: Operation, input: unknown): Meant {
  const given = new Map(Object.entries(isRecord(input) ? input : {}));
  const params = new Map<string, unknown>();
  for (const param of operation.params) {
    params.set(`${param.in} ${param.name}`, given.get(param.arg));
    given.delete(param.arg);
  }
  given.delete("$contentType");
  const { body } = operation;
  if (body === null) return { params, body: undefined, allowedQuery: new Set() };
  if (body.fields === null) return { params, body: given.get("body"), allowedQuery: new Set() };
  const fields = Object.fromEntries(given);
  // A body that is required and has no required property goes as an empty object.
  const isSent = given.size > 0 || body.required;
  return { params, body: isSent ? fields : undefined, allowedQuery: new Set() };
}
