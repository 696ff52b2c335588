/**
 * The headers of a request as they may leave: names and values that cannot end a line or smuggle a second request, and nothing
 * that belongs to the connection rather than to the caller. A bad header is refused, never repaired: whoever sent it must know.
 * Values never appear in an error: they may be secrets.
 */
import { AppError } from "@executor/contracts/error";

export interface HeaderDefaults {
  userAgent: string;
  acceptEncoding: string;
}

export function readRequestHeaders(init: HeadersInit | undefined, defaults: HeaderDefaults): Headers {
  const headers = new Headers();
  let size = 0;
  let count = 0;
  for (const [name, value] of pairsOf(init)) {
    checkHeader(name, value);
    size += name.length + value.length;
    count += 1;
    headers.append(name, value);
  }
  if (count > MAX_COUNT || size > MAX_SIZE)
    throw refusal(
      `A request may have ${MAX_COUNT} headers of ${MAX_SIZE} characters in all; this one has ${count} of ${size}.`,
    );
  if (!headers.has("user-agent")) headers.set("user-agent", defaults.userAgent);
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", defaults.acceptEncoding);
  return headers;
}

/** Also for those who want to refuse early, with a better word about where the header came from. */
export function checkHeader(name: string, value: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/.test(name))
    throw refusal(`${JSON.stringify(name.slice(0, 100))} is no header name: letters, digits and - are.`);
  if (isConnectionHeader(name)) throw refusal(`The header ${name} cannot be set: it belongs to the connection.`);
  // Tab is the only control character HTTP allows; above Latin-1 there is no way to write it.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw refusal(
      `The value of the header ${name} has a line break, a control character or one outside Latin-1: take it out or encode it.`,
    );
}

export const isConnectionHeader = (name: string): boolean => connectionHeaders.has(name.toLowerCase());

const MAX_COUNT = 100;
const MAX_SIZE = 64_000;

const connectionHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function pairsOf(init: HeadersInit | undefined): Iterable<[string, string]> {
  if (init === undefined) return [];
  if (init instanceof Headers) return init as unknown as Iterable<[string, string]>;
  // Lists and records are looked at raw: Headers would trim a line break off the end of a value and say nothing.
  const pairs: [string, unknown][] = Array.isArray(init) ? (init as [string, unknown][]) : Object.entries(init);
  return pairs.map(([name, value]) => [String(name), String(value)]);
}

const refusal = (detail: string): AppError => new AppError("egress.refused", detail, { data: { sent: false } });
