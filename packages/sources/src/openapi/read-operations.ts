/**
 * Walks the paths of a document once and gives every operation in the one shape of operation.ts, with its schemas still as they
 * stand in the document. What is wrong with one operation costs that operation (and a warning), never the others.
 */
import { canSendMethod } from "../http/sendable-methods.ts";
import type { Operation, SecurityNeed, Server } from "./operation.ts";
import { deref, isRecord, list, quote, record, strings, text, type RawDocument } from "./raw-document.ts";
import { flatFields, readBody, readResponses, readSwaggerBody } from "./read-body.ts";
import { nameArgs, readParams, type ParamReader } from "./read-params.ts";
import { readSecurity, readServers, readSwaggerServers } from "./read-security.ts";
import type { NamedOperation } from "./tool-names.ts";

export interface FoundOperation extends NamedOperation {
  operation: Operation;
  summary: string;
  description: string;
  /** The servers are the document's own. */
  usesDocumentServers: boolean;
}

export interface FoundOperations {
  found: FoundOperation[];
  servers: Server[];
  skipped: number;
}

export function readOperations(document: RawDocument, max = 50_000): FoundOperations {
  const level = documentLevel(document);
  const found: FoundOperation[] = [];
  let skipped = 0;
  for (const [path, rawItem] of pathsOf(document)) {
    if (path.startsWith("x-")) continue;
    const item = pathItem(document, rawItem);
    if (!isRecord(item)) {
      document.warn(`The path ${quote(path)} holds no operations.`);
      continue;
    }
    for (const [method, raw] of methodsOf(item)) {
      if (!canSendMethod(method)) {
        document.warn(`${method} ${path} is left out: requests of this method cannot be sent.`);
        continue;
      }
      if (found.length >= max) {
        skipped++;
        continue;
      }
      try {
        const read = readOperation(level, path, item, method, raw);
        if (read) found.push(read);
      } catch (error) {
        document.warn(
          `${method} ${path} is left out: ${error instanceof Error ? error.message : "it cannot be read"}.`,
        );
      }
    }
  }
  if (skipped > 0) document.warn(`The document has more than ${max} operations; ${skipped} are left out.`);
  return { found, servers: level.servers, skipped };
}

/** Beside a `$ref`, a path may have operations of its own. */
function pathItem(document: RawDocument, raw: unknown): unknown {
  const item = deref(document, raw);
  if (item === raw || !isRecord(raw)) return item;
  const { $ref: _, ...own } = raw;
  return Object.keys(own).length === 0 ? item : { ...record(item), ...own };
}

interface Level {
  document: RawDocument;
  swagger: boolean;
  params: ParamReader;
  servers: Server[];
  schemes: Record<string, unknown>;
  security: SecurityNeed[][];
  consumes: string[];
  produces: string[];
}

/** Azure's documents keep paths with a query in a place of their own. */
function pathsOf({ root }: RawDocument): [string, unknown][] {
  const paths = record(root.paths);
  const more = Object.entries(record(root["x-ms-paths"])).filter(([path]) => !Object.hasOwn(paths, path));
  return [...Object.entries(paths), ...more];
}

function documentLevel(document: RawDocument): Level {
  const { root } = document;
  const swagger = root.swagger !== undefined && root.openapi === undefined;
  const schemes = record(swagger ? root.securityDefinitions : record(root.components).securitySchemes);
  return {
    document,
    swagger,
    params: { document, swagger, cache: new Map() },
    servers: swagger ? readSwaggerServers(document) : (readServers(root.servers) ?? [{ url: "/", variables: {} }]),
    schemes,
    security: readSecurity(document, root.security, schemes),
    consumes: strings(root.consumes),
    produces: strings(root.produces),
  };
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

function methodsOf(item: Record<string, unknown>): [string, unknown][] {
  const found: [string, unknown][] = [];
  for (const key of Object.keys(item)) {
    if (methods.includes(key.toLowerCase())) found.push([key.toUpperCase(), item[key]]);
  }
  // 3.2: methods the specification has no field for, spelled as they are sent.
  for (const [method, raw] of Object.entries(record(item.additionalOperations))) {
    if (/^[A-Za-z][A-Za-z0-9_-]{0,30}$/.test(method)) found.push([method.toUpperCase(), raw]);
  }
  return found;
}

function readOperation(
  level: Level,
  path: string,
  item: Record<string, unknown>,
  method: string,
  value: unknown,
): FoundOperation | null {
  const { document, swagger } = level;
  const raw = deref(document, value);
  if (!isRecord(raw)) {
    document.warn(`${method} ${path} is no operation and is left out.`);
    return null;
  }
  const { params, bodyParams } = readParams(level.params, path, [item.parameters, raw.parameters]);
  const consumes = Array.isArray(raw.consumes) ? strings(raw.consumes) : level.consumes;
  const declared = swagger ? readSwaggerBody(document, bodyParams, consumes) : readBody(document, raw.requestBody);
  const body = declared !== null && bodiless.has(method) ? null : declared;
  if (body !== declared)
    document.warn(`${method} ${path} declares a body, which requests of this method do not carry; it is left out.`);
  const named = nameArgs(params, body !== null);
  const servers = swagger ? swaggerSchemes(document, raw) : (readServers(raw.servers) ?? readServers(item.servers));
  const produces = swagger ? (Array.isArray(raw.produces) ? strings(raw.produces) : level.produces) : null;
  return {
    method,
    path,
    operationId: name(raw.operationId),
    tags: list(raw.tags)
      .map(name)
      .filter((tag) => tag !== null),
    summary: text(raw.summary) || text(item.summary),
    description: text(raw.description) || text(item.description),
    usesDocumentServers: servers === null,
    operation: {
      method,
      path,
      servers: servers ?? level.servers,
      params: named,
      body: body && { ...body, fields: flatFields(document, body, named) },
      responses: readResponses(document, raw.responses, produces),
      security: Array.isArray(raw.security) ? readSecurity(document, raw.security, level.schemes) : level.security,
      // Of a document without schemes an empty list says nothing.
      ...(Array.isArray(raw.security) &&
        raw.security.length === 0 &&
        Object.keys(level.schemes).length > 0 && { open: true as const }),
      deprecated: raw.deprecated === true,
    },
  };
}

/** YAML makes numbers and dates of some names. */
const name = (value: unknown): string | null =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : null;

const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Swagger 2 lets an operation choose other schemes than the document. */
function swaggerSchemes(document: RawDocument, raw: Record<string, unknown>): Server[] | null {
  return Array.isArray(raw.schemes) && raw.schemes.length > 0
    ? readSwaggerServers({ ...document, root: { ...document.root, schemes: raw.schemes } })
    : null;
}
