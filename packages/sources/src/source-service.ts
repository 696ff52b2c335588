/**
 * What people and code do with sources: add, list, change, remove, read again, look into. Reading happens elsewhere; this only
 * asks for it. Secrets are sealed before a source is there that could use them.
 */
import type { SourceAuth, SourceDefinition } from "@executor/contracts/source";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, PublicDefinition, SourceKind } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { SourceRow } from "@executor/core/store/tables";
import { describeSource, type DescribedSource } from "./describe-source.ts";
import { createSourceLooks } from "./source-looks.ts";
import { saveText } from "./stored-index.ts";

interface By {
  actorId: string;
  clientId: string;
}
interface Where {
  workspaceId: string;
  by: By;
}

/** Keeps the secrets of a source: those of its definition, and all of them until it is removed. */
export interface SourceSecrets {
  keep(
    source: { workspaceId: string; namespace: string; definition: PublicDefinition },
    secret: Record<string, string>,
    by: By,
  ): Promise<void>;
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
      if (!taken && described.secret) await secrets.keep({ workspaceId, ...described }, described.secret, by);
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
      const sources = [];
      for (const definition of given) {
        const described = describeSource(definition, { mayReachMachine: true });
        if (described.secret) await secrets.keep({ workspaceId, ...described }, described.secret, by);
        const shared = where.sharesAll || definition.shared === true ? 1 : 0;
        const row = await toRow(described, workspaceId);
        sources.push({ ...row, sourceId: host.newId("source"), origin: "env", shared });
      }
      return await store.saveEnvSources({ workspaceId, sources, by, now: host.now() });
    },

    async update(sourceId: string, changes: SourceChange, where: Where): Promise<SourceRow> {
      const { workspaceId, by } = where;
      const source = await looks.read(sourceId, workspaceId);
      const before = JSON.parse(source.definitionJson) as PublicDefinition;
      const { auth, ...rest } = changes;
      const merged = dropNulls({ ...before, auth: undefined, ...rest });
      const nextAuth = auth === undefined ? (before.auth as SourceAuth | undefined) : (auth ?? undefined);
      const described = describeSource({ ...merged, ...(auth && { auth }) } as SourceDefinition, {
        mayReachMachine: true,
      });
      const definition = { ...described.definition, ...(nextAuth && !auth && { auth: nextAuth }) };
      if (described.secret)
        await secrets.keep(
          { workspaceId, namespace: source.namespace, definition: described.definition },
          described.secret,
          by,
        );
      const definitionJson = JSON.stringify(definition);
      const reread = ["auth", "headers", "baseUrl"].some((field) => Object.hasOwn(changes, field));
      return await store.updateSource({
        sourceId,
        workspaceId,
        name: definition.name,
        definitionJson,
        reread,
        by,
        now: host.now(),
      });
    },

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

/** Null takes a setting away. */
export type SourceChange = {
  [
    K in
      | "name"
      | "baseUrl"
      | "serverVariables"
      | "headers"
      | "defaultApproval"
      | "defaultReadApproval"
      | "defaultWriteApproval"
  ]?: SourceDefinition[K] | null;
} & { auth?: SourceAuth | null };

const dropNulls = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined)) as T;
