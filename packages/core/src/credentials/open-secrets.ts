/**
 * Opens what rows keep, through the provider of each row, and remembers it for a short time. A row that changed has
 * another version, so nothing old is ever given out for a new row.
 */
import { AppError } from "@executor/contracts/error";
import type { CredentialProvider, SecretBinding } from "../ports/vault.ts";
import type { CredentialRow } from "../store/tables.ts";

export type Providers = ReadonlyMap<CredentialProvider["id"], CredentialProvider>;

/** Of those who opened a secret a moment ago, most open it again; after this time it is gone from memory. */
const KEEP_MS = 30_000;
const MAX_KEPT = 500;

export class OpenSecrets {
  readonly #providers: Providers;
  readonly #now: () => number;
  readonly #open = new Map<string, { secretJson: Promise<string>; until: number }>();

  constructor(providers: Providers, now: () => number) {
    this.#providers = providers;
    this.#now = now;
  }

  reveal(row: CredentialRow): Promise<string> {
    const id = `${row.credentialId}/${row.version}`;
    const now = this.#now();
    const known = this.#open.get(id);
    if (known && known.until > now) return known.secretJson;
    this.#forgetOld(now);
    const entry = { secretJson: this.#openRow(row), until: now + KEEP_MS };
    this.#open.set(id, entry);
    entry.secretJson.catch(() => this.#open.get(id) === entry && this.#open.delete(id));
    return entry.secretJson;
  }

  provider(id: string): CredentialProvider {
    const provider = this.#providers.get(id as CredentialProvider["id"]);
    if (provider) return provider;
    const hint = id === "workos-vault" ? " Set WORKOS_API_KEY for server and worker." : "";
    throw new AppError(
      "credential.unreadable",
      `The provider ${id} is not set up here; there are ${[...this.#providers.keys()].join(", ")}.${hint}`,
    );
  }

  async #openRow(row: CredentialRow): Promise<string> {
    return await this.provider(row.provider).reveal(bindingOf(row), row.kept);
  }

  /** Entries are in the order of their time. */
  #forgetOld(now: number): void {
    for (const [id, { until }] of this.#open) {
      if (until > now && this.#open.size < MAX_KEPT) return;
      this.#open.delete(id);
    }
  }
}

export function bindingOf(row: Omit<SecretBinding, "scope"> & { scope: string }): SecretBinding {
  const { workspaceId, sourceKey, scope, actorId, name, version } = row;
  return { workspaceId, sourceKey, scope: scope === "actor" ? "actor" : "workspace", actorId, name, version };
}
