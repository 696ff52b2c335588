/**
 * Sources of a workspace, and the lease of whoever reads one at the moment. A reading that fails leaves the last good index in
 * use. A source is due when `dueAt` has come. Claiming it moves `dueAt` to the end of the lease: a reader that dies makes it due
 * again, and a refresh that is asked for meanwhile shows in a `dueAt` that is another time than the lease's.
 */
import { AppError } from "@executor/contracts/error";
import type { EventType } from "@executor/contracts/event";
import { appendAudit } from "../append-audit.ts";
import type { Patch, Row, SourceRow } from "../tables.ts";
import type { Tx } from "../tx.ts";

/** Above what anyone connects; a list that was cut would hide tools. */
const MAX_SOURCES = 1_000;
/** Failures after which a source whose reader died is left alone for a while: it may be what kills them. */
const TRY_AGAIN_AT_ONCE = 2;

/** 30 s, 1 min, 2 min … at most an hour. */
export const readAgainAfterMs = (failures: number): number => Math.min(3_600_000, 30_000 * 2 ** Math.min(failures, 10));

interface By {
  actorId: string;
  clientId: string;
}

export type NewSource = Pick<
  SourceRow,
  "sourceId" | "workspaceId" | "origin" | "shared" | "namespace" | "type" | "name" | "definitionJson" | "specArtifact"
>;

/** Its own, then those that are shared with every workspace; its own hide shared ones of the same namespace. */
export async function listSources(tx: Tx, { workspaceId }: { workspaceId: string }): Promise<SourceRow[]> {
  const own = await tx.find("sources", { index: "byWorkspace", eq: [workspaceId], limit: MAX_SOURCES });
  const shared = await tx.find("sources", { index: "byShared", eq: [1], limit: MAX_SOURCES });
  const names = new Set(own.map(({ namespace }) => namespace));
  return [...own, ...shared.filter((source) => !names.has(source.namespace))];
}

export async function readSource(tx: Tx, args: { sourceId: string; workspaceId: string }): Promise<SourceRow | null> {
  const source = await tx.get("sources", args.sourceId);
  return source && (source.workspaceId === args.workspaceId || source.shared === 1) ? source : null;
}

export async function createSource(tx: Tx, args: { source: NewSource; by: By; now: number }): Promise<SourceRow> {
  const { source, by, now } = args;
  const visible = await listSources(tx, { workspaceId: source.workspaceId });
  const taken = visible.find(({ namespace }) => namespace === source.namespace);
  if (taken)
    throw new AppError(
      "source.conflict",
      `The namespace ${source.namespace} is taken by the source "${taken.name}". Give this one another \`namespace\`.`,
      { data: { sourceId: taken.sourceId } },
    );
  if (visible.length >= MAX_SOURCES)
    throw new AppError("source.invalid", `A workspace holds at most ${MAX_SOURCES} sources. Remove some first.`);
  const row = newRow(source, by.actorId, now);
  await tx.insert("sources", row);
  await tell(tx, row, "source.indexing", { phase: "fetching" }, now);
  await appendAudit(tx, { workspaceId: row.workspaceId, ...by }, now, "source.created", row.sourceId, about(row));
  return row;
}

/** What the environment describes takes the place of what it described before; a source that did not change is not read again. */
export async function saveEnvSources(
  tx: Tx,
  args: { workspaceId: string; sources: NewSource[]; by: By; now: number },
): Promise<SourceRow[]> {
  const { workspaceId, sources, by, now } = args;
  const own = await tx.find("sources", { index: "byWorkspace", eq: [workspaceId], limit: MAX_SOURCES });
  const saved: SourceRow[] = [];
  for (const source of sources) {
    const known = own.find(({ namespace }) => namespace === source.namespace);
    if (known && known.origin !== "env")
      throw new AppError(
        "source.conflict",
        `EXECUTOR_TOOL_SOURCES uses the namespace ${source.namespace}, which the installation's workspace has given to "${known.name}".`,
      );
    saved.push(known ? await keep(tx, known, source, now) : await add(tx, source, by, now));
  }
  for (const old of own) {
    if (old.origin === "env" && !sources.some(({ namespace }) => namespace === old.namespace))
      await remove(tx, old, by, now);
  }
  return saved;
}

export async function updateSource(
  tx: Tx,
  args: {
    sourceId: string;
    workspaceId: string;
    name: string;
    definitionJson: string;
    reread: boolean;
    by: By;
    now: number;
  },
): Promise<SourceRow> {
  const source = await ownOne(tx, args);
  const patch = {
    name: args.name,
    definitionJson: args.definitionJson,
    revision: source.revision + 1,
    ...(args.reread && { dueAt: args.now, failures: 0, progressJson: source.progressJson ?? NOT_BEGUN }),
  };
  await tx.update("sources", source.sourceId, patch);
  const updated = { ...source, ...patch };
  await appendAudit(
    tx,
    { workspaceId: source.workspaceId, ...args.by },
    args.now,
    "source.updated",
    source.sourceId,
    about(updated),
  );
  return updated;
}

export async function deleteSource(
  tx: Tx,
  args: { sourceId: string; workspaceId: string; by: By; now: number },
): Promise<SourceRow> {
  const source = await ownOne(tx, args);
  await remove(tx, source, args.by, args.now);
  return source;
}

/** A reading that was asked for counts as begun: whoever waits for it must not take the last one for it. */
const NOT_BEGUN = '{"phase":"fetching"}';

/** Asks for a reading now. Anyone who sees a source may ask. */
export async function requestIndexing(
  tx: Tx,
  args: { sourceId: string; workspaceId: string; now: number },
): Promise<SourceRow> {
  const source = await readSource(tx, args);
  if (!source) throw notFound(args.sourceId);
  const patch = { dueAt: args.now, progressJson: source.progressJson ?? NOT_BEGUN };
  await tx.update("sources", source.sourceId, patch);
  return { ...source, ...patch };
}

export async function hasDueSources(tx: Tx, { now }: { now: number }): Promise<boolean> {
  return (await findDue(tx, now)).length > 0;
}

/** Takes sources that are due and that nobody reads. */
export async function claimIndexing(
  tx: Tx,
  args: { by: string; now: number; untilMs: number; limit: number },
): Promise<SourceRow[]> {
  const { by, untilMs, now } = args;
  const claimed: SourceRow[] = [];
  for (const source of await findDue(tx, now)) {
    if (claimed.length === args.limit) break;
    // Still marked: whoever read it is gone, or hangs.
    const failures = source.indexingBy === null ? source.failures : source.failures + 1;
    if (failures > source.failures && failures > TRY_AGAIN_AT_ONCE) {
      await leaveAlone(tx, source, now);
      continue;
    }
    const patch = { indexingBy: by, indexingUntil: untilMs, dueAt: untilMs, failures, progressJson: NOT_BEGUN };
    await tx.update("sources", source.sourceId, patch);
    claimed.push({ ...source, ...patch });
  }
  return claimed;
}

async function findDue(tx: Tx, now: number): Promise<SourceRow[]> {
  const due = await tx.find("sources", { index: "byDue", before: now + 1, limit: 50 });
  return due.filter(({ indexingUntil }) => indexingUntil === null || indexingUntil <= now);
}

async function leaveAlone(tx: Tx, source: SourceRow, now: number): Promise<void> {
  const message = "The process that reads sources ended in the middle of this one, again. Is the document very large?";
  const error = { code: "source.unreadable", message, at: now };
  await fail(tx, source, { errorJson: JSON.stringify(error), dueAt: now + readAgainAfterMs(source.failures), now });
}

/** A reader that stops in the middle of its work gives it back: it is due at once, and nobody was lost. */
export async function releaseIndexing(
  tx: Tx,
  args: { sourceId: string; by: string; now: number },
): Promise<SourceRow | null> {
  const source = await tx.get("sources", args.sourceId);
  if (source?.indexingBy !== args.by) return null;
  await tx.update("sources", source.sourceId, { ...released(source, args.now), progressJson: NOT_BEGUN });
  return source;
}

/** False: the lease is lost, or the definition changed; the reader stops. */
export async function reportIndexing(
  tx: Tx,
  args: { sourceId: string; by: string; revision: number; progressJson: string; untilMs: number; now: number },
): Promise<boolean> {
  const source = await tx.get("sources", args.sourceId);
  if (!source || source.indexingBy !== args.by || source.revision !== args.revision) return false;
  await tx.update("sources", source.sourceId, {
    progressJson: args.progressJson,
    indexingUntil: args.untilMs,
    ...(source.dueAt === source.indexingUntil && { dueAt: args.untilMs }),
  });
  await tell(tx, source, "source.indexing", JSON.parse(args.progressJson) as Record<string, unknown>, args.now);
  return true;
}

export interface IndexedFacts {
  artifact: string;
  title: string;
  toolCount: number;
  warningsJson: string;
  /** Null when the tools are the same as before. */
  changesJson: string | null;
}

/** Null: the lease is lost, or the definition changed meanwhile and it will be read again. */
export async function finishIndexing(
  tx: Tx,
  args: { sourceId: string; by: string; revision: number; facts: IndexedFacts; dueAt: number | null; now: number },
): Promise<SourceRow | null> {
  const source = await leased(tx, args);
  if (!source) return null;
  const { artifact, title, toolCount, warningsJson, changesJson } = args.facts;
  const isNew = artifact !== source.artifact;
  const patch: Patch<"sources"> = {
    ...released(source, args.dueAt),
    health: "ok",
    artifact,
    title,
    toolCount,
    warningsJson,
    errorJson: null,
    indexedAt: args.now,
    failures: 0,
    ...(isNew && changesJson !== null && { previousArtifact: source.artifact, changesJson, changedAt: args.now }),
  };
  await tx.update("sources", source.sourceId, patch);
  const changes = isNew && changesJson !== null && source.artifact !== null ? JSON.parse(changesJson) : undefined;
  await tell(tx, source, "source.indexed", { toolCount, ...(changes !== undefined && { changes }) }, args.now);
  if (changes !== undefined)
    await appendAudit(
      tx,
      { workspaceId: source.workspaceId, actorId: "system", clientId: "system" },
      args.now,
      "source.changed",
      source.sourceId,
      { namespace: source.namespace, changes },
    );
  return { ...source, ...patch };
}

export async function failIndexing(
  tx: Tx,
  args: { sourceId: string; by: string; revision: number; errorJson: string; dueAt: number | null; now: number },
): Promise<SourceRow | null> {
  const source = await leased(tx, args);
  if (!source) return null;
  return await fail(tx, source, args);
}

async function fail(
  tx: Tx,
  source: SourceRow,
  { errorJson, dueAt, now }: { errorJson: string; dueAt: number | null; now: number },
): Promise<SourceRow> {
  const patch: Patch<"sources"> = {
    ...released(source, dueAt),
    health: "failing",
    errorJson,
    failures: source.failures + 1,
  };
  await tx.update("sources", source.sourceId, patch);
  await tell(tx, source, "source.failed", { error: JSON.parse(errorJson) as unknown }, now);
  return { ...source, ...patch };
}

function newRow(source: NewSource, createdBy: string, now: number): SourceRow {
  return {
    ...source,
    revision: 1,
    health: "indexing",
    progressJson: NOT_BEGUN,
    artifact: null,
    previousArtifact: null,
    changedAt: null,
    changesJson: null,
    title: null,
    toolCount: 0,
    warningsJson: "[]",
    errorJson: null,
    createdAt: now,
    createdBy,
    indexedAt: null,
    dueAt: now,
    indexingBy: null,
    indexingUntil: null,
    failures: 0,
    eventSeq: 0,
  };
}

async function add(tx: Tx, source: NewSource, by: By, now: number): Promise<SourceRow> {
  const row = newRow(source, by.actorId, now);
  await tx.insert("sources", row);
  await appendAudit(tx, { workspaceId: row.workspaceId, ...by }, now, "source.created", row.sourceId, about(row));
  return row;
}

async function keep(tx: Tx, known: SourceRow, source: NewSource, now: number): Promise<SourceRow> {
  const { sourceId: _, ...described } = source;
  const isSame = known.definitionJson === source.definitionJson && known.specArtifact === source.specArtifact;
  const patch: Patch<"sources"> = {
    ...described,
    // Read anew at each start of the server: what is served may have changed, and the last good index is in use meanwhile.
    dueAt: now,
    ...(!isSame && { revision: known.revision + 1 }),
  };
  await tx.update("sources", known.sourceId, patch);
  return { ...known, ...patch };
}

async function remove(tx: Tx, source: SourceRow, by: By, now: number): Promise<void> {
  await tell(tx, source, "source.removed", { namespace: source.namespace }, now);
  await tx.remove("sources", source.sourceId);
  await appendAudit(
    tx,
    { workspaceId: source.workspaceId, ...by },
    now,
    "source.deleted",
    source.sourceId,
    about(source),
  );
}

async function ownOne(tx: Tx, args: { sourceId: string; workspaceId: string }): Promise<SourceRow> {
  const source = await tx.get("sources", args.sourceId);
  if (!source || source.workspaceId !== args.workspaceId) throw notFound(args.sourceId);
  if (source.origin === "env")
    throw new AppError(
      "source.invalid",
      `The source "${source.name}" is described by EXECUTOR_TOOL_SOURCES: change it there and start again.`,
    );
  return source;
}

async function leased(tx: Tx, args: { sourceId: string; by: string; revision: number }): Promise<SourceRow | null> {
  const source = await tx.get("sources", args.sourceId);
  if (!source || source.indexingBy !== args.by) return null;
  if (source.revision === args.revision) return source;
  // Described anew meanwhile: what was read is of no use, and it is due at once.
  await tx.update("sources", source.sourceId, { indexingBy: null, indexingUntil: null, dueAt: 0 });
  return null;
}

/** A refresh that was asked for while it was read stays due. */
const released = (source: SourceRow, dueAt: number | null): Patch<"sources"> => {
  const wasAskedFor = source.dueAt !== source.indexingUntil;
  return {
    indexingBy: null,
    indexingUntil: null,
    progressJson: wasAskedFor ? NOT_BEGUN : null,
    dueAt: wasAskedFor ? source.dueAt : dueAt,
  };
};

/** Numbers of its own within the source, and those of the workspace's stream. */
async function tell(
  tx: Tx,
  source: SourceRow,
  type: EventType,
  data: Record<string, unknown>,
  now: number,
): Promise<void> {
  const { sourceId, workspaceId } = source;
  const workspace = (await tx.get("workspaces", workspaceId)) as Row<"workspaces">;
  const current = (await tx.get("sources", sourceId)) ?? source;
  const seq = current.eventSeq + 1;
  const workspaceSeq = workspace.eventSeq + 1;
  const dataJson = JSON.stringify({ namespace: source.namespace, ...data });
  await tx.insert("events", {
    eventKey: `${sourceId}/${seq}`,
    workspaceId,
    taskId: sourceId,
    seq,
    workspaceSeq,
    type,
    dataJson,
    at: now,
  });
  await tx.update("workspaces", workspaceId, { eventSeq: workspaceSeq });
  await tx.update("sources", sourceId, { eventSeq: seq });
}

const about = ({ namespace, type, name }: SourceRow) => ({ namespace, type, name });

const notFound = (sourceId: string): AppError =>
  new AppError("source.not_found", `There is no source ${sourceId} in this workspace.`);
