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
  const { auth, spec, ...rest } = given;
  const namespace = given.namespace ?? slugOf(given.name);
  if (RESERVED.has(namespace))
    throw new AppError("source.invalid", `The namespace ${namespace} is reserved. Set \`namespace\` to another one.`);
  if (!mayReachMachine) refuseMachine(given);
  checkUrls(given);
  const inlineSpec = inlineOf(spec);
  const definition: PublicDefinition = {
    ...rest,
    namespace,
    ...(inlineSpec === null && spec !== undefined && { spec }),
    ...(auth && { auth: withoutSecret(auth) }),
  };
  return { namespace, definition, secret: auth ? secretOf(auth) : null, inlineSpec };
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
  for (const field of ["url", "baseUrl"] as const) {
    const value = definition[field];
    if (value === undefined || (definition.type === "openapi" && field === "url" && /^\s*file:/i.test(value))) continue;
    const parsed = URL.parse(value);
    if (!parsed || !/^https?:$/.test(parsed.protocol))
      throw new AppError("source.invalid", `${field} must be an http or https URL; it is "${value.slice(0, 200)}".`);
    if (parsed.username || parsed.password)
      throw new AppError("source.invalid", `${field} must not hold a user name or password: use \`auth\`.`);
  }
}

/** Null for a URL. */
function inlineOf(spec: SourceDefinition["spec"]): string | null {
  if (spec === undefined) return null;
  if (typeof spec !== "string") return JSON.stringify(spec);
  const isUrl = spec.length <= 4_000 && /^\s*(https?|file):/i.test(spec) && !spec.trim().includes("\n");
  return isUrl ? null : spec;
}

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
