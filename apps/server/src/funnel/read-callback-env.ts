/** Whether and how VMs could call back, as the environment says. Pure. */
import { type Environment, EnvironmentError, readVariable } from "@executor/core/installation-env";
import { readVercelSettings, type VercelSettings } from "@executor/runtimes/vercel-sandbox/read-vercel-settings";
import type { ServerEnv } from "../env.ts";

export interface CallbackEnv {
  vercel: VercelSettings;
  /** Open a Tailscale Funnel to /internal. */
  funnel: boolean;
  /** Set, and of no use: each run has a token of its own. */
  hasInternalToken: boolean;
}

export function readCallbackEnv(env: Environment, server: Pick<ServerEnv, "isLoopback" | "publicUrl">): CallbackEnv {
  const vercel = readVercelSettings(env);
  const asked = readVariable(env, "EXECUTOR_AUTO_TAILSCALE_FUNNEL");
  if (asked !== null && !["0", "1", "true", "false"].includes(asked))
    throw new EnvironmentError(`EXECUTOR_AUTO_TAILSCALE_FUNNEL must be 1 or 0; it is "${asked.slice(0, 100)}".`);
  const isDevelopment =
    server.isLoopback && server.publicUrl === null && readVariable(env, "NODE_ENV") !== "production";
  const isWanted = asked === null ? isDevelopment : asked === "1" || asked === "true";
  return {
    vercel,
    // Without credentials there are no VMs that could call, and nothing is opened for them.
    funnel: isWanted && vercel.baseUrl === null && typeof vercel.credentials !== "string",
    hasInternalToken: readVariable(env, "EXECUTOR_INTERNAL_TOKEN") !== null,
  };
}
