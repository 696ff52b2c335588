/** Makes sense of an answer: its JSON, the problem it states, or that it is not from Executor at all. */
import { ExecutorError } from "./error.ts";

/** A redirect is refused, with the way out. In browsers it is opaque: its target cannot be told. */
export function refuseForeignAnswer(name: string, response: Response): void {
  const isRedirect = response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
  if (!isRedirect) return;
  const target = response.headers.get("location");
  const detail = `${name}: redirected${target ? ` to ${target}` : ""}; use the URL of the server itself as baseUrl`;
  throw new ExecutorError("client.bad_answer", detail, { status: response.status });
}

export async function readJson<T>(name: string, response: Response): Promise<T> {
  // The caller's type for "no body" is void.
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  try {
    // Not checked against the schemas: an older SDK must live with a newer server's additions.
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new ExecutorError("client.bad_answer", `${name}: expected JSON, got ${describe(response)}`, {
      status: response.status,
      cause,
    });
  }
}

/** The server's own words if it is a problem (RFC 9457); else what can be said about an answer that something in front gave. */
export async function readProblem(name: string, response: Response): Promise<ExecutorError> {
  const { status } = response;
  const problem = parseObject(await response.text());
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
  const requestId = asString(problem?.requestId) ?? response.headers.get("x-request-id") ?? undefined;
  const code = asString(problem?.code);
  if (!code) {
    const detail = `${name}: ${status} without a problem that Executor would state, but ${describe(response)}`;
    return new ExecutorError("client.bad_answer", detail, { status, requestId, retryAfterMs });
  }
  const detail = asString(problem?.detail) ?? asString(problem?.title) ?? `${name}: ${status}`;
  return new ExecutorError(code, detail, { status, requestId, retryAfterMs, data: asObject(problem?.data) });
}

/** Seconds, or a date. */
export function readRetryAfter(value: string | null): number | undefined {
  if (!value) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const asString = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
const asObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
const describe = (response: Response): string => response.headers.get("content-type") ?? "no content type";
