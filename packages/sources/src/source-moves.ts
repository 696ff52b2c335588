/** Does a change of a source's settings send its credentials elsewhere? Those that were given for one host are not for another. */
import type { PublicAuth, PublicDefinition, SourceKind } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { SourceRow } from "@executor/core/store/tables";
import { loadHead } from "./stored-index.ts";

/** The first new place; null when there is none. */
export async function findMove(
  { store, kinds }: { store: Store; kinds: readonly SourceKind[] },
  source: SourceRow,
  before: PublicDefinition,
  after: PublicDefinition,
): Promise<string | null> {
  const isSame =
    before.baseUrl === after.baseUrl &&
    JSON.stringify(before.serverVariables ?? {}) === JSON.stringify(after.serverVariables ?? {});
  if (!before.auth || isSame) return null;
  const kind = kinds.find(({ type }) => type === source.type);
  // It was never read: only what the change itself names is known.
  if (!kind?.hosts || source.artifact === null) return after.baseUrl ?? "another host";
  const { metaJson } = await loadHead(store, source.artifact);
  const [known, hosts] = await Promise.all([kind.hosts(metaJson, before), kind.hosts(metaJson, after)]);
  if (known === null || hosts === null) return after.baseUrl ?? "another host";
  return hosts.find((host) => !known.includes(host)) ?? null;
}

const CLIENT_OPTIONS = ["type", "clientId", "issuer", "authorizationUrl", "tokenUrl"] as const;

/** A client's secret is for the one authorization server it was registered with. */
export const isOtherClient = (before: PublicAuth, after: PublicAuth | undefined): boolean =>
  CLIENT_OPTIONS.some((option) => before[option] !== after?.[option]);
