/** What the environment says about our MCP endpoint: who may use it without a key, and whose tokens it takes. */
import { z } from "zod";
import { EnvironmentError, type Environment, readVariable } from "@executor/core/installation-env";

export interface McpSettings {
  /** MCP_GATEWAY_REQUIRE_AUTH: no client without a bearer, wherever it comes from. */
  requireAuth: boolean;
  /** How long a call holds its answer back for the task; below the patience of common clients (60 s). */
  callWaitMs: number;
  oauth: OauthSettings | null;
}

export interface OauthSettings {
  /** MCP_AUTHORIZATION_SERVER, or _URL: the issuer, as it names itself. */
  issuer: string;
  /** MCP_OAUTH_AUDIENCE: what tokens for us are made out to; default: the address of our endpoint. */
  audience: string | null;
  /** MCP_OAUTH_WORKSPACES: which workspace a token leads to, by `claim=value` or `*`. "local" is the owner's. */
  workspaces: Record<string, string>;
  /** MCP_OAUTH_ELICIT_CLIENTS: client ids behind which a person answers elicitations. */
  elicitClients: string[];
}

const DEFAULT_WAIT_MS = 45_000;
const Workspaces = z.record(z.string().regex(/^(\*|[\w.:/-]+=.+)$/), z.string().min(1));

export function readMcpSettings(env: Environment): McpSettings {
  const issuer = readVariable(env, "MCP_AUTHORIZATION_SERVER") ?? readVariable(env, "MCP_AUTHORIZATION_SERVER_URL");
  return {
    requireAuth: readFlag(env, "MCP_GATEWAY_REQUIRE_AUTH"),
    callWaitMs: readWait(env),
    oauth: issuer === null ? null : readOauth(env, issuer),
  };
}

function readOauth(env: Environment, issuer: string): OauthSettings {
  const url = URL.parse(issuer);
  const isLoopback = url !== null && /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(url.hostname);
  if (!url || !(url.protocol === "https:" || (url.protocol === "http:" && isLoopback)))
    throw new EnvironmentError(
      `MCP_AUTHORIZATION_SERVER must be the issuer's https URL (http on loopback only); it is "${issuer.slice(0, 100)}".`,
    );
  return {
    issuer,
    audience: readVariable(env, "MCP_OAUTH_AUDIENCE"),
    workspaces: readWorkspaces(env),
    elicitClients: (readVariable(env, "MCP_OAUTH_ELICIT_CLIENTS") ?? "")
      .split(",")
      .map((id) => id.trim())
      .filter(Boolean),
  };
}

/** There is no default: an authorization server may know more people than are meant to come in. */
function readWorkspaces(env: Environment): Record<string, string> {
  const text = readVariable(env, "MCP_OAUTH_WORKSPACES");
  const parsed = Workspaces.safeParse(text === null ? undefined : parseJson(text));
  if (parsed.success && Object.keys(parsed.data).length > 0) return parsed.data;
  throw new EnvironmentError(
    'MCP_AUTHORIZATION_SERVER needs MCP_OAUTH_WORKSPACES, a JSON object that says where tokens lead: {"org_id=acme": "ws_…"}, or {"*": "local"} for everybody that server lets in.',
  );
}

function readFlag(env: Environment, name: string): boolean {
  const value = readVariable(env, name);
  if (value === null || ["0", "false"].includes(value)) return false;
  if (["1", "true"].includes(value)) return true;
  throw new EnvironmentError(`${name} must be 1 or 0; it is "${value.slice(0, 100)}".`);
}

function readWait(env: Environment): number {
  const value = readVariable(env, "MCP_CALL_WAIT_MS");
  if (value === null) return DEFAULT_WAIT_MS;
  const ms = Number(value);
  if (Number.isInteger(ms) && ms >= 100 && ms <= 3_600_000) return ms;
  throw new EnvironmentError(`MCP_CALL_WAIT_MS must be a whole number from 100 to 3600000; it is "${value}".`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
