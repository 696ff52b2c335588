/**
 * What people and code do with sources: add, list, change, remove, read again, look into. Reading happens elsewhere; this only
 * asks for it. Secrets are sealed before a source is there that could use them.
 */
import { AppError } from "@executor/contracts/error";
import type { SourceDefinition } from "@executor/contracts/source";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, SourceKind } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { SourceRow } from "@executor/core/store/tables";
import { describeSource, type DescribedSource } from "./describe-source.ts";
import { createSourceLooks } from "./source-looks.ts";
import { type SourceChange, updateSource } from "./update-source.ts";
import { saveText } from "./stored-index.ts";

export interface By {
  actorId: string;
  clientId: string;
}
export interface Where {
  workspaceId: string;
  by: By;
}

/** Keeps the secrets of a source: those of its definition, and all of them until it is removed. */
export interface SourceSecrets {
  keep(
    source: { workspaceId: string; namespace: string },
    described: Pick<DescribedSource, "definition" | "secret" | "environment">,
    by: By,
  ): Promise<void>;
  /** The secret of a client that was registered by hand. */
  forgetClient(source: { workspaceId: string; namespace: string }): Promise<void>;
  forget(source: { workspaceId: string; namespace: string }, by: By): Promise<void>;
}

export interface SourceServiceDeps {
  store: Store;
  host: Host;
  kinds: readonly SourceKind[];
  fetch: GuardedFetch;
  secrets: SourceSecrets;
}

export type SourceService = ReturnType<typeof createSourceService>;

export function createSourceService(deps: SourceServiceDeps) {
  const { store, host, secrets } = deps;
  const looks = createSourceLooks(deps);
  return {
    list: (workspaceId: string): Promise<SourceRow[]> => store.listSources({ workspaceId }),

    ...looks,

    async add(given: SourceDefinition, where: Where & { mayReachMachine: boolean }): Promise<SourceRow> {
      const described = describeSource(given, where);
      const { workspaceId, by } = where;
      const taken = (await store.listSources({ workspaceId })).find(
        ({ namespace }) => namespace === described.namespace,
      );
      // Before its secret is kept: the one that has the namespace keeps its own. The verb checks again.
      if (!taken) {
        const place = { workspaceId, namespace: described.namespace };
        // Left behind where the removal of an earlier one of this name was cut short.
        await secrets.forget(place, by);
        await secrets.keep(place, described, by);
      }
      const source = {
        ...(await toRow(described, workspaceId)),
        sourceId: host.newId("source"),
        origin: "workspace",
        shared: 0,
      };
      return await store.createSource({ source, by, now: host.now() });
    },

    /** What the environment describes, in the installation's own workspace; `shared` says who else sees it. */
    async saveEnv(given: readonly SourceDefinition[], where: Where & { sharesAll: boolean }): Promise<SourceRow[]> {
      const { workspaceId, by } = where;
      refuseDuplicates(given);
      const sources = [];
      for (const definition of given) {
        const described = describeSource(definition, { mayReachMachine: true });
        await secrets.keep({ workspaceId, namespace: described.namespace }, described, by);
        const shared = where.sharesAll || definition.shared === true ? 1 : 0;
        const row = await toRow(described, workspaceId);
        sources.push({ ...row, sourceId: host.newId("source"), origin: "env", shared });
      }
      return await store.saveEnvSources({ workspaceId, sources, by, now: host.now() });
    },

    update: (sourceId: string, changes: SourceChange, where: Where): Promise<SourceRow> =>
      updateSource(deps, looks.read, { sourceId, changes, where }),

    async remove(sourceId: string, { workspaceId, by }: Where): Promise<void> {
      const source = await store.deleteSource({ sourceId, workspaceId, by, now: host.now() });
      // A later source of the same name must not find the secrets of this one.
      await secrets.forget(source, by);
      for (const digest of [source.artifact, source.previousArtifact, source.specArtifact])
        if (digest !== null) await store.removeArtifact({ digest });
    },
  };

  async function toRow({ namespace, definition, inlineSpec }: DescribedSource, workspaceId: string) {
    return {
      workspaceId,
      namespace,
      type: definition.type,
      name: definition.name,
      definitionJson: JSON.stringify(definition),
      specArtifact: inlineSpec === null ? null : await saveText(store, inlineSpec, host.now()),
    };
  }
}

function refuseDuplicates(given: readonly SourceDefinition[]): void {
  const seen = new Set<string>();
  for (const definition of given) {
    const { namespace } = describeSource(definition, { mayReachMachine: true });
    if (seen.has(namespace))
      throw new AppError(
        "source.conflict",
        `EXECUTOR_TOOL_SOURCES has two sources with the namespace ${namespace}. Give one of them another \`namespace\`.`,
      );
    seen.add(namespace);
  }
}
