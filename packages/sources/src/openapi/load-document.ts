/**
 * Gets the document of a source: from its URL, a file, or the definition itself. Only through `io.fetch`; files only where the
 * caller may reach this machine. Gives the parsed value and the text as it came.
 */
import { AppError } from "@executor/contracts/error";
import type { AuthParts, GuardedResponse, PublicDefinition, ReadIo } from "@executor/core/ports/source";
import { createRedactor } from "../http/redact.ts";
import { isRecord } from "./raw-document.ts";
import { decodeText, parseText } from "./parse-text.ts";

export interface LoadedDocument {
  root: Record<string, unknown>;
  text: string;
  contentType: string;
  /** After redirects; null for inline documents. */
  url: string | null;
  /** It came from the internet. */
  isPublic: boolean;
}

export async function loadDocument(definition: PublicDefinition, io: ReadIo): Promise<LoadedDocument> {
  const spec = definition.spec ?? definition.url;
  if (spec === undefined)
    throw new AppError("source.invalid", "An openapi source needs spec: the URL or text of its document.");
  if (typeof spec !== "string") {
    // A copy, as reading strips the schemas it passes.
    return { ...parseText(JSON.stringify(spec), asDocument), url: null, isPublic: false };
  }
  if (/^file:/i.test(spec)) return await loadFile(spec, io);
  if (/^https?:\/\//i.test(spec) && !/\s/.test(spec.trim()))
    return await fetchDocument(spec.trim(), io, { baseUrl: definition.baseUrl });
  const definitionUrl = definition.spec === undefined || definition.url === undefined ? null : definition.url;
  return { ...parseText(spec, asDocument), url: definitionUrl, isPublic: false };
}

export async function fetchDocument(
  url: string,
  io: ReadIo,
  { check = asDocument, baseUrl, publicOnly = false }: FetchOptions = {},
): Promise<LoadedDocument> {
  io.onProgress({ phase: "fetching" });
  const { response, address, sentAuth } = await fetchGradually(url, io, { baseUrl, publicOnly });
  if (!response.ok) {
    await response.body?.cancel();
    const hint = response.status === 401 || response.status === 403 ? " It may need a credential." : "";
    throw new AppError("source.unreadable", `${address} answered ${response.status} instead of a document.${hint}`);
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  io.onProgress({ phase: "parsing", total: bytes.length });
  const text = decodeText(bytes, response.headers.get("content-type") ?? "");
  const parsed = parseText(sentAuth ? withoutEchoes(text, io.auth) : text, check);
  return { ...parsed, url: withoutSecrets(response.url || url, io.auth), isPublic: response.isPublic === true };
}

interface Fetched {
  response: GuardedResponse;
  /** Fit to be shown. */
  address: string;
}

interface FetchOptions {
  check?: typeof asDocument;
  baseUrl?: string | undefined;
  publicOnly?: boolean;
}

/**
 * Without the credential first: documents often lie with somebody else than the API it is for. It is sent only to a server that
 * asks for it, and never to another one than `baseUrl` names.
 */
async function fetchGradually(
  url: string,
  io: ReadIo,
  { baseUrl, publicOnly = false }: FetchOptions,
): Promise<Fetched & { sentAuth: boolean }> {
  const plain = await fetchWithAuth(url, { ...io, auth: { parts: [], secrets: [] } }, accept, publicOnly);
  const mayNeedIt = [401, 403, 404].includes(plain.response.status) || plain.response.redirected;
  const isElsewhere = baseUrl !== undefined && URL.parse(baseUrl)?.origin !== URL.parse(url)?.origin;
  if (!mayNeedIt || isElsewhere || io.auth.parts.length === 0) return { ...plain, sentAuth: false };
  await plain.response.body?.cancel();
  return { ...(await fetchWithAuth(url, io, accept, publicOnly)), sentAuth: true };
}

/** A server may repeat the credential in what it serves. Short secrets would tear holes into the document. */
const SHORTEST_ECHO = 8;

function withoutEchoes(text: string, { secrets }: AuthParts): string {
  return createRedactor(secrets.filter((secret) => secret.length >= SHORTEST_ECHO))(text);
}

export const accept = "application/json, application/yaml;q=0.9, text/yaml;q=0.9, */*;q=0.5";
export const maxDocumentBytes = 50_000_000;

/** Sends what the source's credential says along. */
async function fetchWithAuth(
  url: string,
  io: Pick<ReadIo, "fetch" | "auth" | "signal">,
  accepts: string,
  publicOnly = false,
): Promise<Fetched> {
  if (!URL.canParse(url)) throw new AppError("source.invalid", "The address of the document is no URL.");
  const target = new URL(url);
  const address = `${target.origin}${target.pathname}`;
  const headers = new Headers({ accept: accepts });
  const cookies: string[] = [];
  for (const part of io.auth.parts) {
    if (part.in === "header") headers.set(part.name, part.value);
    if (part.in === "query") target.searchParams.set(part.name, part.value);
    if (part.in === "cookie") cookies.push(`${part.name}=${part.value}`);
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  const named = (place: string): string[] => io.auth.parts.filter((part) => part.in === place).map((part) => part.name);
  const response = await io.fetch(target, {
    headers,
    signal: io.signal,
    maxBytes: maxDocumentBytes,
    publicOnly,
    sensitive: { headers: named("header"), query: named("query") },
  });
  return { response, address };
}

/** What is kept of the address must not hold the key that was sent in it. */
function withoutSecrets(url: string, auth: AuthParts): string {
  if (!URL.canParse(url)) return url;
  const kept = new URL(url);
  for (const part of auth.parts) if (part.in === "query") kept.searchParams.delete(part.name);
  kept.username = "";
  kept.password = "";
  return kept.href;
}

export async function loadFile(url: string, io: ReadIo, check = asDocument): Promise<LoadedDocument> {
  if (!io.mayReachMachine) {
    throw new AppError(
      "source.admin_only",
      "A file: document is read by the installation's admin or its environment only.",
    );
  }
  io.onProgress({ phase: "fetching" });
  let bytes: Uint8Array;
  try {
    const file = Bun.file(new URL(url));
    if (file.size > maxDocumentBytes)
      throw new AppError("source.unreadable", `The file is over ${maxDocumentBytes} bytes.`);
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError(
      "source.unreadable",
      "The file cannot be read: is the path right, and may this process read it?",
      {
        cause: error,
      },
    );
  }
  io.onProgress({ phase: "parsing", total: bytes.length });
  return { ...parseText(bytes, check), url, isPublic: false };
}

/** Anything that looks like an OpenAPI document; unknown versions are read as the nearest one. */
export function asDocument(value: unknown): Record<string, unknown> {
  if (isRecord(value) && (value.openapi !== undefined || value.swagger !== undefined || isRecord(value.paths)))
    return value;
  if (isRecord(value) && value.swaggerVersion !== undefined)
    throw new AppError(
      "source.unreadable",
      `The document is of Swagger ${JSON.stringify(value.swaggerVersion).slice(0, 20)}; Swagger 2.0 and OpenAPI 3 are read. Convert it first.`,
    );
  const got = isRecord(value)
    ? `an object with ${Object.keys(value).slice(0, 5).join(", ").slice(0, 200) || "no fields"}`
    : Array.isArray(value)
      ? "a list"
      : value === null
        ? "nothing"
        : `a ${typeof value}`;
  throw new AppError(
    "source.unreadable",
    `Expected an OpenAPI or Swagger document, got ${got}. Give the URL of the document itself.`,
  );
}
