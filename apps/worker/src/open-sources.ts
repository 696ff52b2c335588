/**
 * Everything between a source and a call of one of its tools, put together once for server and worker alike: the way out, the
 * vault, the credential desk, the kinds, and the catalog they make. The only file that knows all of them.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Limits } from "@executor/contracts/limits";
import {
  type CredentialDesk,
  createCredentialDesk,
  STATIC_ACCOUNT,
  staticAuth,
} from "@executor/core/credentials/credential-desk";
import type { Environment, Installation } from "@executor/core/installation-env";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, SourceKind } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import { readSourcesEnv } from "@executor/core/sources-env";
import { createCallCredentials, readingAuth } from "@executor/sources/call-credentials";
import { createGuardedFetch } from "@executor/sources/egress/create-guarded-fetch";
import { lazyKind } from "@executor/sources/lazy-kind";
import { refreshTokens } from "@executor/sources/oauth/refresh-tokens";
import { createSourceProvider, type SourceProvider } from "@executor/sources/source-provider";
import { type SourceReader, startSourceReader } from "@executor/sources/source-reader";
import { createSourceService, type SourceSecrets, type SourceService } from "@executor/sources/source-service";
import { createProviders, readVaultSettings, type Vault } from "@executor/vault/create-providers";

export interface SourcesParts {
  installation: Pick<Installation, "home" | "runDir">;
  environment: Environment;
  store: Store;
  host: Host;
  log: Logger;
  limits: Limits;
  version: string;
}

export interface OpenSources {
  provider: SourceProvider;
  service: SourceService;
  desk: CredentialDesk;
  vault: Vault;
  fetch: GuardedFetch;
  startReader(): SourceReader;
  close(): Promise<void>;
}

const kinds: readonly SourceKind[] = [
  lazyKind("openapi", async () => (await import("@executor/sources/openapi/openapi-kind")).openapiKind),
  lazyKind("graphql", async () => (await import("@executor/sources/graphql/graphql-kind")).graphqlKind),
  lazyKind("mcp", async () => (await import("@executor/sources/mcp/mcp-kind")).mcpKind),
];

export function openSources(parts: SourcesParts): OpenSources {
  const { store, host, log, installation, environment } = parts;
  const settings = readSourcesEnv(environment);
  const fetch = createGuardedFetch({
    allowLoopback: settings.allowLoopback,
    allowPrivate: settings.egressAllow,
    ownPorts: createOwnPorts(installation.runDir, host),
    userAgent: `executor/${parts.version}`,
  });
  const vault = createProviders({
    home: installation.home,
    settings: readVaultSettings(environment),
    environment,
    store,
    fetch,
    now: () => host.now(),
    warn: (message) => log.warn("vault.warning", { message }),
  });
  const desk = createCredentialDesk({
    store,
    host,
    providers: vault.providers,
    refreshTokens: (_row, secret, { timeoutMs }) => refreshTokens({ fetch, secret, timeoutMs, now: host.now() }),
  });
  const service = createSourceService({ store, host, kinds, fetch, secrets: sourceSecrets(parts, desk, vault) });
  const credentials = createCallCredentials(desk);
  const provider = createSourceProvider(
    { store, host, log, kinds, fetch, credentials, maxResultBytes: parts.limits.callResultBytes },
    service,
  );
  return {
    provider,
    service,
    desk,
    vault,
    fetch,
    startReader: () =>
      startSourceReader({ store, host, log, kinds, fetch, readAuth: (source, by) => readingAuth(desk, source, by) }),
    close: () => provider.close(),
  };
}

/**
 * Where the server and each gateway write their ports, so that no source leads back to us. A gateway that was killed leaves its
 * file: then a port that nobody listens on stays closed to sources.
 */
export const portFile = (runDir: string, gatewayPort?: number): string =>
  join(runDir, gatewayPort === undefined ? "server-port" : `gateway-port-${gatewayPort}`);
const PORT_FILE = /^(server-port|gateway-port-\d+)$/;

/** The server's port may change with its next start, so it is looked up now and then. */
function createOwnPorts(runDir: string, host: Host): () => number[] {
  let known: number[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (host.monotonicMs() - readAt > 1_000) {
      readAt = host.monotonicMs();
      known = readPorts(runDir);
    }
    return known;
  };
}

function readPorts(runDir: string): number[] {
  const names = existsSync(runDir) ? readdirSync(runDir).filter((name) => PORT_FILE.test(name)) : [];
  return names.flatMap((name) => {
    try {
      return readFileSync(join(runDir, name), "utf8").split("\n").map(Number).filter(Boolean);
    } catch (error) {
      // A gateway stopped just now.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
}

function sourceSecrets({ store, host }: SourcesParts, desk: CredentialDesk, { sealer }: Vault): SourceSecrets {
  return {
    async keep({ workspaceId, namespace }, { definition: { auth }, secret, environment }, by) {
      if (secret && auth?.type === "oauth2") {
        const clientKey = manualClientKey(workspaceId, namespace);
        const sealed = await sealer.seal(workspaceId, "oauth-client", clientKey, JSON.stringify(secret));
        const client = { clientKey, workspaceId, issuer: clientKey, sealed, createdAt: host.now() };
        await store.saveOauthClient({ client, ifAbsent: false });
      }
      const own = auth?.mode === "static" ? secret : null;
      if (own || environment) {
        await desk.save({
          workspaceId,
          sourceKey: namespace,
          scope: "workspace",
          name: STATIC_ACCOUNT,
          auth: auth?.mode === "static" ? auth : staticAuth,
          secret: { ...own, ...(environment && { env: environment }) },
          by,
        });
      }
    },
    async forgetClient({ workspaceId, namespace }) {
      await store.deleteOauthClient({ workspaceId, clientKey: manualClientKey(workspaceId, namespace) });
    },
    async forget({ workspaceId, namespace }, by) {
      await desk.removeAll({ workspaceId, sourceKey: namespace, by });
      await store.deleteOauthClient({ workspaceId, clientKey: manualClientKey(workspaceId, namespace) });
    },
  };
}

/** Where the secret of a client lies that was registered by hand. */
export const manualClientKey = (workspaceId: string, namespace: string): string => `manual/${workspaceId}/${namespace}`;
