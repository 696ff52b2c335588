/**
 * XML from an object, by the `xml` hints of its schema (name, attribute, wrapped, prefix, namespace). For documents that know
 * XML bodies only; whoever needs more than these hints can say gives the XML as text.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { CompiledContent } from "./compile-body.ts";
import { followed, isSchema, objectFacts } from "./schema-facts.ts";
import { isAbsent, isComposite } from "./write-param.ts";
import type { Resolve } from "../operation.ts";

export function writeXml(content: CompiledContent, value: unknown): string {
  const ref = content.schema["$ref"];
  const fallback = typeof ref === "string" ? (ref.split("/").at(-1) ?? "root") : "root";
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(fallback, value, content.schema, content.resolve, 0)}`;
}

const MAX_DEPTH = 100;

function element(name: string, value: unknown, schema: unknown, resolve: Resolve, depth: number): string {
  if (isAbsent(value) || depth > MAX_DEPTH) return "";
  const plain = followed(schema, resolve);
  const hints = isSchema(plain["xml"]) ? plain["xml"] : {};
  if (Array.isArray(value)) {
    const items = plain["items"];
    const itemHints = followed(items, resolve)["xml"];
    const wrapped = hints["wrapped"] === true;
    const itemName =
      isSchema(itemHints) && typeof itemHints["name"] === "string"
        ? itemHints["name"]
        : wrapped
          ? tagName(name, hints)
          : name;
    const inner = value
      .map((item) => element(itemName, item, withoutName(items, resolve), resolve, depth + 1))
      .join("");
    return wrapped ? tag(tagName(name, hints), hints, "", inner) : inner;
  }
  if (!isComposite(value)) return tag(tagName(name, hints), hints, "", escaped(String(value)));
  const { properties } = objectFacts(plain, resolve);
  let attributes = "";
  let inner = "";
  for (const [key, item] of Object.entries(value)) {
    const property = properties.get(key) ?? {};
    const own = followed(property, resolve)["xml"];
    if (isSchema(own) && own["attribute"] === true && !isComposite(item) && !isAbsent(item))
      attributes += ` ${tagName(key, own)}="${escaped(String(item))}"`;
    else inner += element(key, item, property, resolve, depth + 1);
  }
  return tag(tagName(name, hints), hints, attributes, inner);
}

/** The list has used the name of its items already. */
function withoutName(items: unknown, resolve: Resolve): JsonSchema {
  const plain = followed(items, resolve);
  const hints = plain["xml"];
  return isSchema(hints) ? { ...plain, xml: { ...hints, name: undefined } } : plain;
}

function tagName(name: string, hints: JsonSchema): string {
  const own = typeof hints["name"] === "string" && hints["name"] !== "" ? hints["name"] : name;
  const local = own.replace(/[^\p{L}\p{N}_.:-]/gu, "_").replace(/^[^\p{L}_]/u, "_$&");
  return typeof hints["prefix"] === "string" && /^[\w-]+$/.test(hints["prefix"])
    ? `${hints["prefix"]}:${local}`
    : local;
}

function tag(name: string, hints: JsonSchema, attributes: string, inner: string): string {
  const prefix = typeof hints["prefix"] === "string" && /^[\w-]+$/.test(hints["prefix"]) ? `:${hints["prefix"]}` : "";
  const space = typeof hints["namespace"] === "string" ? ` xmlns${prefix}="${escaped(hints["namespace"])}"` : "";
  return `<${name}${space}${attributes}>${inner}</${name}>`;
}

const ENTITIES: { [char: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
