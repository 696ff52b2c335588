/**
 * From a definition as somebody wrote it to what is stored: the namespace, the definition without secrets, and the secrets apart.
 * Pure. What reaches the machine (commands, files) is refused here for everyone but an installation admin.
 */
import { AppError } from "@executor/contracts/error";
import type { SourceAuth, SourceDefinition } from "@executor/contracts/source";
import type { PublicAuth, PublicDefinition } from "@executor/core/ports/source";

export interface DescribedSource {
  namespace: string;
  definition: PublicDefinition;
  /** To be sealed as the credential `static`, or as the OAuth client's secret; null when there is none. */
  secret: Record<string, string> | null;
  /** Variables of a command, to be sealed as well; the definition keeps their names. */
  environment: Record<string, string> | null;
  /** A document that was given as text or object, to be kept apart. */
  inlineSpec: string | null;
}

/** First names of built-in tools, and names a guest's `tools` object must not answer to. */
const RESERVED = new Set(["executor", "human", "catalog", "describe", "discover", "then", "constructor", "prototype"]);
const MAX_NAMESPACE = 63;

export function describeSource(
  given: SourceDefinition,
  { mayReachMachine }: { mayReachMachine: boolean },
): DescribedSource {
  const { auth, spec, env, ...rest } = given;
  const namespace = given.namespace ?? slugOf(given.name);
  if (RESERVED.has(namespace))
    throw new AppError("source.invalid", `The namespace ${namespace} is reserved. Set \`namespace\` to another one.`);
  if (!mayReachMachine) refuseMachine(given);
  checkUrls(given);
  checkHeaders(given);
  const inlineSpec = inlineOf(spec);
  const definition: PublicDefinition = {
    ...rest,
    namespace,
    ...(inlineSpec === null && spec !== undefined && { spec }),
    ...(auth && { auth: withoutSecret(auth) }),
    ...(env && { env: Object.fromEntries(Object.keys(env).map((name) => [name, ""])) }),
  };
  const environment = env && Object.keys(env).length > 0 ? env : null;
  return { namespace, definition, secret: auth ? secretOf(auth) : null, environment, inlineSpec };
}

/** `My API (v2)` becomes `my_api_v2`. */
export function slugOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, MAX_NAMESPACE);
  if (slug === "") return "source";
  return /^[a-z]/.test(slug) ? slug : `s_${slug}`.slice(0, MAX_NAMESPACE);
}

function refuseMachine({ command, transport, spec, url, shared }: SourceDefinition): void {
  const reaches =
    command !== undefined || transport === "stdio"
      ? "a source that starts a command"
      : [spec, url].some((each) => typeof each === "string" && /^\s*file:/i.test(each))
        ? "a source that reads a file of this machine"
        : shared === true
          ? "a source for all workspaces"
          : null;
  if (reaches)
    throw new AppError(
      "source.admin_only",
      `Only an installation admin may add ${reaches}. Use the owner's key, or EXECUTOR_TOOL_SOURCES.`,
    );
}

function checkUrls(definition: SourceDefinition): void {
  for (const field of ["url", "baseUrl", "spec"] as const) {
    const value = definition[field];
    const isDocument = field === "spec" || (definition.type === "openapi" && field === "url");
    if (typeof value !== "string" || (isDocument && /^\s*file:/i.test(value))) continue;
    if (field === "spec" && !isUrl(value)) continue;
    const parsed = URL.parse(value.trim());
    if (!parsed || !/^https?:$/.test(parsed.protocol))
      throw new AppError("source.invalid", `${field} must be an http or https URL.`);
    if (parsed.username || parsed.password)
      throw new AppError("source.invalid", `${field} must not hold a user name or password: use \`auth\`.`);
    const secret = [...parsed.searchParams.keys()].find((name) => SECRET_NAME.test(name));
    // A URL is shown to everybody who sees the source, and written to the store as it is.
    if (secret !== undefined)
      throw new AppError(
        "source.invalid",
        `${field} must not hold a secret, and ${secret.slice(0, 100)} looks like one: use \`auth\` of type apiKey with query: ${JSON.stringify(secret.slice(0, 100))}.`,
      );
  }
}

/** Names under which secrets are sent. */
const SECRET_NAME = /(^|[-_.])(api[-_]?key|apikey|access[-_]?key|key|token|secret|passw(or)?d|signature|sig|auth)$/i;

function checkHeaders({ headers = {} }: SourceDefinition): void {
  const secret = Object.keys(headers).find(
    (name) => SECRET_NAME.test(name) || /^(proxy-)?authorization$|^cookie$/i.test(name),
  );
  if (secret !== undefined)
    throw new AppError(
      "source.invalid",
      `headers are shown to everybody who sees the source, and ${secret.slice(0, 100)} looks like a secret: use \`auth\` of type apiKey with header: ${JSON.stringify(secret.slice(0, 100))}, or a credential with headers.`,
    );
}

/** Null for a URL. */
function inlineOf(spec: SourceDefinition["spec"]): string | null {
  if (spec === undefined) return null;
  if (typeof spec !== "string") return JSON.stringify(spec);
  return isUrl(spec) ? null : spec;
}

const isUrl = (spec: string): boolean =>
  spec.length <= 4_000 && /^\s*(https?|file):/i.test(spec) && !spec.trim().includes("\n");

function withoutSecret(auth: SourceAuth): PublicAuth {
  const {
    token: _t,
    value: _v,
    password: _p,
    clientSecret: _c,
    ...open
  } = auth as SourceAuth & Record<string, unknown>;
  return open as PublicAuth;
}

function secretOf(auth: SourceAuth): Record<string, string> | null {
  if (auth.mode === "static") {
    if (auth.type === "bearer") return { token: auth.token };
    if (auth.type === "apiKey") return { value: auth.value };
    return { username: auth.username, password: auth.password };
  }
  return auth.type === "oauth2" && auth.clientSecret !== undefined ? { clientSecret: auth.clientSecret } : null;
}
