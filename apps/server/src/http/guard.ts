/**
 * Who may talk to this server from a browser: requests must name a Host we serve (a rebound DNS name does not) and, if
 * they carry an Origin, come from one of our own pages. There are no cookies and no CORS headers, so nothing else may.
 * /internal is for guests in VMs: also by the host of the callback URL, and never from a page. What a Funnel brings from the
 * internet gets no further than that.
 */
import { AppError } from "@executor/contracts/error";
import type { ServerEnv } from "../env.ts";

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];
const ANY_ADDRESS = ["0.0.0.0", "::", "[::]"];

/** Tailscale sets it on what comes from the internet through a Funnel, and takes it away from what anyone else sends. */
const FUNNEL_HEADER = "tailscale-funnel-request";

export interface Guard {
  check(headers: Headers, path: string): void;
}

/** `callbackHosts`: what guests in VMs call this server; known only once a Funnel is open. */
export function createGuard(
  env: Pick<ServerEnv, "host" | "port" | "publicUrl" | "allowedHosts">,
  callbackHosts: () => readonly string[] = () => [],
): Guard {
  const served = servedHosts(env);
  const isServed = (host: string): boolean => served.has(host) || env.allowedHosts.includes(host.replace(/:\d+$/, ""));
  return {
    check(headers, path) {
      const isCallback = path.startsWith("/internal/");
      if (headers.has(FUNNEL_HEADER) && !isCallback)
        throw new AppError("request.host_refused", "From the internet this server takes the callbacks of runs only.");
      const host = headers.get("host")?.toLowerCase() ?? "";
      if (!isServed(host) && !(isCallback && callbackHosts().includes(host))) {
        throw new AppError(
          "request.host_refused",
          `This server is not called "${host.slice(0, 100)}". Use its own address, or name the host in EXECUTOR_ALLOWED_HOSTS or EXECUTOR_PUBLIC_URL.`,
        );
      }
      if (isCallback && headers.has("origin"))
        throw new AppError("request.origin_refused", "Pages may not call this route.");
      const origin = headers.get("origin");
      if (origin !== null && !isServed(hostOfOrigin(origin))) {
        throw new AppError("request.origin_refused", `Pages of "${origin.slice(0, 100)}" may not call this server.`);
      }
    },
  };
}

/** Names with the port as a browser writes it: left out when it is the scheme's own. */
function servedHosts({
  host,
  port,
  publicUrl,
  allowedHosts,
}: Pick<ServerEnv, "host" | "port" | "publicUrl" | "allowedHosts">): Set<string> {
  const bound = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  const names = ANY_ADDRESS.includes(host) ? LOOPBACK_NAMES : [...LOOPBACK_NAMES, bound.toLowerCase()];
  const own = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  const open = publicUrl === null ? [] : [new URL(publicUrl).host];
  return new Set([...own, ...open, ...allowedHosts]);
}

/** "null", a file or an extension has no host we could serve. */
function hostOfOrigin(origin: string): string {
  const url = URL.parse(origin);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url.host : "";
}
