/**
 * Gets the schema of a source: by introspection, or from SDL that is given as text, as a URL or as a file.
 * Servers differ in what they let be asked about: a query they refuse is asked again with less in it.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { AppError } from "@executor/contracts/error";
import type { ReadIo, SourceSpec } from "@executor/core/ports/source";
import {
  buildASTSchema,
  buildClientSchema,
  getIntrospectionQuery,
  Kind,
  parse,
  printSchema,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  type IntrospectionQuery,
} from "graphql";
import { createRedactor } from "../http/redact.ts";
import { messageOf, parseObject, postOperation, redact, withAuth, type Endpoint } from "./send-operation.ts";

export interface ReadSchema {
  schema: GraphQLSchema;
  document: { contentType: string; text: string };
}

export async function readSchema(source: SourceSpec, io: ReadIo): Promise<ReadSchema> {
  const { spec } = source.definition;
  if (spec === undefined) return introspect(endpointOf(source), io);
  if (typeof spec !== "string")
    throw new AppError("source.invalid", "spec of a graphql source must be text: SDL, or where it lies.");
  const text = await readSpec(source, spec.trim(), io);
  io.onProgress({ phase: "parsing" });
  // What introspection gives is also saved as a file by many tools.
  const json = text.trimStart().startsWith("{") ? parseObject(text) : null;
  return json
    ? fromIntrospection(json)
    : { schema: buildSdl(text), document: { contentType: "application/graphql", text } };
}

export function endpointOf({ definition }: SourceSpec): Endpoint {
  const url = definition.url ?? definition.baseUrl;
  if (url === undefined || !URL.canParse(url))
    throw new AppError(
      "source.invalid",
      "url must be the address of the GraphQL endpoint, such as https://api.example.com/graphql.",
    );
  return { url, headers: definition.headers ?? {} };
}

async function readSpec(source: SourceSpec, spec: string, io: ReadIo): Promise<string> {
  if (/^file:/i.test(spec)) {
    if (!io.mayReachMachine)
      throw new AppError(
        "source.admin_only",
        "spec is a file: URL; only env config and installation admins may read files of this machine.",
      );
    return readFile(fileURLToPath(spec), "utf8").catch(() => {
      throw unreadable("The file of spec cannot be read.");
    });
  }
  if (!/^https?:\/\/\S+$/i.test(spec)) return spec;
  io.onProgress({ phase: "fetching" });
  // Secrets are for the endpoint: a document that lies elsewhere gets none.
  const endpoint = endpointOf(source);
  const isSameOrigin = new URL(spec).origin === new URL(endpoint.url).origin;
  const { url, headers, sensitive } = withAuth(
    { url: spec, headers: isSameOrigin ? endpoint.headers : {} },
    isSameOrigin ? io.auth : { parts: [], secrets: [] },
  );
  const response = await io.fetch(url, { headers, signal: io.signal, sensitive });
  if (!response.ok) throw unreadable(`The schema at spec answered with status ${response.status}.`);
  return withoutEchoes(await response.text(), io);
}

/** What is kept of a source must not hold the credential it was read with. Short secrets would tear holes into the schema. */
const SHORTEST_ECHO = 8;
const withoutEchoes = (text: string, { auth }: ReadIo): string =>
  createRedactor(auth.secrets.filter((secret) => secret.length >= SHORTEST_ECHO))(text);

const maxSdlTokens = 5_000_000;

function buildSdl(text: string): GraphQLSchema {
  try {
    const document = parse(text, { noLocation: true, maxTokens: maxSdlTokens });
    const schema = buildASTSchema(withBases(document), { assumeValid: true, assumeValidSDL: true });
    if (!schema.getQueryType() && !schema.getMutationType())
      throw new Error("It has neither a Query nor a Mutation type.");
    return schema;
  } catch (error) {
    throw unreadable(`spec is not a GraphQL schema. ${error instanceof Error ? error.message.slice(0, 500) : ""}`);
  }
}

/** Parts of a federated schema extend root types they do not define: the first extension becomes the definition. */
function withBases(document: DocumentNode): DocumentNode {
  const defined = new Set(
    document.definitions.flatMap((each) => (each.kind === Kind.OBJECT_TYPE_DEFINITION ? [each.name.value] : [])),
  );
  const definitions = document.definitions.map((each): DefinitionNode => {
    if (each.kind !== Kind.OBJECT_TYPE_EXTENSION || defined.has(each.name.value)) return each;
    defined.add(each.name.value);
    return { ...each, kind: Kind.OBJECT_TYPE_DEFINITION };
  });
  return { ...document, definitions };
}

/** From what new servers know to what every server knows. */
const questions = [
  {
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  },
  { specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true },
  { specifiedByUrl: false, directiveIsRepeatable: false },
  { specifiedByUrl: false, directiveIsRepeatable: false, typeDepth: 5 },
];

async function introspect(endpoint: Endpoint, io: ReadIo): Promise<ReadSchema> {
  let why = "";
  for (const options of questions) {
    io.onProgress({ phase: "fetching" });
    const query = getIntrospectionQuery({ descriptions: true, ...options });
    const answer = await postOperation(endpoint, { query, variables: {}, operationName: "IntrospectionQuery" }, io);
    const text = withoutEchoes(answer.text, io);
    if (answer.status === 401 || answer.status === 403)
      throw unreadable(
        `The endpoint answered introspection with status ${answer.status}: it needs a credential, or another one.`,
      );
    const body = parseObject(text);
    if (body !== null && hasSchema(body)) {
      io.onProgress({ phase: "parsing" });
      return fromIntrospection(body);
    }
    const errors = Array.isArray(body?.errors) ? (body.errors as unknown[]) : [];
    why = errors.length > 0 ? messageOf(errors) : `It answered with status ${answer.status} and no schema.`;
    // Only a refusal of the query itself can get better by asking for less.
    if (answer.status >= 500 || answer.status === 404 || body === null || isSwitchedOff(why)) break;
  }
  throw unreadable(
    `The endpoint did not answer introspection: ${redact(why, io.auth)} If introspection is switched off there, give the schema (SDL) as spec: its text or its URL.`,
  );
}

const isSwitchedOff = (why: string): boolean =>
  /introspection/i.test(why) && /disabled|not (allowed|enabled)|turned off/i.test(why);

const hasSchema = (body: Record<string, unknown> | null): boolean => {
  const data = body?.data;
  return (
    typeof data === "object" &&
    data !== null &&
    "__schema" in data &&
    typeof data.__schema === "object" &&
    data.__schema !== null
  );
};

function fromIntrospection(body: Record<string, unknown>): ReadSchema {
  try {
    const data = (Object.hasOwn(body, "data") ? body.data : body) as IntrospectionQuery;
    const schema = buildClientSchema(data, { assumeValid: true });
    return { schema, document: { contentType: "application/graphql", text: printSchema(schema) } };
  } catch (error) {
    throw unreadable(
      `What introspection gave is not a whole schema. ${error instanceof Error ? error.message.slice(0, 500) : ""}`,
    );
  }
}

const unreadable = (detail: string): AppError => new AppError("source.unreadable", detail);
