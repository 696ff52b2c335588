/** Looking into sources: one of them, its document, what changed, what is behind a URL; and asking for another look. */
import { AppError } from "@executor/contracts/error";
import type { ProbeResult, SourceChanges } from "@executor/contracts/source";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, SourceKind, SourceSpec } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { SourceRow } from "@executor/core/store/tables";
import { compareIndexes } from "./compare-indexes.ts";
import { probeSource } from "./probe-source.ts";
import { loadDocument, loadHead } from "./stored-index.ts";

const PROBE_WITHIN_MS = 20_000;

interface LookDeps {
  store: Store;
  host: Host;
  kinds: readonly SourceKind[];
  fetch: GuardedFetch;
}

export function createSourceLooks({ store, host, kinds, fetch }: LookDeps) {
  const read = async (sourceId: string, workspaceId: string): Promise<SourceRow> => {
    const source = await store.readSource({ sourceId, workspaceId });
    if (!source) throw new AppError("source.not_found", `There is no source ${sourceId} in this workspace.`);
    return source;
  };
  return {
    read,

    refresh: (sourceId: string, workspaceId: string): Promise<SourceRow> =>
      store.requestIndexing({ sourceId, workspaceId, now: host.now() }),

    probe: (url: string): Promise<ProbeResult> =>
      probeSource(kinds, url, {
        fetch,
        auth: { parts: [], secrets: [] },
        mayReachMachine: false,
        signal: AbortSignal.timeout(PROBE_WITHIN_MS),
        onProgress: () => undefined,
      }),

    /** How the source itself answers a stranger: where a sign-in begins, and what for. */
    async askChallenge(source: SourceSpec): Promise<string | null> {
      const kind = kinds.find(({ type }) => type === source.definition.type);
      return (
        (await kind?.askChallenge?.(source, {
          fetch,
          auth: { parts: [], secrets: [] },
          mayReachMachine: false,
          signal: AbortSignal.timeout(PROBE_WITHIN_MS),
          onProgress: () => undefined,
        })) ?? null
      );
    },

    async document(sourceId: string, workspaceId: string): Promise<{ contentType: string; text: string }> {
      const source = await read(sourceId, workspaceId);
      const document = source.artifact === null ? null : await loadDocument(store, source.artifact);
      if (!document) throw new AppError("source.not_found", "The source has no document to show.");
      return document;
    },

    async changes(sourceId: string, workspaceId: string): Promise<SourceChanges> {
      const { artifact, previousArtifact, namespace, changedAt } = await read(sourceId, workspaceId);
      if (artifact === null || previousArtifact === null || changedAt === null)
        return { added: [], removed: [], changed: [] };
      const [before, after] = await Promise.all([loadHead(store, previousArtifact), loadHead(store, artifact)]);
      const { counts: _, ...changes } = compareIndexes(namespace, before.tools, after.tools);
      return { at: new Date(changedAt).toISOString(), ...changes };
    },
  };
}
