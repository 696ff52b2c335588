/**
 * Reads sources that are due: claim, read, store, report. Runs in the background; whoever lists or calls uses the last good
 * index meanwhile. A failure stays on the source for people to see, and is tried again later and later.
 */
import { AppError } from "@executor/contracts/error";
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { GuardedFetch, ReadIo, ReadProgress, SourceKind, SourceSpec } from "@executor/core/ports/source";
import type { Store } from "@executor/core/ports/store";
import type { SourceRow } from "@executor/core/store/tables";
import { readAgainAfterMs } from "@executor/core/store/verbs/sources";
import type { ReadingAuth } from "./call-credentials.ts";
import { compareIndexes } from "./compare-indexes.ts";
import { createRedactor, type Redactor } from "./http/redact.ts";
import { loadDocument, loadWholeHead, saveIndex } from "./stored-index.ts";

export interface ReaderDeps {
  store: Store;
  host: Host;
  log: Logger;
  kinds: readonly SourceKind[];
  fetch: GuardedFetch;
  /** What the source itself may be read with: a static secret, or the workspace's credential if there is one. */
  readAuth(source: SourceSpec, addedBy: string): Promise<ReadingAuth>;
  signal: AbortSignal;
}

const LEASE_MS = 60_000;
const REPORT_EVERY_MS = 500;
const READ_WITHIN_MS = 5 * 60_000;
/** Most of a reading is waiting for somebody's server; a slow one must not hold up the others. */
const AT_ONCE = 3;

/** Gives how many were read, well or badly. */
export async function readDueSources(deps: ReaderDeps): Promise<number> {
  const counts = await Promise.all(Array.from({ length: AT_ONCE }, () => readOneByOne(deps)));
  return counts.reduce((total, count) => total + count, 0);
}

async function readOneByOne(deps: ReaderDeps): Promise<number> {
  const by = deps.host.newId("worker");
  for (let count = 0; ; count++) {
    if (deps.signal.aborted) return count;
    const now = deps.host.now();
    const [row] = await deps.store.claimIndexing({ by, now, untilMs: now + LEASE_MS, limit: 1 });
    if (!row) return count;
    await readOne(deps, row, by);
  }
}

export function specOf(row: SourceRow): SourceSpec {
  const { sourceId, workspaceId, namespace, definitionJson } = row;
  return { sourceId, workspaceId, namespace, definition: JSON.parse(definitionJson) as SourceSpec["definition"] };
}

async function readOne(deps: ReaderDeps, row: SourceRow, by: string): Promise<void> {
  const { store, host, log } = deps;
  const { sourceId, revision } = row;
  const lease = openLease(deps, row, by);
  let redact: Redactor = (text) => text;
  try {
    const spec = await withInlineDocument(store, row);
    const kind = deps.kinds.find(({ type }) => type === row.type);
    if (!kind) throw new AppError("source.invalid", `This version cannot read sources of type ${row.type}.`);
    const { auth, renew } = await deps.readAuth(spec, row.createdBy);
    redact = createRedactor(auth.secrets);
    const io: ReadIo = {
      fetch: deps.fetch,
      auth,
      mayReachMachine: row.origin === "env" || spec.definition.command !== undefined || isFile(spec),
      signal: lease.signal,
      onProgress: lease.report,
    };
    const index = await kind.read(spec, io).catch(async (error: unknown) => {
      const renewed = isUnauthorized(error) ? ((await renew?.()) ?? null) : null;
      if (renewed === null) throw error;
      redact = createRedactor([...auth.secrets, ...renewed.secrets]);
      return await kind.read(spec, { ...io, auth: renewed });
    });
    lease.report({ phase: "storing" });
    const before = row.artifact === null ? null : await loadWholeHead(store, row.artifact);
    const repair = row.artifact !== null && before === null ? host.newId("source") : "";
    if (before) await refuseNewHosts(kind, spec, before.metaJson, index.metaJson);
    const artifact = await saveIndex(store, index, host.now(), repair);
    const { counts } = compareIndexes(row.namespace, before?.tools ?? [], index.tools);
    const isChanged = counts.added + counts.removed + counts.changed > 0;
    const facts = {
      artifact,
      title: redact(index.title.slice(0, 200)),
      toolCount: index.tools.length,
      warningsJson: JSON.stringify(index.warnings.map(redact)),
      changesJson: isChanged ? JSON.stringify(counts) : null,
    };
    const done = await store.finishIndexing({ sourceId, by, revision, facts, dueAt: null, now: host.now() });
    if (done) await forgetOldArtifacts(store, row, done);
    log.info("source.indexed", { sourceId, namespace: row.namespace, tools: index.tools.length });
  } catch (error) {
    if (deps.signal.aborted) {
      await store.releaseIndexing({ sourceId, by, now: host.now() });
      return;
    }
    const told = tellError(error, lease.signal);
    const dueAt = told.retry ? host.now() + readAgainAfterMs(row.failures) : null;
    const errorJson = JSON.stringify({ code: told.code, message: redact(told.message), at: host.now() });
    await store.failIndexing({ sourceId, by, revision, errorJson, dueAt, now: host.now() });
    log.warn("source.failed", { sourceId, namespace: row.namespace, code: told.code });
  } finally {
    lease.close();
  }
}

/**
 * A document that sends requests elsewhere than before would take the credential there too. The last good index stays in use
 * until a person says where they shall go.
 */
async function refuseNewHosts(
  kind: SourceKind,
  { definition }: SourceSpec,
  before: string,
  after: string,
): Promise<void> {
  if (!definition.auth) return;
  const known = await kind.hosts?.(before, definition);
  const hosts = await kind.hosts?.(after, definition);
  const strangers = known && hosts ? hosts.filter((host) => !known.includes(host)) : [];
  if (strangers.length === 0) return;
  throw new AppError(
    "source.moved",
    `The document now sends requests to ${strangers.slice(0, 5).join(", ").slice(0, 500)}, and the source's credential would go there too. If that is right, set baseUrl to it and give the credential again, or connect the source anew.`,
  );
}

const isUnauthorized = (error: unknown): boolean =>
  error instanceof AppError && error.code === "credential.missing" && error.data?.["status"] === 401;

/** Who added it was checked then: a definition with a command or file is there only if an installation admin wrote it. */
const isFile = ({ definition: { spec, url } }: SourceSpec): boolean =>
  [spec, url].some((each) => typeof each === "string" && /^\s*file:/i.test(each));

async function withInlineDocument(store: Store, row: SourceRow): Promise<SourceSpec> {
  const spec = specOf(row);
  if (row.specArtifact === null) return spec;
  const document = await loadDocument(store, row.specArtifact);
  return { ...spec, definition: { ...spec.definition, spec: document?.text ?? "" } };
}

/** Keeps the claim while the reading goes on, tells how far it is, and stops it when the claim is lost or time is up. */
function openLease(deps: ReaderDeps, row: SourceRow, by: string) {
  const { store, host } = deps;
  const lost = new AbortController();
  let latest: ReadProgress = { phase: "fetching" };
  let isTold = true;
  let lastAt = host.monotonicMs();
  const write = async (): Promise<void> => {
    isTold = true;
    lastAt = host.monotonicMs();
    const now = host.now();
    const held = await store
      .reportIndexing({
        sourceId: row.sourceId,
        by,
        revision: row.revision,
        progressJson: JSON.stringify(latest),
        untilMs: now + LEASE_MS,
        now,
      })
      .catch(() => true);
    if (!held) lost.abort();
  };
  const timer = setInterval(() => {
    if (!isTold || host.monotonicMs() - lastAt > LEASE_MS / 3) void write();
  }, REPORT_EVERY_MS);
  const timeUp = AbortSignal.timeout(READ_WITHIN_MS);
  return {
    signal: AbortSignal.any([deps.signal, lost.signal, timeUp]),
    report: (progress: ReadProgress): void => {
      isTold = progress.phase === latest.phase && progress.done === latest.done;
      latest = progress;
    },
    close: () => clearInterval(timer),
  };
}

async function forgetOldArtifacts(store: Store, before: SourceRow, after: SourceRow): Promise<void> {
  for (const digest of [before.artifact, before.previousArtifact]) {
    if (digest !== null && digest !== after.artifact && digest !== after.previousArtifact)
      await store.removeArtifact({ digest });
  }
}

function tellError(error: unknown, signal: AbortSignal): { code: string; message: string; retry: boolean } {
  if (error instanceof AppError) {
    const retry = !["source.invalid", "source.admin_only", "egress.refused", "credential.missing"].includes(error.code);
    return { code: error.code, message: error.detail, retry };
  }
  if (signal.aborted)
    return { code: "source.unreadable", message: "Reading took too long and was stopped.", retry: true };
  return { code: "source.unreadable", message: "The source could not be read; the log has the reason.", retry: true };
}
