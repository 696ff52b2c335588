/**
 * Takes secrets out of text that goes back to code, people or logs: each one as it is, and as it is usually written in JSON, in a
 * URL, in HTML, in hex and in base64. Letter case does not hide one. Where one stands in a disguise that cannot be cut out piece by
 * piece (escaped in an unusual way, twice, or broken over lines), the whole text is withheld as the JSON string "[redacted]". Where a secret stands in JSON as a bare number, the number is taken out whole
 * and a string put in its place, so that JSON stays JSON.
 */
const REDACTED = "[redacted]";
/** Shorter ones stand in ordinary text by chance, and taking them out would tell what they are. */
const MIN_LENGTH = 4;

/** Looked for in disguise: shorter ones are there by chance once blanks are taken out. */
const MIN_DISGUISED = 12;

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
  const pattern = ordered.map(escapeForPattern).join("|");
  const anyForm = new RegExp(pattern, "gi");
  const long = ordered.filter((form) => form.length >= MIN_DISGUISED).map(escapeForPattern);
  const hasLong = long.length > 0 ? new RegExp(long.join("|"), "i") : null;
  const numbers = secrets.filter((secret) => /^\d{4,}$/.test(secret));
  const bareNumber =
    numbers.length > 0
      ? new RegExp(`(?<=[:\\[,]\\s*)-?\\d*(?:${numbers.join("|")})[\\d.eE+-]*(?=\\s*[,\\]}])`, "g")
      : null;
  return (text) => {
    const plain = plainEscapes(text);
    const cut = (bareNumber ? plain.replace(bareNumber, `"${REDACTED}"`) : plain).replace(anyForm, REDACTED);
    // Written in yet another way it cannot be cut out, so the whole is withheld.
    return hasLong && disguises(cut).some((read) => hasLong.test(read)) ? JSON.stringify(REDACTED) : cut;
  };
}

/**
 * JSON may write any character as an escape (`\u003d` for `=`, as some libraries always do). In valid JSON these are replaced by
 * what they stand for; only those are left that JSON needs.
 */
function plainEscapes(text: string): string {
  if (!/\\[u/]/.test(text)) return text;
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|([^]))/g,
    (escape, hex: string | undefined, other: string | undefined) => {
      if (other !== undefined) return other === "/" ? "/" : escape;
      const code = Number.parseInt(hex ?? "", 16);
      const isNeeded = code < 0x20 || code === 0x22 || code === 0x5c || (code >= 0xd800 && code <= 0xdfff);
      return isNeeded ? escape : String.fromCharCode(code);
    },
  );
}

const MAX_LAYERS = 4;

/** The same text with one layer after the other of what usually wraps a text taken off; nothing when there is none. */
function disguises(text: string): string[] {
  const found: string[] = [];
  let layer = text;
  for (let depth = 0; depth < MAX_LAYERS; depth++) {
    const open = plainEscapes(withoutPercent(withoutEntities(layer)));
    const next = open.replaceAll(/(?<!\\)\\[nrt]|\\u0000|[\s\u0000]+/g, "").replaceAll("\\\\", "\\");
    if (next === layer) break;
    found.push(next);
    layer = next;
  }
  return found;
}

/** Byte by byte: what is no UTF-8 must not stop the rest from being read. */
const withoutPercent = (text: string): string =>
  text.includes("%")
    ? text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"))
    : text;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  sol: "/",
  equals: "=",
  plus: "+",
};

const withoutEntities = (text: string): string =>
  text.includes("&")
    ? text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));?/gi, (whole, decimal, hex, name) => {
        if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole;
        const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
        return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
      })
    : text;

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
    rfc3986(urlEncoded),
    encodeURIComponent(urlEncoded),
    bytes.toString("hex"),
    ...base64Cores(bytes),
  ];
  return written.filter((form) => form.length >= MIN_LENGTH);
}

const rfc3986 = (encoded: string): string =>
  encoded.replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);

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
