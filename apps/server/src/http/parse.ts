/**
 * Turns what came over the wire into what a handler may use. Bodies are JSON only, counted while they arrive (whatever
 * Content-Length says), bounded in depth before anything recursive sees them, and strict by their schema.
 */
import type { z } from "zod";
import { AppError } from "@executor/contracts/error";
import type { BodyBudget } from "./body-budget.ts";

/** Deeper than any honest request; far from what a parser or our own recursion could not stand. */
const MAX_DEPTH = 200;
/** A body that takes longer than this is no client's, but someone's who holds connections open. */
const BODY_WITHIN_MS = 60_000;
const MAX_ISSUES = 10;

export function parseWith<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map((issue) => ({
    path: [where, ...issue.path.map(String)].join(".").slice(0, 300),
    message: explainIssue(issue),
  }));
  throw new AppError("request.invalid", issues.map((issue) => `${issue.path}: ${issue.message}`).join("; "), {
    data: { issues },
  });
}

/** zod speaks of types where a person left something out. */
function explainIssue({ code, message }: z.core.$ZodIssue): string {
  return (code === "invalid_type" && message.endsWith("received undefined") ? "is missing" : message).slice(0, 300);
}

export function parseQuery<S extends z.ZodType>(schema: S, search: URLSearchParams): z.output<S> {
  const values: Record<string, string> = {};
  for (const [name, value] of search) {
    if (Object.hasOwn(values, name))
      throw new AppError("request.invalid", `query.${name.slice(0, 100)}: given more than once`);
    values[name] = value;
  }
  return parseWith(schema, values, "query");
}

/** An empty body reads as `{}`: the schema then says what is missing. */
export async function readJson(request: Request, maxBytes: number, budget: BodyBudget): Promise<unknown> {
  if (request.body === null || request.headers.get("content-length") === "0") return {};
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new AppError("request.not_json", `Send the body as application/json; it came as "${type.slice(0, 100)}".`);
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity")
    throw new AppError(
      "request.not_json",
      `Send the body without Content-Encoding; it came as "${encoding.slice(0, 100)}".`,
    );
  const announced = Number(request.headers.get("content-length") ?? 0);
  const bytes = await readBytes(request.body, announced, maxBytes, budget);
  if (bytes.length === 0) return {};
  if (depthOf(bytes) > MAX_DEPTH) throw new AppError("request.invalid", `body: nested deeper than ${MAX_DEPTH} levels`);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new AppError("request.invalid", "body: not valid JSON in UTF-8");
  }
}

async function readBytes(
  body: ReadableStream<Uint8Array>,
  announced: number,
  maxBytes: number,
  budget: BodyBudget,
): Promise<Uint8Array> {
  const tooLarge = () => new AppError("request.too_large", `A body may have at most ${maxBytes} bytes.`);
  const reader = body.getReader();
  const timer = setTimeout(() => void reader.cancel("too slow").catch(() => undefined), BODY_WITHIN_MS);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    if (announced > maxBytes) throw tooLarge();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.length;
      budget.take(next.value.length);
      if (length > maxBytes) throw tooLarge();
      chunks.push(next.value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error instanceof AppError
      ? error
      : new AppError("request.invalid", "body: broke off before its end", { cause: error });
  } finally {
    clearTimeout(timer);
    budget.giveBack(length);
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, length);
}

/** Counts brackets outside strings; bytes of multi-byte characters are never brackets or quotes. */
function depthOf(bytes: Uint8Array): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return deepest;
}
