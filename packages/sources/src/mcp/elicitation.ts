/**
 * What a server wants from a person in the middle of a call, as our ask; and a person's answer as the server expects it.
 * A form is never used for a secret: the answer would pass through code, logs and people. A server that needs one asks by URL.
 */
import { createHash } from "node:crypto";
import type { Ask, Answered } from "@executor/core/tools/tool";

export interface Elicitation {
  message: string;
  mode?: string | undefined;
  requestedSchema?: unknown;
  url?: string | undefined;
}
export type ElicitAnswer = { action: "accept"; content?: Record<string, unknown> } | { action: "decline" | "cancel" };

type Schema = Record<string, unknown>;

const SECRET =
  /\b(pass(word|wd|phrase|code)|secrets?|tokens?|api ?keys?|access ?keys?|private ?keys?|credentials?|bearer|otp|pin)\b/i;
const MAX_MESSAGE = 4_000;

/** By which an answer finds its question again when the call is sent anew. */
export const digestOf = ({ message, mode, requestedSchema, url }: Elicitation): string =>
  createHash("sha256")
    .update(JSON.stringify([message, mode, requestedSchema, url]))
    .digest("hex");

/** Why it must not be asked; null when it may. */
export function refusalOf(request: Elicitation, sourceName: string): string | null {
  if (request.mode === "url") {
    const url = URL.parse(request.url ?? "");
    if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return null;
    return `${sourceName} asked to open an address that is no http or https URL; it was refused.`;
  }
  const texts = Object.entries(propertiesOf(request)).filter(([, schema]) => takesText(schema));
  const asksSecret = texts.some(([name, schema]) =>
    [name, schema["title"], schema["description"]].some((text) => typeof text === "string" && namesSecret(text)),
  );
  if (!asksSecret && (texts.length === 0 || !namesSecret(request.message))) return null;
  return `${sourceName} asked for a secret in a form; that was refused. Secrets belong in the source's credentials, or on a page of its own (a URL elicitation).`;
}

export function toAsk(request: Elicitation, sourceName: string, state: unknown): Ask {
  const stateJson = JSON.stringify(state);
  const message = request.message.slice(0, MAX_MESSAGE);
  const title = `${sourceName} asks: ${message}`.slice(0, 200);
  if (request.mode !== "url")
    return { kind: "elicitation", title, detail: message, answerSchema: formOf(request), url: null, stateJson };
  const url = new URL(request.url ?? "");
  return {
    kind: "elicitation",
    title,
    detail: `${message}\n\nOpen this page of ${url.host}, then say that it is done: ${url.href}`,
    answerSchema: { type: "object", properties: { done: { type: "boolean", const: true } }, required: ["done"] },
    url: url.href,
    stateJson,
  };
}

/** What the form leaves open gets the default that the server gave it. */
export function toAnswer(
  request: Elicitation,
  { answer, refused }: Pick<Answered, "answer" | "refused">,
): ElicitAnswer {
  if (refused) return { action: refused };
  if (request.mode === "url" || typeof answer !== "object" || answer === null || Array.isArray(answer))
    return { action: "accept", ...(request.mode !== "url" && { content: {} }) };
  const defaults = Object.entries(propertiesOf(request)).flatMap(([name, schema]) =>
    Object.hasOwn(schema, "default") && !Object.hasOwn(answer, name) ? [[name, schema["default"]] as const] : [],
  );
  return { action: "accept", content: Object.fromEntries([...Object.entries(answer), ...defaults]) };
}

/** The server's schema; what has a default need not be filled in. */
function formOf(request: Elicitation): Schema {
  const schema = isObject(request.requestedSchema) ? request.requestedSchema : {};
  const properties = propertiesOf(request);
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const open = required.filter((name) => {
    const property = Object.hasOwn(properties, String(name)) ? properties[String(name)] : undefined;
    return property === undefined || !Object.hasOwn(property, "default");
  });
  return { ...schema, type: "object", required: open };
}

function propertiesOf({ requestedSchema }: Elicitation): Record<string, Schema> {
  const properties = isObject(requestedSchema) ? requestedSchema["properties"] : undefined;
  if (!isObject(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, Schema] => isObject(entry[1])),
  );
}

/** Numbers, choices and yes or no hold no secret. */
const takesText = (schema: Schema): boolean =>
  !Array.isArray(schema["enum"]) &&
  !Array.isArray(schema["oneOf"]) &&
  (schema["type"] === undefined || schema["type"] === "string");

/** `apiKey`, `api-key` and `API_KEY` are `api key`. */
const namesSecret = (text: string): boolean =>
  SECRET.test(text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/[-_]+/g, " "));

const isObject = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
