/**
 * All the places where secrets may lie, from the settings of an installation. Nothing is read or made before the first
 * secret is: an installation without credentials has no key.
 */
import { createHash } from "node:crypto";
import { EnvironmentError, readVariable, type Environment } from "@executor/core/installation-env";
import type { GuardedFetch } from "@executor/core/ports/source";
import type { CredentialProvider } from "@executor/core/ports/vault";
import { createEnvProvider } from "./env-provider.ts";
import { type InstallationKeys, parseKeyText } from "./installation-key.ts";
import type { Warn } from "./key-file.ts";
import { type Keychain, openKeychain } from "./keychain.ts";
import { loadInstallationKeys } from "./load-installation-keys.ts";
import { createManagedProvider } from "./managed-provider.ts";
import { createSealer, type Sealer } from "./sealer.ts";
import { createWorkosVaultProvider } from "./workos-vault-provider.ts";
import { createWorkspaceKeys, type KeyStore } from "./workspace-keys.ts";

export interface VaultSettings {
  /** EXECUTOR_SECRETS_KEY: base64 of 32 bytes, instead of the file `secrets-key`. */
  secretsKey: string | null;
  /** EXECUTOR_SECRETS_KEY_PREVIOUS: older keys, separated by commas; what they wrapped is wrapped anew when it is used. */
  previousKeys: string[];
  /** EXECUTOR_KEYRING=1: keep the key in the keychain of the operating system. */
  useKeychain: boolean;
  /** WORKOS_API_KEY; without it there is no workos-vault. */
  workosApiKey: string | null;
  /** WORKOS_API_URL. */
  workosUrl: string | null;
}

export interface VaultParts {
  home: string;
  settings: VaultSettings;
  environment: Environment;
  store: KeyStore;
  fetch: GuardedFetch;
  now: () => number;
  warn: Warn;
  /** Default: that of this platform, if the settings ask for it. */
  keychain?: Keychain | null;
}

export interface Vault {
  providers: ReadonlyMap<CredentialProvider["id"], CredentialProvider>;
  sealer: Sealer;
}

export function createProviders(parts: VaultParts): Vault {
  const { settings, store, now } = parts;
  const keys = createWorkspaceKeys({ store, installationKeys: once(() => loadKeys(parts)), now });
  const providers = [createManagedProvider(keys), createEnvProvider(parts.environment)];
  if (settings.workosApiKey !== null) {
    const baseUrl = settings.workosUrl ?? undefined;
    providers.push(createWorkosVaultProvider({ fetch: parts.fetch, apiKey: settings.workosApiKey, baseUrl }));
  }
  return { providers: new Map(providers.map((provider) => [provider.id, provider])), sealer: createSealer(keys) };
}

/** Names the variable that is wrong, never its value. */
export function readVaultSettings(environment: Environment): VaultSettings {
  const secretsKey = readVariable(environment, "EXECUTOR_SECRETS_KEY");
  const previous = readVariable(environment, "EXECUTOR_SECRETS_KEY_PREVIOUS");
  const previousKeys = (previous ?? "").split(",").filter((text) => text.trim() !== "");
  if (secretsKey !== null) checkKey("EXECUTOR_SECRETS_KEY", secretsKey);
  for (const key of previousKeys) checkKey("EXECUTOR_SECRETS_KEY_PREVIOUS", key);
  return {
    secretsKey,
    previousKeys,
    useKeychain: ["1", "true"].includes(readVariable(environment, "EXECUTOR_KEYRING") ?? ""),
    workosApiKey: readVariable(environment, "WORKOS_API_KEY"),
    workosUrl: readVariable(environment, "WORKOS_API_URL"),
  };
}

function checkKey(variable: string, text: string): void {
  const bytes = parseKeyText(text);
  if (bytes === null)
    throw new EnvironmentError(
      `${variable} must be the base64 of 32 bytes; make one with \`openssl rand -base64 32\`.`,
    );
  bytes.fill(0);
}

function loadKeys({ home, settings, warn, keychain }: VaultParts): Promise<InstallationKeys> {
  const { secretsKey: given, previousKeys: previous, useKeychain } = settings;
  const chain = useKeychain && given === null ? (keychain ?? openKeychain(process.platform, accountOf(home))) : null;
  if (useKeychain && given === null && chain === null)
    warn("EXECUTOR_KEYRING is set, but no keychain is known on this system; the key stays in a file.", { path: home });
  return loadInstallationKeys({ home, given, previous, keychain: chain, warn });
}

/** Two installations of one user have two keys. */
const accountOf = (home: string): string => createHash("sha256").update(home).digest("hex").slice(0, 24);

/** A failure is not kept: the next one tries again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
