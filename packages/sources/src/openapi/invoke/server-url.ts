/**
 * Where the requests of an operation go: `baseUrl` of the source before all, else the first server of the operation with its
 * variables filled in, else the place the document came from. The document's author chooses the shape of the URL; a value for
 * a variable may fill its gap and nothing more.
 */
import { AppError } from "@executor/contracts/error";
import type { Operation, Server } from "../operation.ts";

export interface ServerContext {
  baseUrl: string | null;
  documentUrl: string | null;
  serverVariables: Readonly<Record<string, string>>;
}

/** Absolute, http or https, without fragment. */
export function serverUrl(operation: Pick<Operation, "servers">, context: ServerContext): URL {
  const written = context.baseUrl ?? chosenServer(operation.servers, context.serverVariables);
  const base = httpUrl(context.documentUrl ?? "", undefined);
  if (written === null && base === null)
    throw new AppError(
      "source.invalid",
      "The document names no server, and it was not read from a URL that could stand in. Set baseUrl on the source: where its requests go.",
    );
  const url = written === null ? new URL("/", base ?? "") : httpUrl(written, base ?? undefined);
  if (url === null)
    throw new AppError(
      "source.invalid",
      `Requests would go to ${JSON.stringify(written?.slice(0, 200))}, which is no http or https URL${base === null ? " and cannot be resolved, as the document was not read from a URL" : ""}. Set baseUrl on the source.`,
    );
  url.hash = "";
  return url;
}

function chosenServer(servers: readonly Server[], values: Readonly<Record<string, string>>): string | null {
  // An absolute one needs nothing else; of several, the first is the author's choice.
  const server = servers[0];
  return server === undefined ? null : filledIn(server, values);
}

function filledIn(server: Server, values: Readonly<Record<string, string>>): string {
  return server.url.replace(/\{([^{}]*)\}/g, (gap, name: string) => {
    const variable = Object.hasOwn(server.variables, name) ? server.variables[name] : undefined;
    const given = Object.hasOwn(values, name) ? values[name] : undefined;
    if (given !== undefined) return checkedValue(name, given, variable?.enum);
    const fallback = variable?.default ?? variable?.enum?.[0];
    if (fallback === undefined)
      throw new AppError(
        "source.invalid",
        `The server URL has a gap ${gap.slice(0, 100)} and the document gives no default. Set serverVariables.${name.slice(0, 100)} or baseUrl on the source.`,
      );
    return String(fallback);
  });
}

function checkedValue(name: string, value: string, allowed: readonly string[] | undefined): string {
  if (allowed !== undefined && allowed.length > 0 && !allowed.includes(value))
    throw new AppError(
      "source.invalid",
      `serverVariables.${name.slice(0, 100)} must be one of ${allowed.slice(0, 20).join(", ")}; it is ${JSON.stringify(value.slice(0, 100))}.`,
    );
  if (BREAKS_OUT.test(value) || value === "." || value === "..")
    throw new AppError(
      "source.invalid",
      `serverVariables.${name.slice(0, 100)} may not hold / \\ @ ? # %, blanks or control characters: it fills a gap in the server's URL. To send requests elsewhere, set baseUrl.`,
    );
  return value;
}

// eslint-disable-next-line no-control-regex -- those are what it looks for
const BREAKS_OUT = /[/\\@?#%\s\u0000-\u001f\u007f]/;

function httpUrl(text: string, base: URL | undefined): URL | null {
  if (!URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url : null;
}
