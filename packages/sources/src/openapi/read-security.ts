/** Servers and security of a document or an operation. */
import type { SecurityNeed, Server } from "./operation.ts";
import { deref, isRecord, list, quote, record, strings, text, type RawDocument } from "./raw-document.ts";

/** Null where nothing is said at this level. */
export function readServers(raw: unknown): Server[] | null {
  if (!Array.isArray(raw)) return null;
  const servers: Server[] = [];
  for (const server of raw.slice(0, 50)) {
    if (!isRecord(server) || typeof server.url !== "string") continue;
    const variables = Object.entries(record(server.variables)).map(([name, value]) => {
      const { default: usual, enum: allowed } = record(value);
      const known = strings(allowed);
      const fallback = typeof usual === "string" || typeof usual === "number" ? String(usual) : (known[0] ?? "");
      return [name, { default: fallback, ...(known.length > 0 ? { enum: known } : {}) }] as const;
    });
    servers.push({ url: server.url, variables: Object.fromEntries(variables) });
  }
  return servers.length > 0 ? servers : null;
}

/** Swagger 2: host, base path and schemes. Without a host, the document's own. */
export function readSwaggerServers(root: Record<string, unknown>): Server[] {
  const basePath = text(root.basePath).startsWith("/") ? text(root.basePath) : `/${text(root.basePath)}`;
  const host = text(root.host);
  if (host === "") return [{ url: basePath, variables: {} }];
  const schemes = strings(root.schemes).filter((scheme) => scheme === "https" || scheme === "http");
  // The safer one first; without any, the document's own scheme.
  const ordered = schemes.toSorted((a, b) => b.length - a.length);
  const origins = ordered.length > 0 ? ordered.map((scheme) => `${scheme}://${host}`) : [`//${host}`];
  return origins.map((origin) => ({ url: `${origin}${basePath === "/" ? "" : basePath}`, variables: {} }));
}

export function readSecurity(document: RawDocument, raw: unknown, schemes: Record<string, unknown>): SecurityNeed[][] {
  const alternatives: SecurityNeed[][] = [];
  for (const alternative of list(raw)) {
    if (!isRecord(alternative)) continue;
    const needs = Object.entries(alternative).map(([scheme, scopes]) => readNeed(document, scheme, scopes, schemes));
    alternatives.push(needs);
  }
  return alternatives;
}

function readNeed(
  document: RawDocument,
  name: string,
  scopes: unknown,
  schemes: Record<string, unknown>,
): SecurityNeed {
  const found = record(Object.hasOwn(schemes, name) ? deref(document, schemes[name]) : undefined);
  const need = { scheme: name, scopes: strings(scopes) };
  const scheme = text(found.scheme).toLowerCase();
  switch (found.type) {
    case "basic":
      return { ...need, type: "basic" };
    case "http":
      return { ...need, type: scheme === "basic" ? "basic" : scheme === "bearer" ? "bearer" : "other" };
    case "apiKey":
      if (found.in !== "header" && found.in !== "query" && found.in !== "cookie") break;
      return { ...need, type: "apiKey", in: found.in, name: text(found.name) };
    case "oauth2":
      return { ...need, type: "oauth2" };
    case "openIdConnect":
      return { ...need, type: "openIdConnect" };
    case "mutualTLS":
      return { ...need, type: "other" };
  }
  document.warn(`The security scheme ${quote(name)} is not described in a way we know.`);
  return { ...need, type: "other" };
}
