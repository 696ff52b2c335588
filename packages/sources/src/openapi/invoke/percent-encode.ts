/**
 * Percent-encoding as RFC 3986 wants it. Whatever is not unreserved is encoded, so that a value can never end the part of the
 * URL it stands in; `allowReserved` gives back only those reserved characters that cannot do that either.
 */

/** Letters, digits and - . _ ~ stay. A lone surrogate, which UTF-8 cannot write, becomes U+FFFD. */
export function percentEncode(text: string): string {
  if (PLAIN.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(LEFT_BY_JAVASCRIPT, toTriplet);
}

/**
 * For a query value with `allowReserved`: as RFC 6570's `{+name}`, triplets that are there stay as they are. Still encoded are
 * # [ ] (not allowed there) and & + (they would mean something else to whoever reads the query).
 */
export function percentEncodeReserved(text: string): string {
  return text.replace(NOT_PASSED, (part) => (TRIPLET.test(part) ? part : percentEncode(part)));
}

/** As application/x-www-form-urlencoded writes it. */
export function formEncode(text: string): string {
  return percentEncode(text).replaceAll("%20", "+");
}

const PLAIN = /^[A-Za-z0-9\-._~]*$/;
const LEFT_BY_JAVASCRIPT = /[!'()*]/g;
const NOT_PASSED = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?@!$'()*,;=]/gu;
const TRIPLET = /^%[0-9A-Fa-f]{2}$/;

const toTriplet = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
