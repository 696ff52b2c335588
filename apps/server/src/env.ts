/** The server's environment, read once by main.ts. Anything wrong is one message that names the variable. */
import { z } from "zod";
import type { SourceDefinition } from "@executor/contracts/source";
import {
  EnvironmentError,
  explainVariables,
  readInstallation,
  type Environment,
  type Installation,
} from "@executor/core/installation-env";
import { type McpSettings, readMcpSettings } from "./mcp/mcp-settings.ts";
import { readSourcesEnv, readToolSources } from "@executor/core/sources-env";

export interface ServerEnv {
  host: string;
  port: number;
  /** Only this machine can reach the bound address. */
  isLoopback: boolean;
  /** Where people reach the server, when that is not where it listens. No slash at the end. */
  publicUrl: string | null;
  /** Https address of a client metadata document that names our callback, hosted elsewhere. */
  oauthClientUrl: string | null;
  /** More Host values to serve, with or without a port. */
  allowedHosts: string[];
  anonymous: boolean;
  /** The server runs tasks itself; no worker is needed. */
  autoExecute: boolean;
  parentPid: number | null;
  mcp: McpSettings;
  /** EXECUTOR_TOOL_SOURCES. */
  toolSources: SourceDefinition[];
}

export function readServerEnv(
  env: Environment,
  platform: string,
  homedir: string,
): { server: ServerEnv; installation: Installation } {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""));
  const parsed = ServerVariables.safeParse(set);
  if (!parsed.success) {
    throw new EnvironmentError(explainVariables(parsed.error.issues, set));
  }
  const variables = parsed.data;
  // Refused at the start, not at the first call.
  readSourcesEnv(env);
  const isLoopback = isLoopbackName(variables.EXECUTOR_HOST);
  const server: ServerEnv = {
    host: variables.EXECUTOR_HOST,
    port: variables.EXECUTOR_PORT,
    isLoopback,
    publicUrl: variables.EXECUTOR_PUBLIC_URL ?? null,
    oauthClientUrl: variables.EXECUTOR_OAUTH_CLIENT_URL ?? null,
    allowedHosts: variables.EXECUTOR_ALLOWED_HOSTS,
    anonymous: variables.EXECUTOR_ANONYMOUS ?? isLoopback,
    autoExecute: variables.EXECUTOR_SERVER_AUTO_EXECUTE ?? false,
    parentPid: variables.EXECUTOR_PARENT_PID ?? null,
    mcp: readMcpSettings(env),
    toolSources: readToolSources(env),
  };
  return { server, installation: readInstallation(env, platform, homedir) };
}

/** The whole of 127.0.0.0/8 is loopback. A name is not looked up: only `localhost` is taken for one. */
export const isLoopbackName = (host: string): boolean => /^(127(\.\d{1,3}){3}|localhost|::1|\[::1\])$/i.test(host);

const flag = z
  .enum(["0", "1", "true", "false"], "must be 1 or 0")
  .transform((value) => value === "1" || value === "true");
const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .pipe(z.int(message).min(min, message).max(max, message));
};
const hostName = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;

const ServerVariables = z.object({
  EXECUTOR_HOST: z
    .string()
    .regex(/^[A-Za-z0-9._:[\]-]{1,255}$/, "must be an address or name to listen on")
    .default("127.0.0.1"),
  EXECUTOR_PORT: wholeNumber(0, 65_535).default(8_788),
  EXECUTOR_PUBLIC_URL: z
    .string()
    .refine(isPlainUrl, "must be an http or https URL without user, query or fragment")
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  EXECUTOR_OAUTH_CLIENT_URL: z
    .string()
    .refine(isDocumentUrl, "must be an https URL with a path, without user, query or fragment")
    .optional(),
  EXECUTOR_ALLOWED_HOSTS: z
    .string()
    .transform((list) =>
      list
        .split(",")
        .map((entry) => entry.trim().toLowerCase())
        .filter(Boolean),
    )
    .refine(
      (hosts) => hosts.every((entry) => hostName.test(entry)),
      "must be host names, with a port if needed, separated by commas",
    )
    .default([]),
  EXECUTOR_ANONYMOUS: flag.optional(),
  EXECUTOR_SERVER_AUTO_EXECUTE: flag.optional(),
  EXECUTOR_PARENT_PID: wholeNumber(1, 999_999_999).optional(),
});

/** As a client id metadata document must have it. */
function isDocumentUrl(text: string): boolean {
  return isPlainUrl(text) && text.startsWith("https://") && new URL(text).pathname.length > 1;
}

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
}
