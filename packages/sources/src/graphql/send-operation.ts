/**
 * Sends one GraphQL request and says what came of it. Errors inside a 200 are errors; data that came along is kept with them.
 * Whatever the other side says back is cleared of the secrets of this call.
 */
import type { AuthParts, GuardedFetch } from "@executor/core/ports/source";
import type { ToolOutcome } from "@executor/core/tools/tool";
import { createRedactor } from "../http/redact.ts";

export interface GraphqlRequest {
  query: string;
  variables: Readonly<Record<string, unknown>>;
  operationName: string | null;
}

export interface Endpoint {
  url: string;
  headers: Readonly<Record<string, string>>;
}

export interface Answer {
  status: number;
  contentType: string;
  text: string;
}

export async function postOperation(
  endpoint: Endpoint,
  request: GraphqlRequest,
  io: { fetch: GuardedFetch; auth: AuthParts; signal: AbortSignal; maxBytes?: number },
): Promise<Answer> {
  const { url, headers, sensitive } = withAuth(endpoint, io.auth);
  headers.set("content-type", "application/json");
  if (!headers.has("accept")) headers.set("accept", "application/graphql-response+json, application/json;q=0.9");
  const { query, variables, operationName } = request;
  const body = JSON.stringify({
    query,
    ...(Object.keys(variables).length > 0 ? { variables } : {}),
    ...(operationName === null ? {} : { operationName }),
  });
  const { maxBytes, signal } = io;
  const response = await io.fetch(url, {
    method: "POST",
    headers,
    body,
    signal,
    sensitive,
    ...(maxBytes ? { maxBytes } : {}),
  });
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}

/** `field`: what of the data the caller gets; null for all of it. */
export function readOutcome(answer: Answer, field: string | null, auth: AuthParts): ToolOutcome {
  const text = redact(answer.text, auth);
  const body = parseObject(text);
  const errors = Array.isArray(body?.errors) ? (body.errors as unknown[]) : [];
  const failed = answer.status < 200 || answer.status >= 300;
  if (body === null || (failed && errors.length === 0)) return noGraphql(answer, text, body);
  if (errors.length > 0) {
    const { data } = body;
    const bodyJson = JSON.stringify({ errors, ...(data === undefined ? {} : { data }) });
    return { ok: false, code: "call.upstream_error", message: messageOf(errors), status: answer.status, bodyJson };
  }
  if (!Object.hasOwn(body, "data")) return noGraphql(answer, text, body);
  const data: unknown = body.data ?? null;
  if (field === null) return { ok: true, json: JSON.stringify(data) };
  const value =
    typeof data === "object" && data !== null && Object.hasOwn(data, field)
      ? (data as Record<string, unknown>)[field]
      : null;
  return { ok: true, json: JSON.stringify(value ?? null) };
}

export function messageOf(errors: readonly unknown[]): string {
  const [first] = errors;
  const message =
    typeof first === "object" && first !== null && "message" in first
      ? String(first.message)
      : "The server gave no message.";
  return errors.length > 1 ? `${message.slice(0, 1_000)} (and ${errors.length - 1} more)` : message.slice(0, 1_000);
}

function noGraphql(answer: Answer, text: string, body: Record<string, unknown> | null): ToolOutcome {
  const message =
    answer.status >= 400
      ? `The server answered with status ${answer.status}.`
      : `The server answered with status ${answer.status} and no GraphQL result.`;
  const bodyJson = body === null ? JSON.stringify(text.slice(0, 4_000)) : text;
  return { ok: false, code: "call.upstream_error", message, status: answer.status, bodyJson };
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

export function withAuth(endpoint: Endpoint, auth: AuthParts) {
  const url = new URL(endpoint.url);
  const headers = new Headers(endpoint.headers);
  const sensitive = { headers: [] as string[], query: [] as string[] };
  const cookies = [headers.get("cookie")].filter((cookie) => cookie !== null);
  for (const part of auth.parts) {
    if (part.in === "header") headers.set(part.name, part.value);
    else if (part.in === "query") url.searchParams.set(part.name, part.value);
    else if (part.in === "cookie") cookies.push(`${part.name}=${part.value}`);
    if (part.in === "header") sensitive.headers.push(part.name);
    if (part.in === "query") sensitive.query.push(part.name);
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  return { url, headers, sensitive };
}

export const redact = (text: string, auth: AuthParts): string => createRedactor(auth.secrets)(text);
