/** Is there a GraphQL endpoint behind a URL? Asks the smallest question there is; never throws for what comes back. */
import type { ProbeFinding, ReadIo } from "@executor/core/ports/source";
import { indexSchema } from "./index-schema.ts";
import { readSchema } from "./read-schema.ts";
import { parseObject, postOperation } from "./send-operation.ts";

export async function probeEndpoint(url: string, io: ReadIo): Promise<ProbeFinding | null> {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) return null;
  try {
    const answer = await postOperation(
      { url, headers: {} },
      { query: "{ __typename }", variables: {}, operationName: null },
      io,
    );
    if (answer.status === 401 || answer.status === 403)
      return looksLikeIt(url, answer.text) ? locked(url, answer.status) : null;
    const body = parseObject(answer.text);
    if (isGraphql(body)) return await counted(url, io);
    return (await servesPlayground(url, io))
      ? finding(url, 0.6, null, ["The page looks like GraphiQL, but a query was not answered."])
      : null;
  } catch {
    return null;
  }
}

const isGraphql = (body: Record<string, unknown> | null): boolean => {
  if (body === null) return false;
  const data = body.data;
  if (typeof data === "object" && data !== null && "__typename" in data) return true;
  // Errors alone are everywhere; these are as GraphQL servers write them.
  return (
    Array.isArray(body.errors) &&
    body.errors.some(
      (error: unknown) =>
        typeof error === "object" &&
        error !== null &&
        "message" in error &&
        ("locations" in error || "extensions" in error),
    )
  );
};

const looksLikeIt = (url: string, text: string): boolean =>
  /graphql|\/gql\b/i.test(new URL(url).pathname) || isGraphql(parseObject(text));

async function counted(url: string, io: ReadIo): Promise<ProbeFinding> {
  try {
    const source = {
      sourceId: "",
      workspaceId: "",
      namespace: "",
      definition: { type: "graphql" as const, name: nameOf(url), url },
    };
    const { schema } = await readSchema(source, io);
    const { tools, warnings } = indexSchema(schema);
    return finding(url, 1, tools.length, warnings);
  } catch {
    return finding(url, 0.9, null, [
      "It speaks GraphQL but does not answer introspection: give its schema (SDL) as spec.",
    ]);
  }
}

async function servesPlayground(url: string, io: ReadIo): Promise<boolean> {
  const response = await io.fetch(url, { headers: { accept: "text/html" }, signal: io.signal, maxBytes: 2_000_000 });
  const isHtml = (response.headers.get("content-type") ?? "").includes("text/html");
  return isHtml && /graphiql|graphql[- ]?playground|apollo[- ]?sandbox|graphql voyager/i.test(await response.text());
}

const locked = (url: string, status: number): ProbeFinding => ({
  ...finding(url, 0.7, null, []),
  auth: {
    required: true,
    types: ["bearer", "apiKey", "basic"],
    detail: `The endpoint answered with status ${status}: it needs a credential.`,
  },
});

const finding = (url: string, confidence: number, toolCount: number | null, warnings: string[]): ProbeFinding => ({
  type: "graphql",
  confidence,
  name: nameOf(url),
  transport: "introspection",
  definition: { type: "graphql", name: nameOf(url), url },
  auth: { required: false, types: [], detail: "" },
  toolCount,
  warnings,
});

/** `api.github.com` is about `github`. */
function nameOf(url: string): string {
  const { hostname } = new URL(url);
  if (/^[\d.]+$|^\[/.test(hostname)) return "graphql";
  const parts = hostname.split(".").filter((part) => !["www", "api", "graphql", "gql", "gateway"].includes(part));
  return (parts.length > 1 ? parts.at(-2) : parts[0]) ?? "graphql";
}
