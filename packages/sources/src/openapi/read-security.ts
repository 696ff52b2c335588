/** Servers and security of a document or an operation. */
import type { SecurityNeed, Server } from "./operation.ts";
import { deref, isRecord, list, quote, record, strings, text, type RawDocument } from "./raw-document.ts";

/** Null where nothing is said at this level. */
export function readServers(raw: unknown): Server[] | null {
  if (!Array.isArray(raw)) return null;
  const servers: Server[] = [];
  for (const server of raw.slice(0, 50)) {
    if (!isRecord(server) || typeof server.url !== "string") continue;
    const variables = Object.entries(record(server.variables)).map(([name, value]) => [name, readVariable(value)]);
    servers.push({ url: server.url, variables: Object.fromEntries(variables) as Server["variables"] });
  }
  return servers.length > 0 ? servers : null;
}

/** Without a default somebody has to say it: no empty text stands in a host. */
function readVariable(value: unknown): Server["variables"][string] {
  const { default: usual, enum: allowed } = record(value);
  const known = strings(allowed);
  const fallback = typeof usual === "string" || typeof usual === "number" ? String(usual) : known[0];
  return { ...(fallback !== undefined && { default: fallback }), ...(known.length > 0 && { enum: known }) };
}

/** Swagger 2: host, base path and schemes. Without a host, the document's own. */
export function readSwaggerServers(document: RawDocument): Server[] {
  const { root } = document;
  const basePath = text(root.basePath).startsWith("/") ? text(root.basePath) : `/${text(root.basePath)}`;
  const { host, variables, isWhole } = readHost(document);
  if (isWhole) return [{ url: `${host}${basePath === "/" ? "" : basePath}`, variables }];
  if (host === "") return [{ url: basePath, variables: {} }];
  const schemes = strings(root.schemes).filter((scheme) => scheme === "https" || scheme === "http");
  // The safer one first; without any, the document's own scheme.
  const ordered = schemes.toSorted((a, b) => b.length - a.length);
  const origins = ordered.length > 0 ? ordered.map((scheme) => `${scheme}://${host}`) : [`//${host}`];
  return origins.map((origin) => ({ url: `${origin}${basePath === "/" ? "" : basePath}`, variables }));
}

/** Azure's documents make the host of parameters; `isWhole`: with the scheme among them. */
function readHost(document: RawDocument): { host: string; variables: Server["variables"]; isWhole: boolean } {
  const { root } = document;
  const parameterized = record(root["x-ms-parameterized-host"]);
  const host = text(parameterized.hostTemplate);
  if (host === "") return { host: text(root.host), variables: {}, isWhole: false };
  const params = list(parameterized.parameters).map((raw) => record(deref(document, raw)));
  const variables = params.map((param) => [text(param.name), readVariable(param)]);
  return {
    host,
    variables: Object.fromEntries(variables) as Server["variables"],
    isWhole: parameterized.useSchemePrefix === false,
  };
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
