/**
 * A change of a source's settings. What was given for one host does not go to another: whoever may say where requests go must not
 * thereby get to see the secrets of the workspace, or of its other people.
 */
import { AppError } from "@executor/contracts/error";
import type { SourceAuth, SourceDefinition } from "@executor/contracts/source";
import type { PublicDefinition } from "@executor/core/ports/source";
import type { SourceRow } from "@executor/core/store/tables";
import { describeSource } from "./describe-source.ts";
import { findMove, isOtherClient } from "./source-moves.ts";
import type { SourceServiceDeps, Where } from "./source-service.ts";

export async function updateSource(
  deps: SourceServiceDeps,
  read: (sourceId: string, workspaceId: string) => Promise<SourceRow>,
  { sourceId, changes, where }: { sourceId: string; changes: SourceChange; where: Where },
): Promise<SourceRow> {
  const { store, host, secrets } = deps;
  const { workspaceId, by } = where;
  const source = await read(sourceId, workspaceId);
  const before = JSON.parse(source.definitionJson) as PublicDefinition;
  const { auth, ...rest } = changes;
  const merged = dropNulls({ ...before, auth: undefined, ...rest });
  const nextAuth = auth === undefined ? (before.auth as SourceAuth | undefined) : (auth ?? undefined);
  const described = describeSource({ ...merged, ...(auth && { auth }) } as SourceDefinition, {
    mayReachMachine: true,
  });
  const definition = { ...described.definition, ...(nextAuth && !auth && { auth: nextAuth }) };
  const moved = await findMove(deps, source, before, definition);
  if (moved !== null) {
    if (nextAuth?.mode === "static" && !described.secret)
      throw new AppError(
        "source.moved",
        `This would send the source's secret to ${moved}, for which it was not given. Give \`auth\` with the secret in the same change.`,
      );
    // Whoever may say where requests go must not thereby get the secrets of others to see.
    await secrets.forget(source, by);
  } else if (before.auth?.type === "oauth2" && isOtherClient(before.auth, definition.auth)) {
    await secrets.forgetClient(source);
  }
  await secrets.keep(source, described, by);
  const definitionJson = JSON.stringify(definition);
  const reread = ["auth", "headers", "baseUrl", "serverVariables"].some((field) => Object.hasOwn(changes, field));
  return await store.updateSource({
    sourceId,
    workspaceId,
    name: definition.name,
    definitionJson,
    reread,
    by,
    now: host.now(),
  });
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
