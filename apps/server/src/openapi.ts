/**
 * This API as an OpenAPI 3.1 document, made from the same table that is served: routes, roles, schemas and refusals.
 * Schemas with a name become components; everything else stands where it is used.
 */
import { z } from "zod";
import { Problem } from "@executor/contracts/error";
import type { Route } from "@executor/contracts/http";
import { routeTable } from "./http/serve-routes.ts";

export type Json = Record<string, unknown>;

export function buildOpenApi(version: string): Json {
  const components: Json = {};
  const problem = toSchema(Problem, components);
  const paths: Record<string, Json> = {};
  for (const [name, route] of routeTable) {
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(name, route, components, problem) };
  }
  return {
    openapi: "3.1.0",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: "Executor",
      version,
      description: "Control plane for AI agents' tool use. Errors are application/problem+json with a stable `code`.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "a session id or an API key" } },
      schemas: components,
    },
  };
}

function describeRoute(operationId: string, route: Route, components: Json, problem: Json): Json {
  const parameters = [...pathParameters(route), ...queryParameters(route, components)];
  return {
    operationId,
    summary: route.summary,
    tags: [route.path.split("/")[2]],
    "x-role": route.role,
    ...(route.role === "open" && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: { required: true, content: { "application/json": { schema: toSchema(route.body, components) } } },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.responses).map(([status, schema]) => [status, describeResponse(schema, components)]),
      ),
      ...Object.fromEntries(
        refusalsOf(route).map(([status, description]) => [
          status,
          { description, content: { "application/problem+json": { schema: problem } } },
        ]),
      ),
      default: {
        description: "Refused; `code` says why",
        content: { "application/problem+json": { schema: problem } },
      },
    },
  };
}

/** Those every route of its kind has; the rest is under `default`. */
function refusalsOf({ role, path, body }: Route): [string, string][] {
  const refusals: [string, string][] =
    role === "open"
      ? []
      : [
          ["401", "No valid bearer"],
          ["403", "The role does not allow it"],
          ["429", "Too many requests"],
        ];
  if (body)
    refusals.push(
      ["400", "The request does not fit its schema"],
      ["413", "The body is too large"],
      ["415", "The body is not JSON"],
    );
  if (path.includes("{")) refusals.push(["404", "Not in this workspace"]);
  return refusals;
}

function describeResponse(schema: Route["responses"][number], components: Json): Json {
  if (schema === null) return { description: "Done" };
  if (schema === "stream")
    return {
      description: "Server-sent events; `data` is a TaskEvent, `id` resumes with Last-Event-ID",
      content: { "text/event-stream": { schema: { type: "string" } } },
    };
  if (schema === "ndjson")
    return {
      description: "One JSON value a line",
      content: { "application/x-ndjson": { schema: { type: "string" } } },
    };
  if (schema === "text") return { description: "Text", content: { "text/plain": { schema: { type: "string" } } } };
  if (schema === "html") return { description: "A page", content: { "text/html": { schema: { type: "string" } } } };
  return { description: "Done", content: { "application/json": { schema: toSchema(schema, components) } } };
}

function pathParameters({ path }: Route): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ query }: Route, components: Json): Json[] {
  if (!query) return [];
  // As the server reads it: a number, although it travels as digits.
  const { properties = {}, required = [] } = convert(query, "output", components) as {
    properties?: Json;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

const toSchema = (schema: z.ZodType, components: Json): Json => convert(schema, "input", components);

/** zod names a schema only when something refers to it: so it is always asked about an object that does. */
function convert(schema: z.ZodType, io: "input" | "output", components: Json): Json {
  const { $defs = {}, properties } = z.toJSONSchema(z.object({ value: schema }), { io, unrepresentable: "any" }) as {
    $defs?: Record<string, Json>;
    properties?: Record<string, Json>;
  };
  for (const [name, definition] of Object.entries($defs)) components[name] ??= relink(definition);
  return relink(properties?.["value"] ?? {}) as Json;
}

function relink(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relink);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== "$schema" && name !== "id" && name !== "$id")
      .map(([name, member]) => [
        name,
        name === "$ref" && typeof member === "string"
          ? member.replace("#/$defs/", "#/components/schemas/")
          : relink(member),
      ]),
  );
}
