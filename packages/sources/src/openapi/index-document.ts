/**
 * Makes the index of a parsed document: names, descriptions and hashes of its tools, and all of its operations and the
 * components they reach, written once. Pure and in one pass; the same document gives the same bytes.
 * Nothing is dereferenced: an operation keeps its `$ref`s, tool-shape.ts follows them when somebody looks.
 *
 * `details` is: operations back to back, components back to back, then a table [ref, at, length, ref, at, length, …].
 */
import type { IndexedTool, SourceIndex } from "@executor/core/ports/source";
import type { BodyContent, Param, ResponseShape, Server } from "./operation.ts";
import { boundedWarnings } from "./bounded-warnings.ts";
import { describeOperation, keywordsOf } from "./describe-operation.ts";
import { hashComponents, sha256, type Component } from "./hash-components.ts";
import { documentUrls, lookUp, quote, record, text, type RawDocument } from "./raw-document.ts";
import { readOperations, type FoundOperation } from "./read-operations.ts";
import { isIdempotencyKey } from "./read-params.ts";
import { nameTools } from "./tool-names.ts";
import { newSchemaWriter, writeSchema, type SchemaWriter } from "./write-schema.ts";

/** What `open` needs besides the tools. */
export interface OpenapiMeta {
  format: 1;
  version: string;
  documentUrl: string | null;
  /** The document came from the internet: the servers it names must be there too. */
  isPublic?: boolean;
  servers: readonly Server[];
  /** The first ones of operations that have their own, each once. */
  operationServers?: readonly Server[];
  /** Where the table of components lies in `details`. */
  tableAt: number;
  tableLength: number;
}

export interface IndexInput {
  root: Record<string, unknown>;
  documentUrl: string | null;
  isPublic?: boolean;
  warnings: readonly string[];
}

export function indexDocument(input: IndexInput): Omit<SourceIndex, "document"> {
  const warnings = boundedWarnings();
  for (const warning of input.warnings) warnings.add(warning);
  const { root } = input;
  const urls = documentUrls(root, input.documentUrl);
  const document: RawDocument = { root, urls, warn: warnings.add };
  const { found, servers } = readOperations(document);
  const names = nameTools(found, (operation, wanted, name) =>
    warnings.add(`${operation.method} ${operation.path} is called ${name}, because another operation is ${wanted}.`),
  );

  const writer = newSchemaWriter(document);
  const reached = new Set<string>();
  const params = new Map<Param, Written>();
  const written = found.map((operation) => writeOperation(writer, params, operation, reached));
  const components = writeComponents(writer, reached);
  const hashes = hashComponents(components);

  const serversText = JSON.stringify(servers);
  let at = 0;
  const tools = found.map((operation, index): IndexedTool => {
    const { json, refs } = written[index] as Written;
    const description = describeOperation(operation);
    const place = operation.usesDocumentServers ? serversText : "";
    const reachedHashes = refs.map((ref) => hashes.get(ref) ?? "nowhere").join("\n");
    const hash = sha256(`${description}\n${place}\n${json}\n${reachedHashes}`).slice(0, 32);
    const tool = {
      name: names[index] as string,
      description,
      ...gateFacts(operation),
      hash,
      keywords: keywordsOf(operation),
      at,
      length: json.length,
    };
    at += json.length;
    return tool;
  });

  const table = tableOf(components, at);
  const details = [
    ...written.map(({ json }) => json),
    ...[...components.values()].map((part) => part.text),
    table.json,
  ].join("");
  const version = text(root.openapi) || text(root.swagger) || String(root.openapi ?? root.swagger ?? "");
  const meta: OpenapiMeta = {
    format: 1,
    version: version.slice(0, 20),
    documentUrl: urls.at(-1) ?? null,
    ...(input.isPublic === true && { isPublic: true }),
    servers,
    operationServers: ownServers(found),
    tableAt: table.at,
    tableLength: table.json.length,
  };
  const title = text(record(root.info).title).slice(0, 200);
  return { tools, warnings: warnings.list(), details, metaJson: JSON.stringify(meta), title };
}

function ownServers(found: readonly FoundOperation[]): Server[] {
  const own = new Map<string, Server>();
  for (const { usesDocumentServers, operation } of found) {
    const [server] = operation.servers;
    if (!usesDocumentServers && server) own.set(JSON.stringify(server), server);
  }
  return [...own.values()];
}

const safeMethods = new Set(["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"]);

function gateFacts({ method, operation }: FoundOperation): Pick<IndexedTool, "effect" | "idempotent" | "approval"> {
  const safe = safeMethods.has(method);
  const idempotent = operation.params.some((param) => isIdempotencyKey(param.in, param.name));
  return { effect: safe ? "safe" : "unsafe", idempotent, approval: safe ? "auto" : "required" };
}

/** An operation or a parameter, and the references in it. */
interface Written {
  json: string;
  refs: readonly string[];
}

/** As operation.ts says, without `servers` where they are the document's. */
function writeOperation(
  writer: SchemaWriter,
  params: Map<Param, Written>,
  found: FoundOperation,
  reached: Set<string>,
): Written {
  const { operation } = found;
  writer.refs = new Set();
  const { body } = operation;
  const parts = [
    `"method":${JSON.stringify(operation.method)},"path":${JSON.stringify(operation.path)}`,
    found.usesDocumentServers ? "" : `"servers":${JSON.stringify(operation.servers)}`,
    `"params":[${operation.params.map((param) => writeParam(writer, params, param)).join(",")}]`,
    `"body":${body === null ? "null" : writeWith(writer, { required: body.required, fields: body.fields, description: body.description }, "contents", body.contents)}`,
    `"responses":[${operation.responses.map((response) => writeResponse(writer, response)).join(",")}]`,
    operation.open ? '"open":true' : "",
    `"security":${JSON.stringify(operation.security)},"deprecated":${operation.deprecated}`,
  ];
  const json = `{${parts.filter((part) => part !== "").join(",")}}`;
  const refs = [...writer.refs];
  for (const ref of refs) reached.add(ref);
  return { json, refs };
}

/** Most operations share their parameters: each is written once. */
function writeParam(writer: SchemaWriter, known: Map<Param, Written>, param: Param): string {
  let written = known.get(param);
  if (written === undefined) {
    const { refs } = writer;
    writer.refs = new Set();
    const { schema, ...rest } = param;
    const json = `${JSON.stringify(rest).slice(0, -1)},"schema":${writeSchema(writer, schema)}}`;
    written = { json, refs: [...writer.refs] };
    writer.refs = refs;
    known.set(param, written);
  }
  for (const ref of written.refs) writer.refs.add(ref);
  return written.json;
}

function writeWith(writer: SchemaWriter, rest: object, key: string, contents: readonly BodyContent[]): string {
  const written = contents.map(
    ({ contentType, schema, encoding }) =>
      `{"contentType":${JSON.stringify(contentType)},"encoding":${JSON.stringify(encoding)},"schema":${writeSchema(writer, schema)}}`,
  );
  return `${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(key)}:[${written.join(",")}]}`;
}

function writeResponse(writer: SchemaWriter, { schema, ...rest }: ResponseShape): string {
  return `${JSON.stringify(rest).slice(0, -1)},"schema":${schema === null ? "null" : writeSchema(writer, schema)}}`;
}

/** Everything reachable, each once, in the order it is met. */
function writeComponents(writer: SchemaWriter, reached: Set<string>): Map<string, Component> {
  const components = new Map<string, Component>();
  // A set that grows while it is walked is walked to its new end.
  for (const ref of reached) {
    const target = lookUp(writer.document, ref);
    if (target === undefined || ref === "#") {
      writer.document.warn(`The reference ${quote(ref)} leads nowhere; anything is accepted in its place.`);
      continue;
    }
    writer.refs = new Set();
    const json = writeSchema(writer, target);
    components.set(ref, { text: json, refs: [...writer.refs] });
    for (const next of writer.refs) reached.add(next);
  }
  return components;
}

function tableOf(components: ReadonlyMap<string, Component>, start: number): { json: string; at: number } {
  const rows: (string | number)[] = [];
  let at = start;
  for (const [ref, { text: json }] of components) {
    rows.push(ref, at, json.length);
    at += json.length;
  }
  return { json: JSON.stringify(rows), at };
}
