/**
 * Reads the Bearer challenge of a WWW-Authenticate header (RFC 9110 section 11.6.1, RFC 6750, RFC 9728), which may stand among
 * others. Never throws: what it cannot read is not there.
 */
export interface AuthChallenge {
  resourceMetadata?: string;
  scopes?: string[];
  error?: string;
}

/** Longer headers are cut: nobody needs more to say where to sign in. */
const MAX_HEADER = 8_000;
const piece = /\s*(?:,\s*)*([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/y;

export function readAuthChallenge(header: string | null | undefined): AuthChallenge {
  const challenge: AuthChallenge = {};
  const text = (header ?? "").slice(0, MAX_HEADER);
  const seen = new Set<string>();
  let isBearer = false;
  piece.lastIndex = 0;
  for (let match = piece.exec(text); match; match = piece.exec(text)) {
    const [, name = "", quoted, bare] = match;
    // A word without a value starts the next challenge.
    if (quoted === undefined && bare === undefined) {
      isBearer = name.toLowerCase() === "bearer";
      continue;
    }
    const key = name.toLowerCase();
    // The first one counts: whoever can add to the header must not be able to replace what stands there.
    if (!isBearer || seen.has(key)) continue;
    seen.add(key);
    const value = quoted === undefined ? (bare ?? "") : quoted.replaceAll(/\\(.)/g, "$1");
    if (key === "resource_metadata") challenge.resourceMetadata = value;
    if (key === "error") challenge.error = value;
    if (key === "scope") challenge.scopes = splitScopes(value);
  }
  return challenge;
}

/** Scope names of RFC 6749; others cannot be sent and are left out. */
export function splitScopes(text: string | undefined): string[] {
  const names = (text ?? "").split(/\s+/).filter((name) => /^[\x21\x23-\x5b\x5d-\x7e]{1,500}$/.test(name));
  return [...new Set(names)].slice(0, 500);
}
