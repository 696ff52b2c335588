/** The parts of a request that come from the caller, checked before they are used. */
import { ExecutorError } from "./error.ts";

/** Without the slash at its end. A path is kept: the server may live below one. */
export function readBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isUsable = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  // The text itself is not repeated: what is wrong with it may be a password in it.
  if (!isUsable) throw new TypeError("baseUrl must be an http or https URL without user, query and fragment");
  return url.href.replace(/\/+$/, "");
}

/** Checked here because fetch would quote a token that is no header value in its error. */
export function readToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TypeError("token must be a session id or API key: one line of ASCII without blanks");
}

export function fillPath(path: string, params: object): string {
  const values = new Map<string, unknown>(Object.entries(params));
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(values.get(name) ?? "");
    // An empty or dotted segment would name another route than the one that was meant.
    if (/^\.{0,2}$/.test(value)) throw new ExecutorError("request.invalid", `${name} must be an id, not "${value}"`);
    return encodeURIComponent(value);
  });
}

export function writeQuery(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text && `?${text}`;
}
