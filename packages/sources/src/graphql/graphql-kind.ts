/**
 * GraphQL endpoints as a kind of source. Reading makes an index of the schema (index-schema.ts); a call of a field becomes an
 * operation with variables (prepare-field.ts); a whole document is gated by every field at its root (raw-document.ts).
 */
import { AppError } from "@executor/contracts/error";
import type { CallIo, IndexedTool, OpenedIndex, LoadedKind, SourceTools, ToolShape } from "@executor/core/ports/source";
import type { Prepared, ToolCall } from "@executor/core/tools/tool";
import { validateInputValue, typeFromAST, isInputType, Kind } from "graphql";
import { signatureOf } from "../schema/schema-to-typescript.ts";
import { validateDocument } from "./check-document.ts";
import { documentTool, indexSchema, type FieldDetail, type GraphqlMeta } from "./index-schema.ts";
import { inputSchemaOf } from "./input-schema.ts";
import { outputSchemaOf } from "./output-schema.ts";
import { prepareField } from "./prepare-field.ts";
import { probeEndpoint } from "./probe-endpoint.ts";
import { gateRawDocument, printRawDocument, readRawDocument, type RawDocument } from "./raw-document.ts";
import { endpointOf, readSchema } from "./read-schema.ts";
import { openSchemaTypes, type SchemaTypes } from "./schema-types.ts";
import { postOperation, readOutcome, type GraphqlRequest } from "./send-operation.ts";

export const graphqlKind: LoadedKind = {
  type: "graphql",
  async read(source, io) {
    endpointOf(source);
    const { schema, document } = await readSchema(source, io);
    const index = indexSchema(schema, io.onProgress);
    return { ...index, title: source.definition.name, document };
  },
  probe: probeEndpoint,
  open: openGraphql,
};

function openGraphql(opened: OpenedIndex): SourceTools {
  const meta = JSON.parse(opened.metaJson) as GraphqlMeta;
  let types: SchemaTypes | undefined;
  const load = async (tool: IndexedTool): Promise<{ detail: FieldDetail; types: SchemaTypes }> => {
    const details = await opened.details();
    types ??= openSchemaTypes(details, meta);
    return { detail: JSON.parse(details.slice(tool.at, tool.at + tool.length)) as FieldDetail, types };
  };
  return {
    async shape(tool) {
      if (tool.name === documentTool) return documentShape;
      const loaded = await load(tool);
      return fieldShape(loaded.detail, loaded.types);
    },
    async prepare(tool, call, io) {
      const loaded = await load(tool);
      if (tool.name === documentTool) return ready(opened, prepareDocument(call.input, loaded.types), null, call, io);
      const request = prepareField(loaded.detail, call.input, loaded.types);
      return ready(opened, request, loaded.detail.field.name, call, io);
    },
    gatePaths: (tool, input) => (tool.name === documentTool ? gateRawDocument(input, meta) : []),
  };
}

function fieldShape({ field, selection }: FieldDetail, types: SchemaTypes): ToolShape {
  const inputSchema = inputSchemaOf(field.args ?? [], selection !== "", types.find);
  const outputSchema = outputSchemaOf(field.type, selection, types.find);
  return { inputSchema, outputSchema, signature: signatureOf({ inputSchema, outputSchema }) };
}

const documentInput = {
  type: "object",
  properties: {
    query: { type: "string", description: "A GraphQL document with the operation to run." },
    variables: { type: "object", additionalProperties: true },
    operationName: { type: "string", description: "Which operation to run where the document has several." },
  },
  required: ["query"],
  additionalProperties: false,
};
const documentOutput = { type: "object", additionalProperties: true, description: "The data of the answer." };
const documentShape: ToolShape = {
  inputSchema: documentInput,
  outputSchema: documentOutput,
  signature: signatureOf({ inputSchema: documentInput, outputSchema: documentOutput }),
};

function prepareDocument(input: unknown, types: SchemaTypes): GraphqlRequest {
  const raw = readRawDocument(input);
  validateDocument(types.schema(), raw.document, "query");
  checkVariables(raw, types);
  return { query: printRawDocument(raw), variables: raw.variables, operationName: raw.operationName };
}

function checkVariables({ document, variables }: RawDocument, types: SchemaTypes): void {
  const [operation] = document.definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) return;
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(types.schema(), definition.type as never) as unknown;
    if (!isInputType(type)) continue;
    if (!Object.hasOwn(variables, name)) {
      if (definition.type.kind === Kind.NON_NULL_TYPE && definition.defaultValue === undefined)
        throw new AppError("call.input_invalid", `variables.${name} is required: ${String(type)}.`);
      continue;
    }
    validateInputValue(variables[name], type, (error, path) => {
      throw new AppError(
        "call.input_invalid",
        `${["variables", name, ...path].join(".")}: ${error.message.slice(0, 500)}`,
      );
    });
  }
}

function ready(
  opened: OpenedIndex,
  request: GraphqlRequest,
  field: string | null,
  call: ToolCall,
  io: CallIo,
): Prepared {
  const endpoint = endpointOf(opened.source);
  return {
    kind: "ready",
    async send() {
      // Some room above the limit: the envelope is not part of the result.
      const maxBytes = io.maxResultBytes + 100_000;
      const answer = await postOperation(endpoint, request, {
        fetch: io.fetch,
        auth: io.auth,
        signal: call.signal,
        maxBytes,
      });
      return readOutcome(answer, field, io.auth);
    },
  };
}
