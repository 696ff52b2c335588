/**
 * How a client finds out where to get a token for us: our own document (RFC 9728), and the authorization server's (RFC 8414), passed on for
 * clients that look for it here. The latter is read once in a while, and only believed when it names the configured issuer.
 */
import { z } from "zod";
import { AppError } from "@executor/contracts/error";
import type { McpParts } from "./mcp-parts.ts";
import { SCOPES } from "./oauth-tokens.ts";

const Metadata = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
export type Metadata = z.infer<typeof Metadata>;

export interface AuthorizationServer {
  metadata(): Promise<Metadata>;
}

const KEEP_MS = 10 * 60_000;
const RETRY_MS = 5_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 200_000;

export function openAuthorizationServer({ deps }: Pick<McpParts, "deps">, issuer: string): AuthorizationServer {
  const { host, log } = deps;
  let known: { metadata: Metadata; readAtMs: number } | null = null;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<Metadata> | null = null;

  const read = async (): Promise<Metadata> => {
    for (const url of metadataUrls(issuer)) {
      const found = await readMetadata(url).catch((error: unknown) => {
        log.warn("mcp.metadata_unreadable", { url, reason: String(error).slice(0, 300) });
        return null;
      });
      if (found?.issuer === issuer) {
        known = { metadata: found, readAtMs: host.monotonicMs() };
        return found;
      }
    }
    failedAtMs = host.monotonicMs();
    if (known) return known.metadata;
    throw unavailable();
  };

  return {
    async metadata() {
      const nowMs = host.monotonicMs();
      if (known && nowMs - known.readAtMs < KEEP_MS) return known.metadata;
      if (nowMs - failedAtMs < RETRY_MS) {
        if (known) return known.metadata;
        throw unavailable();
      }
      reading ??= read().finally(() => (reading = null));
      return await reading;
    },
  };
}

const unavailable = (): AppError =>
  new AppError(
    "store.unavailable",
    "The authorization server (MCP_AUTHORIZATION_SERVER) cannot be read now, or names another issuer. Try again in a moment.",
  );

/** RFC 8414 puts the well-known part before the issuer's path, OpenID after it. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
}

async function readMetadata(url: string): Promise<Metadata | null> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  if (!response.ok) return null;
  const text = await response.text();
  return text.length > MAX_BYTES ? null : Metadata.parse(JSON.parse(text));
}

export const resourceMetadata = (resource: string, issuer: string): Record<string, unknown> => ({
  resource,
  resource_name: "Executor",
  authorization_servers: [issuer],
  bearer_methods_supported: ["header"],
  scopes_supported: Object.keys(SCOPES),
});
