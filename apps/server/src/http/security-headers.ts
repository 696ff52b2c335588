/** Headers that every answer carries, and those of pages. Nothing here opens anything: there are no CORS headers at all. */
import type { MiddlewareHandler } from "hono";
import type { AppTypes } from "./app-types.ts";

const EVERYWHERE = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** For answers that are no page: nothing in them may run, load or be framed. */
const NO_PAGE = "default-src 'none'; frame-ancestors 'none'";

/** The console: only its own files, no inline code, no other host. */
export const CONSOLE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

export function setSecurityHeaders(): MiddlewareHandler<AppTypes> {
  return async function setHeaders(c, next) {
    await next();
    const { headers } = c.res;
    for (const [name, value] of Object.entries(EVERYWHERE)) headers.set(name, value);
    if (!headers.has("content-security-policy")) headers.set("content-security-policy", NO_PAGE);
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  };
}
