/**
 * application/x-www-form-urlencoded: each property by the style of its encoding; without one, lists repeat their name and
 * objects go as JSON (OpenAPI 3.1.1), unless they stand in a style that can nest.
 */
import type { CompiledContent } from "./compile-body.ts";
import { formEncode } from "./percent-encode.ts";
import { isComposite, writePairs } from "./write-param.ts";

/** A list is written with its indexes as names. Null when it is a single value. */
export function writeForm(content: Pick<CompiledContent, "encoding">, value: unknown): string | null {
  if (!isComposite(value)) return null;
  return Object.entries(value)
    .flatMap(([name, item]) =>
      Array.isArray(value)
        ? writePairs({ name, style: "deepObject", explode: true }, item, formEncode)
        : formPairs(content, name, item),
    )
    .map(([name, text]) => `${name}=${text}`)
    .join("&");
}

function formPairs(content: Pick<CompiledContent, "encoding">, name: string, value: unknown) {
  const encoding = content.encoding.get(name);
  const isPlainObject = isComposite(value) && !Array.isArray(value);
  if (isPlainObject && encoding?.style === undefined)
    return [[formEncode(name), formEncode(JSON.stringify(value))] as const];
  if (encoding?.contentType?.includes("json") && encoding.style === undefined && isComposite(value))
    return [[formEncode(name), formEncode(JSON.stringify(value))] as const];
  const style = encoding?.style ?? "form";
  return writePairs({ name, style, explode: encoding?.explode ?? style === "form" }, value, formEncode);
}
