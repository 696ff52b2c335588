/**
 * A secret that others keep is a text: a JSON object is taken as the secret itself, anything else as the one value,
 * under both names that a source may look for.
 */
export function secretFromText(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return JSON.stringify(parsed);
  } catch {
    // Plain text. What JSON.parse complains about quotes the secret, so it goes nowhere.
  }
  return JSON.stringify({ token: text, value: text });
}
