/** What is known of an operation's body before any input comes: the format of each media type, its properties, its files. */
import type { JsonSchema } from "@executor/contracts/tool";
import type { Body, BodyContent, Resolve } from "../operation.ts";
import { followed, isBinary, itemsOf, objectFacts } from "./schema-facts.ts";

export type BodyFormat = "json" | "form" | "multipart" | "xml" | "text" | "binary";
type PropertyEncoding = BodyContent["encoding"][string];

export interface CompiledContent {
  contentType: string;
  format: BodyFormat;
  schema: JsonSchema;
  resolve: Resolve;
  encoding: ReadonlyMap<string, PropertyEncoding>;
  required: ReadonlySet<string>;
  /** Properties that are bytes, or lists of them. */
  files: ReadonlySet<string>;
  /** Properties that are declared as objects: `base64` in them is a property like any other. */
  objects: ReadonlySet<string>;
  allowsMore: boolean;
  describesObject: boolean;
}

export interface CompiledBody {
  required: boolean;
  fields: ReadonlySet<string> | null;
  contents: readonly CompiledContent[];
}

export function compileBody(body: Body, resolve: Resolve): CompiledBody {
  return {
    required: body.required,
    fields: body.fields === null ? null : new Set(body.fields),
    contents: body.contents.map((content) => compileContent(content, resolve)),
  };
}

function compileContent(content: BodyContent, resolve: Resolve): CompiledContent {
  const facts = objectFacts(content.schema, resolve);
  const names = [...facts.properties];
  const type = followed(content.schema, resolve)["type"];
  const describesObject = type === "object" || facts.properties.size > 0;
  const format = formatOf(content.contentType.toLowerCase(), content.schema, resolve, describesObject);
  return {
    contentType: content.contentType === "*/*" ? (ANY_TYPE[format] ?? "*/*") : content.contentType,
    format,
    schema: content.schema,
    resolve,
    encoding: new Map(Object.entries(content.encoding)),
    required: facts.required,
    files: new Set(names.filter(([, schema]) => isFile(schema, resolve)).map(([name]) => name)),
    objects: new Set(
      names.filter(([, schema]) => objectFacts(schema, resolve).properties.has("base64")).map(([name]) => name),
    ),
    allowsMore: facts.allowsMore,
    describesObject,
  };
}

/** A range cannot be sent: what goes where any type is taken. */
const ANY_TYPE: { [format: string]: string | undefined } = { json: "application/json", text: "text/plain" };

const isFile = (schema: JsonSchema, resolve: Resolve): boolean =>
  isBinary(schema, resolve) || isBinary(itemsOf(schema, resolve), resolve);

/** `contentType` in lower case. */
export function formatOf(
  contentType: string,
  schema: JsonSchema,
  resolve: Resolve,
  describesObject: boolean,
): BodyFormat {
  const type = contentType.split(";")[0]?.trim() ?? "";
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type.startsWith("multipart/")) return "multipart";
  if (LINES.test(type)) return "text";
  if (type.endsWith("/json") || type.endsWith("+json")) return "json";
  if (isBinary(schema, resolve)) return "binary";
  if (type === "*/*") return describesObject || followed(schema, resolve)["type"] !== "string" ? "json" : "text";
  if (type.endsWith("/xml") || type.endsWith("+xml")) return "xml";
  if (type.startsWith("text/") || TEXTUAL.test(type)) return "text";
  if (BYTES.test(type)) return "binary";
  // A media type of their own making: what the schema says decides.
  return followed(schema, resolve)["type"] === "string" ? "text" : describesObject ? "json" : "binary";
}

const LINES = /(ndjson|jsonl|json-seq|jsonlines|x-json-stream)$/;
const TEXTUAL = /^application\/(graphql|javascript|ecmascript|x-javascript|sql|sparql|jwt|toml|.*(yaml|yml))/;
const BYTES =
  /^(image|audio|video|font|model)\/|^application\/(octet-stream|zip|gzip|pdf|x-tar|.*zip|vnd\.openxml|msword|x-protobuf|protobuf)/;
