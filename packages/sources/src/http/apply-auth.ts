/** Puts secrets where they belong: header, query, cookie. They win over anything of the same name that code or definition gave. */
import { AppError } from "@executor/contracts/error";
import type { AuthParts } from "@executor/core/ports/source";

export interface AuthorisedRequest {
  url: string;
  headers: Headers;
  /** For the guard: what to drop when a redirect leads elsewhere. */
  sensitive: { headers: string[]; query: string[] };
}

/** Headers that are never an API's own parameter: who calls, and how the request is carried. */
const OURS = new Set([
  "authorization",
  "proxy-authorization",
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "upgrade",
  "te",
  "trailer",
  "keep-alive",
]);

export function applyAuth(
  request: { url: string; headers: Iterable<readonly [string, string]> },
  auth: AuthParts,
): AuthorisedRequest {
  const headers = new Headers();
  for (const [name, value] of request.headers) {
    if (OURS.has(name.toLowerCase()))
      throw new AppError(
        "call.input_invalid",
        `The header ${name} cannot be given by a call. Credentials belong to the source.`,
      );
    setHeader(headers, name, value);
  }
  let url = request.url;
  const sensitive: AuthorisedRequest["sensitive"] = { headers: [], query: [] };
  for (const part of auth.parts) {
    if (part.in === "header") {
      setHeader(headers, part.name, part.value);
      sensitive.headers.push(part.name);
    } else if (part.in === "cookie") {
      if (/[;\s,"\\]/.test(part.value))
        throw new AppError(
          "credential.invalid",
          `The secret for the cookie ${part.name} holds characters that no cookie may hold.`,
        );
      headers.set("cookie", withCookie(headers.get("cookie"), part.name, part.value));
    } else if (part.in === "query") {
      url = withQuery(url, part.name, part.value);
      sensitive.query.push(part.name);
    }
  }
  return { url, headers, sensitive };
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    throw new AppError(
      "call.input_invalid",
      `The header ${name.slice(0, 100)} holds characters that no header may hold.`,
    );
  }
}

function withCookie(there: string | null, name: string, value: string): string {
  const others = (there ?? "").split("; ").filter((pair) => pair !== "" && pair.split("=", 1)[0] !== name);
  return [...others, `${name}=${value}`].join("; ");
}

/** The rest of the query stays as it was written, to the letter. */
function withQuery(url: string, name: string, value: string): string {
  const [beforeHash = ""] = url.split("#", 1);
  const at = beforeHash.indexOf("?");
  const base = at < 0 ? beforeHash : beforeHash.slice(0, at);
  const encoded = encodeURIComponent(name);
  const names = (pair: string): boolean => decoded(pair.split("=", 1)[0] ?? "") === name;
  const others = (at < 0 ? "" : beforeHash.slice(at + 1)).split("&").filter((pair) => pair !== "" && !names(pair));
  return `${base}?${[...others, `${encoded}=${encodeURIComponent(value)}`].join("&")}`;
}

/** However it is spelt, it is the same name to the other side. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
