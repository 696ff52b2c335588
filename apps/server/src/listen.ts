/**
 * Puts the app on a port. Idle connections are cut, but only after longer than any wait lasts: streams send heartbeats,
 * so what is cut is a client that neither reads nor writes.
 */
import { EnvironmentError } from "@executor/core/installation-env";
import type { Hono } from "hono";
import { createApp } from "./app.ts";
import type { AppDeps } from "./deps.ts";
import type { AppTypes } from "./http/app-types.ts";

/** Longer than `?wait` (60 s) and the heartbeat of streams (15 s). */
const IDLE_SECONDS = 120;
/** What requests under way get to end by themselves. */
const DRAIN_MS = 7_000;

export interface Listening {
  port: number;
  /** Accepts nothing more, lets what is under way end, then cuts the rest. */
  stop(): Promise<void>;
}

export function listen(deps: AppDeps, create: (deps: AppDeps) => Hono<AppTypes> = createApp): Listening {
  // The guard must know the port, and port 0 is known only once it is bound.
  const serving: { app?: ReturnType<typeof createApp> } = {};
  const server = bind(
    deps,
    (request, address) => serving.app?.fetch(request, address) ?? new Response(null, { status: 503 }),
  );
  const port = server.port ?? deps.env.port;
  serving.app = create({ ...deps, env: { ...deps.env, port } });
  return {
    port,
    async stop() {
      const ended = server.stop();
      await Promise.race([ended, Bun.sleep(DRAIN_MS)]);
      await server.stop(true);
    },
  };
}

type Serve = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>;

function bind({ env, limits }: AppDeps, fetch: Serve): Bun.Server<undefined> {
  try {
    // Our own limit answers properly; Bun's stands behind it. Outside development Bun shares a port that is taken
    // (half of the requests would then go to another server) unless it is told not to.
    return Bun.serve({
      hostname: env.host,
      port: env.port,
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      maxRequestBodySize: 10 * limits.bodyBytes,
      development: false,
      fetch,
    });
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "EADDRINUSE"
        ? "something else listens there already"
        : (error as Error).message;
    throw new EnvironmentError(
      `Cannot listen on ${env.host}:${env.port}: ${reason}. Choose another with EXECUTOR_PORT (a gateway: EXECUTOR_GATEWAY_PORT) or EXECUTOR_HOST.`,
    );
  }
}
