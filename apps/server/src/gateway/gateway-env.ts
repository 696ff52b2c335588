/** The gateway's environment: the server's, and where the gateway itself listens and is reached. */
import { z } from "zod";
import { EnvironmentError, type Environment, type Installation, readVariable } from "@executor/core/installation-env";
import { readServerEnv, type ServerEnv } from "../env.ts";
import { ownBase } from "../http/own-base.ts";

export interface GatewayEnv {
  /** As the app sees it: its own port and public address. */
  server: ServerEnv;
  installation: Installation;
  /** Where people decide: the server's console. */
  consoleBase: string;
}

const DEFAULT_PORT = 5_313;
const Port = z.coerce.number().int().min(0).max(65_535);
const PublicUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));

export function readGatewayEnv(env: Environment, platform: string, homedir: string): GatewayEnv {
  const { server, installation } = readServerEnv(env, platform, homedir);
  const port = read(env, "EXECUTOR_GATEWAY_PORT", Port, "must be a port, from 0 to 65535") ?? DEFAULT_PORT;
  const publicUrl = read(env, "EXECUTOR_GATEWAY_PUBLIC_URL", PublicUrl, "must be an http or https URL");
  // An installation that is reached from outside lets nobody in without a bearer, at no door.
  const requireAuth = server.mcp.requireAuth || server.publicUrl !== null;
  return {
    server: { ...server, port, publicUrl, autoExecute: false, mcp: { ...server.mcp, requireAuth } },
    installation,
    consoleBase: ownBase(server),
  };
}

function read<S extends z.ZodType>(env: Environment, name: string, schema: S, means: string): z.output<S> | null {
  const value = readVariable(env, name);
  if (value === null) return null;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new EnvironmentError(`${name} ${means}; it is "${value.slice(0, 100)}".`);
  return parsed.data;
}
