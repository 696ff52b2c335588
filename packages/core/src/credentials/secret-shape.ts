/**
 * What a secret must look like for a source: which fields, and that they can be sent at all (a line break in a header
 * would be a second header). Pure. A refusal names fields and never repeats a value.
 */
import { AppError } from "@executor/contracts/error";
import type { JsonSchema } from "@executor/contracts/tool";
import type { PublicAuth } from "../ports/source.ts";

export type Secret = Readonly<Record<string, unknown>>;

/** Beside or instead of what the auth type asks for: anything under its own name. `env` is for processes. */
export const genericPlaces = ["headers", "query", "cookies", "env"] as const;
export type GenericPlace = (typeof genericPlaces)[number];

/** In characters of JSON; a private key or a long token fits many times over. */
export const MAX_SECRET_LENGTH = 100_000;

/** Which sets of fields will do; the first is the one that people are asked for. */
const fieldsOf: Record<PublicAuth["type"], readonly (readonly string[])[]> = {
  bearer: [["token"]],
  apiKey: [["value"]],
  basic: [["username", "password"]],
  oauth2: [["token"], ["accessToken"]],
};
/** What else a set of OAuth tokens holds. */
const TOKEN_FIELDS =
  "refreshToken expiresAt tokenType scope issuer tokenEndpoint clientId clientSecret clientAuthMethod resource".split(
    " ",
  );

/** For what a person or a program hands in. */
export function checkSecret(auth: PublicAuth | undefined, secret: Secret): void {
  if (JSON.stringify(secret).length > MAX_SECRET_LENGTH)
    throw invalid(`A secret may have ${MAX_SECRET_LENGTH} characters of JSON; this one has more.`);
  for (const place of genericPlaces) checkGeneric(place, own(secret, place));
  const named = Object.keys(secret).filter((name) => !(genericPlaces as readonly string[]).includes(name));
  if (named.length === 0 && Object.keys(secret).length > 0) return;
  const expected = auth ? fieldsOf[auth.type] : Object.values(fieldsOf).flat();
  const withUsername = auth?.type === "basic" && auth.username !== undefined ? [["password"]] : [];
  const fits = [...expected, ...withUsername].some((fields) => hasExactly(secret, fields, named));
  if (!fits)
    throw invalid(
      `${auth ? `A secret for ${auth.type}` : "A secret"} is ${describe(expected)}, or {headers, query, cookies, env} with names and values. It came with ${named.length === 0 ? "nothing" : named.map(shownName).join(", ")}.`,
    );
  for (const name of named) checkSendable(name, own(secret, name));
}

/** A secret that was put where its name belongs must not be repeated. */
const shownName = (name: string): string => (/^[A-Za-z_-]{1,30}$/.test(name) ? name : "another name");

/** The form in which a person gives the missing secret; null where it is not given in a form. */
export function answerSchemaFor(auth: PublicAuth): JsonSchema | null {
  if (auth.type === "oauth2") return null;
  const asked = auth.type === "basic" && auth.username !== undefined ? ["password"] : (fieldsOf[auth.type][0] ?? []);
  const properties = asked.map((name) => [name, { title: titleOf(name, auth), ...schemaOf(name) }] as const);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: [...asked],
    additionalProperties: false,
  };
}

/** `{…}` or nothing: what comes from outside is never looked up through its prototype. */
export const own = (object: Secret, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined);

export function parseSecret(secretJson: string): Secret {
  let parsed: unknown;
  try {
    parsed = JSON.parse(secretJson);
  } catch {
    // The parser's own message quotes the text.
    throw invalid("The secret must be a JSON object, and it is not JSON.");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw invalid("The secret must be a JSON object with named fields.");
  return parsed as Secret;
}

export const invalid = (detail: string): AppError => new AppError("credential.invalid", detail);

/** Names are tokens of RFC 9110; values may not hold what would end a header, a cookie or a C string. */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
/** They say how a request is framed or where it goes; a secret does not decide that. */
const FRAMING = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "upgrade",
  "te",
  "trailer",
  "expect",
]);

function checkGeneric(place: GenericPlace, members: unknown): void {
  if (members === undefined) return;
  if (typeof members !== "object" || members === null || Array.isArray(members))
    throw invalid(`${place} must be an object of names and values.`);
  for (const [name, value] of Object.entries(members)) {
    const fits = place === "env" ? ENV_NAME.test(name) : place === "query" ? name.length <= 200 : NAME.test(name);
    if (!fits || name === "") throw invalid(`A name in ${place} is not one that can be sent.`);
    if (place === "headers" && FRAMING.has(name.toLowerCase())) throw invalid(`The header ${name} cannot be set here.`);
    checkSendable(`${place}.${name}`, value);
    if (place === "cookies" && /[;,\s"\\]/.test(String(value)))
      throw invalid(`cookies.${name} may not hold spaces, quotes, commas, semicolons or backslashes.`);
  }
}

function hasExactly(secret: Secret, fields: readonly string[], named: readonly string[]): boolean {
  const extra = fields.includes("accessToken") ? TOKEN_FIELDS : [];
  return (
    named.every((name) => fields.includes(name) || extra.includes(name)) &&
    fields.every((name) => typeof own(secret, name) === "string" && (own(secret, name) !== "" || name === "username"))
  );
}

function checkSendable(name: string, value: unknown): void {
  if (TOKEN_FIELDS.includes(name) && (typeof value === "number" || value === null || value === undefined)) return;
  if (typeof value !== "string") throw invalid(`${name} must be a text.`);
  if (CONTROL.test(value) && !name.startsWith("env."))
    throw invalid(
      `${name} holds a line break or another control character. It was probably copied along; leave it out.`,
    );
}

const describe = (sets: readonly (readonly string[])[]): string =>
  sets.map((fields) => `{${fields.join(", ")}}`).join(" or ");

function titleOf(name: string, auth: PublicAuth): string {
  if (name === "token") return "Token";
  if (name === "value") return `Key for ${auth.header ?? auth.query ?? auth.cookie ?? "the source"}`;
  return name === "username" ? "User name" : "Password";
}

const schemaOf = (name: string): JsonSchema =>
  name === "username"
    ? { type: "string", maxLength: 1_000 }
    : { type: "string", minLength: 1, maxLength: 50_000, format: "password", writeOnly: true };
