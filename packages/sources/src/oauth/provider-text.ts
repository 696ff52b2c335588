/**
 * Makes what a provider says fit to be shown: one line, bounded, no control or direction characters, and none of the
 * secrets of the exchange it answers (some providers echo the code or the token they refuse).
 */
const MAX_CHARACTERS = 300;

export function cleanProviderText(text: unknown, secrets: readonly (string | undefined)[] = []): string {
  if (typeof text !== "string") return "";
  let shown = text.slice(0, 20 * MAX_CHARACTERS);
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 4) continue;
    for (const form of new Set([secret, encodeURIComponent(secret)])) shown = shown.replaceAll(form, "[redacted]");
  }
  shown = shown
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, " ")
    .replaceAll(/ {2,}/g, " ")
    .trim();
  return shown.length > MAX_CHARACTERS ? `${shown.slice(0, MAX_CHARACTERS)}…` : shown;
}

/** `invalid_grant: the token was revoked`, as it goes into a message. */
export function describeProviderError(error: string, description: string): string {
  const code = cleanProviderText(error).slice(0, 100);
  return description === "" ? `"${code}"` : `"${code}": ${description}`;
}
