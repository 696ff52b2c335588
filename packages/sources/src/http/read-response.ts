/**
 * What an answer means to the code that called: JSON as it is, text as a string, a stream of events as a list, anything else as
 * base64 with its type, nothing as null. Bounded, and cleared of every secret of the call, before anyone sees it.
 */
import { AppError } from "@executor/contracts/error";
import type { CallIo } from "@executor/core/ports/source";
import type { ToolOutcome } from "@executor/core/tools/tool";
import { createRedactor, type Redactor } from "./redact.ts";

const MAX_MESSAGE = 500;

export async function readResponse(
  response: Response,
  io: Pick<CallIo, "auth" | "maxResultBytes">,
): Promise<ToolOutcome> {
  const redact = createRedactor(io.auth.secrets);
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof AppError && error.code === "egress.too_large")
      return tooLarge(io.maxResultBytes, response.status);
    throw error;
  }
  const contentType = response.headers.get("content-type") ?? "";
  const json = toJson(bytes, contentType, redact);
  if (response.status >= 300) return failed(response, json, io.maxResultBytes);
  if (json.length > io.maxResultBytes) return tooLarge(io.maxResultBytes, response.status);
  return { ok: true, json };
}

function toJson(bytes: Uint8Array, contentType: string, redact: Redactor): string {
  if (bytes.length === 0) return "null";
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (!isTextual(type, bytes)) return binary(bytes, type, redact);
  const text = decode(bytes, contentType);
  if (type === "text/event-stream") return redact(JSON.stringify(readEvents(text)));
  if (LINES.test(type)) return redact(JSON.stringify(readLines(text)));
  // Valid JSON goes through as it came; it is not written anew, so nothing in it changes.
  const mayBeJson = isJsonType(type) || type === "" || (type === "text/plain" && /^\s*[[{]/.test(text));
  return redact(mayBeJson && isJson(text) ? text : JSON.stringify(text));
}

/** `application/x-amz-json-1.1` and `application/vnd.x.json` too. */
const JSON_TYPE = /[/+.-]json(-\d[\d.]*)?$/;
const isJsonType = (type: string): boolean => JSON_TYPE.test(type);
const LINES = /[/+](x-)?(ndjson|jsonl|jsonlines|json-lines|ldjson|json-seq)$/;
const TEXT =
  /^text\/|[/+](x-)?(json5?|xml|yaml|javascript|ecmascript|www-form-urlencoded|graphql|csv|toml|sql|jwt|jose)$|^application\/vnd\.github\.(\w+\.)?(diff|patch|raw|html|text|sha)$/;

/** Without a type, what reads as text is text. */
function isTextual(type: string, bytes: Uint8Array): boolean {
  if (type !== "" && type !== "application/octet-stream")
    return TEXT.test(type) || isJsonType(type) || LINES.test(type);
  if (type === "application/octet-stream") return false;
  return !bytes.subarray(0, 1_000).includes(0);
}

function decode(bytes: Uint8Array, contentType: string): string {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset as Bun.Encoding).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Bytes may repeat a secret as well as text can; where they do, they are not given at all. */
function binary(bytes: Uint8Array, type: string, redact: Redactor): string {
  const contentType = type || "application/octet-stream";
  const base64 = Buffer.from(bytes).toString("base64");
  const readings = [Buffer.from(bytes).toString("latin1"), Buffer.from(bytes).toString("utf8")];
  if (readings.some((text) => redact(text).includes("[redacted]")))
    return JSON.stringify({ contentType, base64: "", size: bytes.length, redacted: true });
  return JSON.stringify({ contentType, base64, size: bytes.length });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

interface ServerEvent {
  event?: string;
  id?: string;
  data: unknown;
}

function readEvents(text: string): ServerEvent[] {
  const events: ServerEvent[] = [];
  for (const block of text.split(/\r\n\r\n|\n\n|\r\r/)) {
    const fields = block.split(/\r\n|\n|\r/).map((line) => /^([^:]*)(?:: ?(.*))?$/s.exec(line));
    const values = (name: string): string[] => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
    const data = values("data");
    if (data.length === 0) continue;
    const [event] = values("event");
    const [id] = values("id");
    events.push({
      ...(event !== undefined && { event }),
      ...(id !== undefined && { id }),
      data: parsed(data.join("\n")),
    });
  }
  return events;
}

const readLines = (text: string): unknown[] =>
  text
    .split("\n")
    .map((line) => line.replace(/^\u001e/, "").trim())
    .filter((line) => line !== "")
    .map(parsed);

function failed(response: Response, json: string, maxBytes: number): ToolOutcome {
  const { status } = response;
  const said = messageIn(parsed(json));
  const what =
    status < 400 ? `The other side answered ${status} and leads elsewhere.` : `The other side answered ${status}.`;
  return {
    ok: false,
    code: "call.upstream_error",
    message: said === null ? what : `${what} ${said}`,
    status,
    ...(json.length <= maxBytes && { bodyJson: json }),
  };
}

/** What errors usually call their own text. */
function messageIn(body: unknown): string | null {
  if (typeof body === "string") return clean(body);
  if (typeof body !== "object" || body === null) return null;
  for (const name of ["message", "error_description", "detail", "error", "title", "description", "reason"]) {
    const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return clean(value);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const inner = messageIn(value);
      if (inner !== null) return inner;
    }
  }
  return null;
}

const clean = (text: string): string =>
  text
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .trim()
    .slice(0, MAX_MESSAGE);

export const tooLarge = (maxBytes: number, status: number | null): ToolOutcome => ({
  ok: false,
  code: "call.result_too_large",
  message: `The answer has more than ${maxBytes} bytes, which is the limit. Ask for less: a filter, a page, fewer fields.`,
  ...(status !== null && { status }),
});
