/**
 * The environment of `vercel-sandbox`, for server and worker alike. Pure; nothing is asked of Vercel here.
 * Credentials are always given to the SDK: without them it would start a login in a browser.
 */
import { type Environment, EnvironmentError, readVariable } from "@executor/core/installation-env";

export interface VercelCredentials {
  token: string;
  teamId: string;
  projectId: string;
  /** Of an OIDC token; null where nobody can tell. */
  expiresAt: number | null;
}

export interface VercelSettings {
  /** Or why there are none. */
  credentials: VercelCredentials | string;
  /** Of Vercel's own images. */
  runtime: string;
  /** A container image instead. */
  image: string | null;
  /** How long a VM is kept for a task that waits for a person. */
  graceMs: number;
  apiUrl: string;
  /** Where VMs reach the server, without /internal; null: the server finds one (Tailscale Funnel), or there is none. */
  baseUrl: string | null;
}

const RUNTIMES = ["node22", "node24"];
const API_URL = "https://vercel.com/api";

export function readVercelSettings(env: Environment): VercelSettings {
  const runtime = readVariable(env, "EXECUTOR_VERCEL_SANDBOX_RUNTIME") ?? "node22";
  if (!RUNTIMES.includes(runtime))
    throw new EnvironmentError(
      `EXECUTOR_VERCEL_SANDBOX_RUNTIME must be one of ${RUNTIMES.join(", ")}; it is "${runtime}".`,
    );
  return {
    credentials: readCredentials(env),
    runtime,
    image: readVariable(env, "EXECUTOR_VERCEL_SANDBOX_IMAGE"),
    graceMs: readGrace(env),
    apiUrl: readUrl(env, "EXECUTOR_VERCEL_API_URL") ?? API_URL,
    baseUrl: readUrl(env, "EXECUTOR_INTERNAL_BASE_URL"),
  };
}

function readCredentials(env: Environment): VercelCredentials | string {
  const [token, teamId, projectId] = ["VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"].map((name) =>
    readVariable(env, name),
  );
  if (token && teamId && projectId) return { token, teamId, projectId, expiresAt: null };
  const oidc = readVariable(env, "VERCEL_OIDC_TOKEN");
  if (oidc === null)
    return "Vercel credentials are missing: set VERCEL_OIDC_TOKEN (`vercel env pull` writes it), or VERCEL_TOKEN, VERCEL_TEAM_ID and VERCEL_PROJECT_ID.";
  const claims = readClaims(oidc);
  if (typeof claims?.["owner_id"] !== "string" || typeof claims["project_id"] !== "string")
    return "VERCEL_OIDC_TOKEN is not a token of a Vercel project. Run `vercel link`, then `vercel env pull`.";
  const expiresAt = typeof claims["exp"] === "number" ? claims["exp"] * 1_000 : null;
  return { token: oidc, teamId: claims["owner_id"], projectId: claims["project_id"], expiresAt };
}

function readGrace(env: Environment): number {
  const text = readVariable(env, "EXECUTOR_VERCEL_SANDBOX_GRACE_MS") ?? "15000";
  if (!/^\d{1,6}$/.test(text) || Number(text) > 300_000)
    throw new EnvironmentError(
      `EXECUTOR_VERCEL_SANDBOX_GRACE_MS must be a whole number from 0 to 300000; it is "${text.slice(0, 100)}".`,
    );
  return Number(text);
}

/** Not verified: Vercel does that. Only who it is for is of interest. */
function readClaims(token: string): Record<string, unknown> | null {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** https, for the token of a run travels there; plain http only to this machine. */
function readUrl(env: Environment, name: string): string | null {
  const text = readVariable(env, name);
  if (text === null) return null;
  const url = URL.parse(text);
  const isLocal = url !== null && /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(url.hostname);
  const isGood = url !== null && (url.protocol === "https:" || (url.protocol === "http:" && isLocal));
  if (!isGood || url.username || url.password || url.search || url.hash)
    throw new EnvironmentError(
      `${name} must be an https URL without user, query or fragment; it is "${text.slice(0, 100)}".`,
    );
  return text.replace(/\/+$/, "");
}
