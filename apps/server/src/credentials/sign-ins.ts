/**
 * Sign-ins with the providers of sources, from the button to the stored tokens. The state is single use and known by its hash
 * only; verifier and client secrets are sealed while a person is away.
 */
import type { ConnectOauth } from "@executor/contracts/credential";
import type { CredentialAskState } from "@executor/core/credentials/ask-for-credential";
import type { CredentialDesk } from "@executor/core/credentials/credential-desk";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { Vault } from "@executor/vault/create-providers";
import type { Bearer } from "../http/authenticate.ts";

export interface SignIns {
  start(request: ConnectOauth, caller: Bearer): Promise<{ authorizationUrl: string; expiresAt: number }>;
  /** What came back in the callback's query. */
  finish(params: URLSearchParams): Promise<{ slot: CredentialAskState; by: { actorId: string; clientId: string } }>;
}

export interface SignInParts {
  store: Store;
  host: Host;
  desk: CredentialDesk;
  vault: Vault;
  fetch: GuardedFetch;
  redirectBase: string;
}

export function createSignIns(_: SignInParts): SignIns {
  throw new Error("pending");
}
