/**
 * A secret as the parts of a request that carry it, with every spelling of it that may come back in an answer.
 * Pure. What does not fit is `credential.invalid`; it never sends half of a credential.
 */
import type { AuthPart, AuthParts, PublicAuth } from "../ports/source.ts";
import { type GenericPlace, genericPlaces, invalid, own, parseSecret, type Secret } from "./secret-shape.ts";

export const noAuth: AuthParts = { parts: [], secrets: [] };

export function toAuthParts(auth: PublicAuth, secretJson: string): AuthParts {
  const secret = parseSecret(secretJson);
  const generic = genericPlaces.flatMap((place) => genericParts(place, own(secret, place)));
  const typed = typedParts(auth, secret);
  if (typed === null && generic.length === 0)
    throw invalid(`The stored secret has not the fields that ${auth.type} needs. Save the credential anew.`);
  const parts = [...(typed?.parts ?? []), ...generic];
  const texts = [...(typed?.texts ?? []), ...generic.map(({ value }) => value)];
  return { parts, secrets: spellings(texts) };
}

interface Typed {
  parts: AuthPart[];
  /** What is secret in them. */
  texts: string[];
}

function typedParts(auth: PublicAuth, secret: Secret): Typed | null {
  const text = (name: string): string | null => {
    const value = own(secret, name);
    return typeof value === "string" && value !== "" ? value : null;
  };
  const token = text("accessToken") ?? text("token");
  switch (auth.type) {
    case "bearer":
    case "oauth2": {
      if (token === null) return null;
      const refreshToken = text("refreshToken");
      return {
        parts: [authorization(`Bearer ${token}`)],
        texts: [token, ...(refreshToken === null ? [] : [refreshToken])],
      };
    }
    case "apiKey": {
      const value = text("value");
      return value === null ? null : { parts: [keyPart(auth, value)], texts: [value] };
    }
    case "basic": {
      const username = text("username") ?? auth.username ?? "";
      const password = text("password");
      if (password === null) return null;
      const pair = base64(`${username}:${password}`);
      return { parts: [authorization(`Basic ${pair}`)], texts: [password, pair] };
    }
  }
}

const authorization = (value: string): AuthPart => ({ in: "header", name: "Authorization", value });

function keyPart({ header, query, cookie }: PublicAuth, value: string): AuthPart {
  if (header !== undefined) return { in: "header", name: header, value };
  if (query !== undefined) return { in: "query", name: query, value };
  if (cookie !== undefined) return { in: "cookie", name: cookie, value };
  throw invalid("The source does not say where its key goes: auth needs header, query or cookie.");
}

const partOf: Record<GenericPlace, AuthPart["in"]> = {
  headers: "header",
  query: "query",
  cookies: "cookie",
  env: "env",
};

function genericParts(place: GenericPlace, members: unknown): AuthPart[] {
  if (typeof members !== "object" || members === null) return [];
  return Object.entries(members).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [{ in: partOf[place], name, value }] : [],
  );
}

/** As it is, and as URLs, forms, JSON and base64 write it; the longest first, so that no rest of one is left standing. */
function spellings(texts: readonly string[]): string[] {
  const all = texts.flatMap((text) => {
    // `Bearer x` given as a whole header: the x alone is as secret.
    const bare = /^(?:bearer|basic|token|apikey)\s+(\S+)$/i.exec(text)?.[1];
    return [text, ...(bare === undefined ? [] : [bare])].flatMap(spellingsOf);
  });
  return [...new Set(all)].filter((text) => text !== "").toSorted((a, b) => b.length - a.length);
}

function spellingsOf(text: string): string[] {
  const percent = encodeURIComponent(text.toWellFormed());
  const encoded = base64(text);
  return [
    text,
    percent,
    percent.replaceAll("%20", "+"),
    JSON.stringify(text).slice(1, -1),
    encoded,
    encoded.replace(/=+$/, ""),
    encoded.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  ];
}

/** Of the UTF-8 bytes, as RFC 7617 wants it. */
function base64(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
