/** What a person is asked when a credential is missing or dead: who needs it and where it will be sent, and nothing secret. */
import type { PublicAuth, SourceSpec } from "../ports/source.ts";
import type { CredentialSlot } from "../store/verbs/credentials.ts";
import type { Ask } from "../tools/tool.ts";
import { answerSchemaFor } from "./secret-shape.ts";

export type AskedSource = Pick<SourceSpec, "namespace" | "definition" | "hosts">;

/** Where the answer goes; kept beside the interaction. */
export type CredentialAskState = Pick<CredentialSlot, "workspaceId" | "sourceKey" | "scope" | "actorId" | "name"> & {
  /** What decides where the secret is sent; a person who was told one place does not give it for another. */
  place?: string;
  /** What a sign-in must ask for, when a call turned out to need more than was granted. */
  scopes?: readonly string[];
};

/** `narrow`: there is a sign-in, and it allows too little. */
type Why = "missing" | "dead" | "narrow";

export function askForCredential(source: AskedSource, auth: PublicAuth, slot: CredentialAskState, why: Why): Ask {
  const { name } = source.definition;
  const isOauth = auth.type === "oauth2";
  const { workspaceId, sourceKey, scope, actorId, scopes } = slot;
  const state: CredentialAskState = {
    workspaceId,
    sourceKey,
    scope,
    actorId,
    name: slot.name,
    place: placeOf(source),
    ...(scopes && { scopes }),
  };
  const titles = { missing: `Credential for ${name}`, dead: `Reconnect ${name}`, narrow: `More rights for ${name}` };
  return {
    kind: isOauth || why === "dead" ? "oauth" : "credential",
    title: titles[why],
    detail: `${whoNeedsIt(source, slot, why)} ${whereItGoes(source, auth)}`,
    answerSchema: isOauth || why === "dead" ? null : answerSchemaFor(auth),
    url: null,
    stateJson: JSON.stringify(state),
  };
}

export const placeOf = ({ definition: { baseUrl, serverVariables, auth } }: Pick<AskedSource, "definition">): string =>
  JSON.stringify([baseUrl ?? null, serverVariables ?? {}, auth ?? null]);

function whoNeedsIt(source: AskedSource, { scope, actorId, name, scopes = [] }: CredentialAskState, why: Why): string {
  const whose = scope === "actor" ? `the actor ${actorId}` : "the whole workspace";
  const account = name === "default" ? "" : `, account "${name}"`;
  if (why === "narrow")
    return `The sign-in of ${whose} with the source ${source.namespace}${account} does not allow what a task wants to do. Sign in again; it asks for: ${scopes.join(" ").slice(0, 500)}.`;
  return why === "dead"
    ? `The sign-in of ${whose} with the source ${source.namespace}${account} has ended and cannot be renewed. Connect again.`
    : `A task wants to use the source ${source.namespace}, which needs a credential of ${whose}${account}.`;
}

function whereItGoes({ definition, hosts = [] }: AskedSource, auth: PublicAuth): string {
  const named = hosts.slice(0, MAX_HOSTS).map((origin) => URL.parse(origin)?.host ?? origin);
  const more = hosts.length > MAX_HOSTS ? ` and ${hosts.length - MAX_HOSTS} more` : "";
  const host = named.length > 0 ? `${named.join(", ")}${more}` : hostOf(definition);
  const to = host === null ? "to the source" : `to ${host}`;
  if (auth.type === "oauth2") return `You sign in with the provider; the tokens are sent ${to} and shown to nobody.`;
  if (auth.header !== undefined) return `It is sent ${to} in the header ${auth.header}.`;
  if (auth.query !== undefined) return `It is sent ${to} in the query parameter ${auth.query}.`;
  if (auth.cookie !== undefined) return `It is sent ${to} in the cookie ${auth.cookie}.`;
  return `It is sent ${to} in the header Authorization.`;
}

const MAX_HOSTS = 5;

/** Only host and port: a URL may hold what is none of the reader's business. */
function hostOf({ baseUrl, url, spec, command }: SourceSpec["definition"]): string | null {
  if (command !== undefined) return `the command ${command}`;
  for (const text of [baseUrl, url, spec]) {
    if (typeof text === "string" && text.length <= 4_000 && URL.canParse(text)) return new URL(text).host || null;
  }
  return null;
}
