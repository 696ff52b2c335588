/**
 * Sign-ins with the providers of sources, from the button to the stored tokens. The state is single use and known by its hash
 * only; verifier and client secrets are sealed while a person is away.
 */
import type { ConnectOauth } from "@executor/contracts/credential";
import { AppError } from "@executor/contracts/error";
import type { CredentialAskState } from "@executor/core/credentials/ask-for-credential";
import type { CredentialDesk } from "@executor/core/credentials/credential-desk";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, PublicAuth, SourceSpec } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import { finishFlow, hashState, startFlow } from "@executor/sources/oauth/oauth-flows";
import { OauthClient } from "@executor/sources/oauth/oauth-secret";
import { clientDocumentUrl } from "@executor/sources/oauth/register-client";
import { specOf } from "@executor/sources/read-due-sources";
import type { SourceService } from "@executor/sources/source-service";
import type { Vault } from "@executor/vault/create-providers";
import { manualClientKey } from "@executor/worker/open-sources";
import type { Bearer } from "../http/authenticate.ts";
import { readAskState } from "./settle-asks.ts";

export interface SignIns {
  start(request: ConnectOauth, caller: Bearer): Promise<{ authorizationUrl: string; expiresAt: number }>;
  /**
   * What came back in the callback's query. `caller`: it must be the one who began; without it the state alone counts, which is
   * enough only where nobody else can begin one.
   */
  finish(
    params: URLSearchParams,
    caller: Bearer | null,
  ): Promise<{ slot: CredentialAskState; by: { actorId: string; clientId: string } }>;
}

export interface SignInParts {
  store: Store;
  host: Host;
  desk: CredentialDesk;
  vault: Vault;
  fetch: GuardedFetch;
  service: Pick<SourceService, "askChallenge">;
  /** Where a provider sends people back to, without a slash at the end. */
  redirectBase: string;
  /** EXECUTOR_OAUTH_CLIENT_URL. */
  clientDocumentUrl: string | null;
}

const FLOW = "oauth-flow";
const CLIENT = "oauth-client";

export function createSignIns(parts: SignInParts): SignIns {
  const { store, host, desk, vault, fetch, service, redirectBase } = parts;
  return {
    async start(request, caller) {
      const { workspaceId } = caller;
      const source = await findSource(store, workspaceId, request.sourceKey);
      const auth = signInOf(source);
      const slot = await slotOf(store, request, auth, caller);
      const started = await startFlow(fetch, {
        resourceUrl: resourceUrlOf(source),
        auth,
        wwwAuthenticate: await service.askChallenge(source),
        scopes: slot.scopes,
        identity: {
          manual: await manualClient(parts, source, auth),
          documentUrl: parts.clientDocumentUrl ?? (isHttps(redirectBase) ? clientDocumentUrl(redirectBase) : null),
          redirectUri: `${redirectBase}/oauth/callback`,
        },
        clients: clientsOf(parts, workspaceId),
        now: host.now(),
      });
      const { stateHash, expiresAt, authorizationUrl } = started;
      const sealed = await vault.sealer.seal(workspaceId, FLOW, stateHash, started.secretJson);
      const { scopes: _, ...place } = slot;
      const flow = {
        ...place,
        stateHash,
        sourceId: source.sourceId,
        interactionId: request.interactionId ?? null,
        sealed,
        startedBy: caller.actorId,
        clientId: caller.clientId,
        createdAt: host.now(),
        expiresAt,
      };
      await store.createOauthFlow({ flow, now: host.now() });
      return { authorizationUrl, expiresAt };
    },

    async finish(params, caller) {
      const flow = await store.useOauthFlow({ stateHash: hashState(params.get("state") ?? ""), now: host.now() });
      if (!flow)
        throw new AppError(
          "oauth.refused",
          "This sign-in is unknown, was used already or took too long. Start it again.",
        );
      // Or somebody could send another person to the provider and get their account into his own workspace.
      if (caller && (flow.workspaceId !== caller.workspaceId || flow.startedBy !== caller.actorId))
        throw new AppError(
          "oauth.refused",
          "This sign-in was begun by somebody else, so it was ended here. If you were sent a link, do not follow it; start a sign-in of your own.",
        );
      const { workspaceId, sourceKey, scope, actorId, name, stateHash } = flow;
      const secretJson = await vault.sealer.open(workspaceId, FLOW, stateHash, flow.sealed);
      const secret = await finishFlow(fetch, params, secretJson, host.now());
      const by = { actorId: flow.startedBy, clientId: flow.clientId };
      const slot = {
        workspaceId,
        sourceKey,
        name,
        scope: scope === "actor" ? ("actor" as const) : ("workspace" as const),
      };
      await desk.save({ ...slot, ...(scope === "actor" && { actorId }), kind: "oauth2", secret, by });
      return { slot: { ...slot, actorId }, by };
    },
  };
}

const isHttps = (url: string): boolean => url.startsWith("https://");

async function findSource(store: Store, workspaceId: string, sourceKey: string): Promise<SourceSpec> {
  const row = (await store.listSources({ workspaceId })).find(({ namespace }) => namespace === sourceKey);
  if (!row)
    throw new AppError("source.not_found", `There is no source with the namespace ${sourceKey} in this workspace.`);
  return specOf(row);
}

function signInOf({ definition, namespace }: SourceSpec): PublicAuth {
  if (definition.auth?.type === "oauth2" && definition.auth.mode !== "static") return definition.auth;
  throw new AppError(
    "oauth.unsupported",
    `The source ${namespace} is not set up for sign-in. Give it auth of type oauth2 first.`,
  );
}

/** For the whole workspace an admin signs in; everyone may for themselves, and for nobody else. */
async function slotOf(
  store: Store,
  request: ConnectOauth,
  auth: PublicAuth,
  caller: Bearer,
): Promise<Omit<CredentialAskState, "place">> {
  const { workspaceId, actorId } = caller;
  const scope = auth.mode === "actor" ? "actor" : "workspace";
  if (scope === "workspace" && caller.role !== "admin")
    throw new AppError("auth.forbidden", "Signing in for the whole workspace needs the role admin.");
  const own = {
    workspaceId,
    sourceKey: request.sourceKey,
    scope,
    actorId: scope === "actor" ? actorId : "",
    name: request.name ?? "default",
  };
  if (request.interactionId === undefined) return own;
  const asked = await store.readInteraction({ interactionId: request.interactionId, workspaceId });
  const state = asked && readAskState(asked);
  if (!state || state.sourceKey !== request.sourceKey)
    throw new AppError("interaction.not_found", "There is no such interaction that waits for this source.");
  if (state.scope === "actor" && state.actorId !== actorId)
    throw new AppError("auth.forbidden", "This sign-in is another person's own: only they can do it.");
  const { place: _, ...slot } = state;
  return slot;
}

/** What the tokens are for: the server itself, or where the requests of a document go. */
function resourceUrlOf({ definition: { url, baseUrl, spec }, namespace }: SourceSpec): string {
  const found = [url, baseUrl, spec].find((each) => typeof each === "string" && /^https?:/.test(each));
  if (typeof found === "string") return found;
  throw new AppError("oauth.unsupported", `The source ${namespace} has no address to sign in for. Set its baseUrl.`);
}

async function manualClient({ store, vault }: SignInParts, source: SourceSpec, auth: PublicAuth) {
  const clientId = auth["clientId"];
  if (typeof clientId !== "string") return null;
  const { workspaceId, namespace } = source;
  const clientKey = manualClientKey(workspaceId, namespace);
  const kept = await store.readOauthClient({ workspaceId, clientKey });
  if (!kept) return { clientId };
  const secret = JSON.parse(await vault.sealer.open(workspaceId, CLIENT, clientKey, kept.sealed)) as {
    clientSecret?: string;
  };
  return { clientId, clientSecret: secret.clientSecret };
}

function clientsOf({ store, vault, host }: SignInParts, workspaceId: string) {
  return {
    async find(issuer: string): Promise<OauthClient | null> {
      const kept = await store.findOauthClient({ workspaceId, issuer });
      if (!kept) return null;
      return OauthClient.parse(JSON.parse(await vault.sealer.open(workspaceId, CLIENT, kept.clientKey, kept.sealed)));
    },
    async keep(issuer: string, client: OauthClient): Promise<void> {
      const clientKey = host.newId("oauth");
      const sealed = await vault.sealer.seal(workspaceId, CLIENT, clientKey, JSON.stringify(client));
      await store.saveOauthClient({
        client: { clientKey, workspaceId, issuer, sealed, createdAt: host.now() },
        ifAbsent: false,
      });
    },
  };
}
