/**
 * Takes secrets out of text that goes back to code, people or logs: each one as it is, and as it is usually written in JSON, in a
 * URL and in base64. Letter case does not hide one. Where a secret stands in JSON as a bare number, the number is taken out whole
 * and a string put in its place, so that JSON stays JSON.
 */
const REDACTED = "[redacted]";
/** Shorter ones stand in ordinary text by chance, and taking them out would tell what they are. */
const MIN_LENGTH = 4;

export type Redactor = (text: string) => string;

/** Calls with the same credential share its list of secrets: the patterns are made once, and gone with it. */
const redactors = new WeakMap<readonly string[], Redactor>();

export function createRedactor(secrets: readonly string[]): Redactor {
  const known = redactors.get(secrets);
  if (known) return known;
  const made = makeRedactor(secrets);
  redactors.set(secrets, made);
  return made;
}

function makeRedactor(secrets: readonly string[]): Redactor {
  const forms = new Set<string>();
  for (const secret of secrets) if (secret.length >= MIN_LENGTH) for (const form of formsOf(secret)) forms.add(form);
  // The longest first: a secret may be part of another one.
  const ordered = [...forms].toSorted((a, b) => b.length - a.length);
  if (ordered.length === 0) return (text) => text;
  const anyForm = new RegExp(ordered.map(escapeForPattern).join("|"), "gi");
  const numbers = secrets.filter((secret) => /^\d{4,}$/.test(secret));
  const bareNumber =
    numbers.length > 0
      ? new RegExp(`(?<=[:\\[,]\\s*)-?\\d*(?:${numbers.join("|")})[\\d.eE+-]*(?=\\s*[,\\]}])`, "g")
      : null;
  return (text) => (bareNumber ? text.replace(bareNumber, `"${REDACTED}"`) : text).replace(anyForm, REDACTED);
}

/** An escape of URLs may be written in either case, and is: `%2F`, `%2f`. */
const escapeForPattern = (form: string): string => form.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const urlEncoded = encodeURIComponent(secret);
  const written = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
    escapeUnicode(secret),
    urlEncoded,
    urlEncoded.replaceAll("%20", "+"),
    htmlEscaped(secret),
    bytes.toString("hex"),
    ...base64Cores(bytes),
  ];
  return written.filter((form) => form.length >= MIN_LENGTH);
}

const escapeUnicode = (text: string): string =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

const htmlEscaped = (text: string): string =>
  text.replace(
    /[&<>"']/g,
    (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[character] ?? character,
  );

/**
 * In base64 a text looks different at each of three places. The characters that depend on nothing but the secret are the same
 * wherever it stands, also inside a longer text (`user:secret`, a cookie).
 */
function base64Cores(bytes: Buffer): string[] {
  const cores: string[] = [];
  for (const lead of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(lead), bytes]);
    const from = lead === 0 ? 0 : lead + 1;
    const whole = Math.floor((padded.length * 8) / 6);
    const core = padded.toString("base64").slice(from, whole);
    if (core.length >= 8) cores.push(core, core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return cores;
}
