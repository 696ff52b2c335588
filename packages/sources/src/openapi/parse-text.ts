/** From bytes or text to a document: JSON first, else YAML, whose aliases may not blow it up (S15). */
import { AppError } from "@executor/contracts/error";
import { parseYaml } from "./parse-yaml.ts";
import { isRecord } from "./raw-document.ts";

export interface ParsedText {
  root: Record<string, unknown>;
  text: string;
  contentType: string;
}

export function parseText(source: Uint8Array | string, check: (value: unknown) => Record<string, unknown>): ParsedText {
  const text = (typeof source === "string" ? source : decodeText(source)).replace(/^\ufeff/, "");
  const start = text.slice(0, 1_000).trimStart();
  if (start === "" && text.trim() === "") throw unreadable("The document is empty.");
  if (/^<(?:!doctype|html|head|body|\?xml|!--)/i.test(start)) throw unreadable(pageInstead(text));
  const isJson = /^[{[]/.test(start);
  let jsonProblem = "";
  try {
    if (isJson) return { root: check(JSON.parse(text)), text, contentType: "application/json" };
  } catch (error) {
    // YAML may start like JSON too.
    if (error instanceof AppError) throw error;
    jsonProblem = firstLine(error);
  }
  try {
    return { root: check(firstDocument(parseYaml(text))), text, contentType: "application/yaml" };
  } catch (error) {
    if (error instanceof AppError) throw error;
    const what = isJson ? `as JSON: ${jsonProblem}` : `as YAML: ${firstLine(error)}`;
    throw unreadable(`The document is neither JSON nor YAML (${what}).`);
  }
}

/**
 * A byte order mark decides, then the zeros that UTF-16 puts beside ASCII, then the charset of the Content-Type it came with: the
 * only part of it that counts, for many servers call every file text/plain.
 */
export function decodeText(bytes: Uint8Array, declaredType = ""): string {
  const [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return new TextDecoder("utf-16le").decode(bytes);
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && b !== undefined))
    return new TextDecoder("utf-16be" as Bun.Encoding).decode(bytes);
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(declaredType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset as Bun.Encoding).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A YAML stream may hold several documents. */
const firstDocument = (value: unknown): unknown => (Array.isArray(value) ? (value.find(isRecord) ?? value) : value);

function pageInstead(text: string): string {
  if (/^\s*<\?xml/i.test(text) && !/<html/i.test(text.slice(0, 2_000)))
    return "An XML document came, not an OpenAPI document. Give the URL of the JSON or YAML itself.";
  const title = /<title[^>]*>([^<]{1,100})/i.exec(text)?.[1]?.trim();
  const named = title === undefined || title === "" ? "" : ` ("${title}")`;
  return `A page for people came${named}, not an OpenAPI document. Give the URL of the JSON or YAML itself; where the page asks for a sign-in, add a credential.`;
}

const unreadable = (sentence: string): AppError => new AppError("source.unreadable", sentence);
const firstLine = (error: unknown): string =>
  (error instanceof Error ? (error.message.split("\n", 1)[0] as string) : "unreadable").slice(0, 200);
