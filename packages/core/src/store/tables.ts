/**
 * Every table, once: its columns, its key and its indexes. SQLite's migrations, Convex's schema and the row types all
 * follow this description; a test fails when one of them does not.
 * Rows are flat: JSON of users stays text, so that no store ever looks into it. Times are milliseconds.
 */
import { guestLinks } from "./guest-links-table.ts";
import { table, type Table } from "./table.ts";

export const tables = {
  /** A tenant. Written by bootstrap; `eventSeq` by every verb that appends events, `auditSeq` by those that leave an audit entry. */
  workspaces: table({
    key: "workspaceId",
    columns: { workspaceId: "text", kind: "text", createdAt: "int", eventSeq: "int", auditSeq: "int" },
    indexes: {},
  }),
  /** Who may call: sessions and API keys, hashed. Written by the identity verbs only. */
  bearers: table({
    key: "bearerId",
    columns: {
      bearerId: "text",
      hash: "text",
      kind: "text",
      workspaceId: "text",
      actorId: "text",
      clientId: "text",
      role: "text",
      label: "text",
      installationAdmin: "int",
      mayElicit: "int",
      createdAt: "int",
      lastSeenAt: "int?",
      revokedAt: "int?",
    },
    indexes: { byHash: ["hash"], byWorkspace: ["workspaceId", "kind", "createdAt"] },
  }),
  /** Single-use codes: invites and login links, hashed. */
  codes: table({
    key: "codeId",
    columns: {
      codeId: "text",
      hash: "text",
      kind: "text",
      workspaceId: "text",
      role: "text",
      installationAdmin: "int",
      createdBy: "text",
      createdAt: "int",
      expiresAt: "int",
      usedAt: "int?",
    },
    indexes: { byHash: ["hash"] },
  }),
  /** Status, lease and clocks are written by the task verbs only, through task-machine.ts. */
  tasks: table({
    key: "taskId",
    columns: {
      taskId: "text",
      workspaceId: "text",
      actorId: "text",
      clientId: "text",
      runtimeId: "text",
      status: "text",
      code: "text",
      script: "text",
      seed: "text",
      /** What the guest saw beside its script when it was submitted; a journal is replayed on the same only. */
      preludeVersion: "int",
      timeoutMs: "int",
      metadataJson: "text",
      idempotencyKey: "text?",
      requestDigest: "text",
      createdAt: "int",
      /** Set by the first claim; also where the guest's clock starts. */
      startedAt: "int?",
      finishedAt: "int?",
      /** Since when it is in the queue; orders claims. */
      queuedAt: "int?",
      waitingSince: "int?",
      runMs: "real",
      waitMs: "int",
      /** Counts claims; the fence: a write that names another attempt is refused. */
      attempt: "int",
      /** Times in a row that a worker died under it without progress. */
      recoveries: "int",
      workerId: "text?",
      leaseUntil: "int?",
      eventSeq: "int",
      outputLines: "int",
      callCount: "int",
      /** Deliveries after which all calls of the guest are in the journal: up to there a replay must match it. */
      seenDeliveries: "int",
      pendingCount: "int",
      resultJson: "text?",
      errorJson: "text?",
    },
    indexes: {
      byWorkspace: ["workspaceId", "createdAt"],
      byWorkspaceStatus: ["workspaceId", "status", "createdAt"],
      byWorkspaceActor: ["workspaceId", "actorId", "createdAt"],
      byActorStatus: ["workspaceId", "actorId", "status", "createdAt"],
      byQueue: ["status", "workspaceId", "queuedAt"],
      byLease: ["status", "leaseUntil"],
      byIdempotencyKey: ["workspaceId", "actorId", "idempotencyKey"],
    },
  }),
  /** The journal: one row a call. Written by apply-progress.ts only. */
  calls: table({
    key: "callId",
    columns: {
      callId: "text",
      taskId: "text",
      ordinal: "int",
      callKey: "text",
      toolPath: "text",
      inputJson: "text",
      inputDigest: "text",
      status: "text",
      sends: "int",
      requestedAt: "int",
      sentAt: "int?",
      finishedAt: "int?",
      approvalId: "text?",
      /** Place in the order of deliveries; null while there is no outcome, or when none will be delivered. */
      deliverySeq: "int?",
      deliveredAtMs: "int?",
      deliveredRunMs: "real?",
      outcomeKind: "text?",
      outcomeJson: "text?",
    },
    indexes: { byTask: ["taskId", "ordinal"] },
  }),
  /** Timers that fired, in the same order of deliveries as calls. Written by apply-progress.ts only. */
  timers: table({
    key: "timerKey",
    columns: {
      timerKey: "text",
      taskId: "text",
      timerId: "int",
      deliverySeq: "int",
      deliveredAtMs: "int",
      deliveredRunMs: "real",
    },
    indexes: { byTask: ["taskId", "deliverySeq"] },
  }),
  /** What tasks wait for. Made by apply-progress.ts, ended by the interaction and task verbs. `usedAt`: an approval is good for one sending. */
  interactions: table({
    key: "interactionId",
    columns: {
      interactionId: "text",
      workspaceId: "text",
      taskId: "text",
      callId: "text",
      kind: "text",
      status: "text",
      title: "text",
      detail: "text",
      toolPath: "text",
      inputJson: "text",
      inputDigest: "text",
      schemaHash: "text",
      answerSchemaJson: "text?",
      url: "text?",
      why: "text",
      mayHaveRun: "int",
      createdAt: "int",
      expiresAt: "int",
      resolvedAt: "int?",
      reviewerId: "text?",
      reason: "text?",
      answerJson: "text?",
      usedAt: "int?",
      /** What the asker keeps for itself until the answer is there. */
      stateJson: "text?",
      line: "int?",
    },
    indexes: {
      byTask: ["taskId", "createdAt"],
      byWorkspace: ["workspaceId", "createdAt"],
      byWorkspaceStatus: ["workspaceId", "status", "createdAt"],
      byExpiry: ["status", "expiresAt"],
    },
  }),
  policies: table({
    key: "policyId",
    columns: {
      policyId: "text",
      workspaceId: "text",
      pattern: "text",
      decision: "text",
      actorId: "text?",
      clientId: "text?",
      conditionsJson: "text",
      priority: "int",
      createdAt: "int",
      createdBy: "text",
    },
    indexes: { byWorkspace: ["workspaceId", "createdAt"] },
  }),
  /** Append-only, by append-events.ts. */
  events: table({
    key: "eventKey",
    columns: {
      eventKey: "text",
      workspaceId: "text",
      taskId: "text",
      seq: "int",
      workspaceSeq: "int",
      type: "text",
      dataJson: "text",
      at: "int",
    },
    indexes: { byTask: ["taskId", "seq"], byWorkspace: ["workspaceId", "workspaceSeq"] },
  }),
  /** Append-only, by append-audit.ts. */
  audit: table({
    key: "auditId",
    columns: {
      auditId: "text",
      workspaceId: "text",
      seq: "int",
      at: "int",
      actorId: "text",
      clientId: "text",
      action: "text",
      subject: "text",
      detailJson: "text",
    },
    indexes: {
      byWorkspace: ["workspaceId", "seq"],
      byAction: ["workspaceId", "action", "seq"],
      byActor: ["workspaceId", "actorId", "seq"],
    },
  }),
  /** Text too long for one row, in parts; `owner` is "<row key>/<column>". Written by large-text.ts only. */
  chunks: table({
    key: "chunkKey",
    columns: { chunkKey: "text", owner: "text", part: "int", body: "text" },
    indexes: { byOwner: ["owner", "part"] },
  }),
  /** Where tools come from. Written by the source verbs; `indexing*` is the lease of whoever reads it at the moment. */
  sources: table({
    key: "sourceId",
    columns: {
      sourceId: "text",
      workspaceId: "text",
      /** `env` or `workspace`. */
      origin: "text",
      /** Seen by every workspace. */
      shared: "int",
      namespace: "text",
      type: "text",
      name: "text",
      /** The definition without its secrets. */
      definitionJson: "text",
      /** Changes with the definition; an index that was read from an older one is not taken. */
      revision: "int",
      health: "text",
      progressJson: "text?",
      /** Digest of the last good index; stays in use when a later reading fails. */
      artifact: "text?",
      previousArtifact: "text?",
      /** A document that was given inline. */
      specArtifact: "text?",
      changedAt: "int?",
      changesJson: "text?",
      title: "text?",
      toolCount: "int",
      warningsJson: "text",
      errorJson: "text?",
      createdAt: "int",
      createdBy: "text",
      indexedAt: "int?",
      /** When it should be read (again); null: only when asked. */
      dueAt: "int?",
      indexingBy: "text?",
      indexingUntil: "int?",
      /** Readings in a row that failed. */
      failures: "int",
      eventSeq: "int",
    },
    indexes: {
      byWorkspace: ["workspaceId", "namespace"],
      byShared: ["shared", "namespace"],
      byDue: ["dueAt"],
      byArtifact: ["artifact"],
      byPreviousArtifact: ["previousArtifact"],
      bySpecArtifact: ["specArtifact"],
    },
  }),
  /** Stored indexes by their digest, shared by all workspaces; the text lies in chunks. Written once, by putArtifact. */
  artifacts: table({
    key: "digest",
    columns: { digest: "text", parts: "int", bytes: "int", complete: "int", createdAt: "int" },
    indexes: {},
  }),
  /** Credentials: what a provider keeps in the row (sealed text, a name, an object id), never a secret. */
  credentials: table({
    key: "credentialId",
    columns: {
      credentialId: "text",
      workspaceId: "text",
      sourceKey: "text",
      scope: "text",
      /** Empty for the workspace scope. */
      actorId: "text",
      name: "text",
      provider: "text",
      /** `static` or `oauth2`. */
      kind: "text",
      kept: "text",
      /** Counts writes; part of what a sealed secret is bound to, and the fence of a refresh. */
      version: "int",
      /** `ok`, or `expired`: a person must connect again. */
      status: "text",
      expiresAt: "int?",
      refreshBy: "text?",
      refreshUntil: "int?",
      createdAt: "int",
      updatedAt: "int",
      createdBy: "text",
    },
    indexes: {
      byWorkspace: ["workspaceId", "createdAt"],
      bySlot: ["workspaceId", "sourceKey", "scope", "actorId", "name"],
    },
  }),
  /** One sealed data key a workspace. Written once, by createWorkspaceKey. */
  workspaceKeys: table({
    key: "workspaceId",
    columns: { workspaceId: "text", wrapped: "text", createdAt: "int" },
    indexes: {},
  }),
  /** Sign-ins under way: single use, by the hash of their state. `sealed` holds what must not be read (verifier, client). */
  oauthFlows: table({
    key: "stateHash",
    columns: {
      stateHash: "text",
      workspaceId: "text",
      sourceId: "text",
      sourceKey: "text",
      scope: "text",
      actorId: "text",
      name: "text",
      interactionId: "text?",
      sealed: "text",
      startedBy: "text",
      clientId: "text",
      createdAt: "int",
      expiresAt: "int",
      usedAt: "int?",
    },
    indexes: { byExpiry: ["expiresAt"] },
  }),
  /** Clients registered with authorization servers, by issuer; `sealed` may hold a client secret. */
  oauthClients: table({
    key: "clientKey",
    columns: { clientKey: "text", workspaceId: "text", issuer: "text", sealed: "text", createdAt: "int" },
    indexes: { byWorkspace: ["workspaceId", "issuer"] },
  }),
  /** Open sessions of MCP clients (2025-11-25), by the hash of their id; served to their bearer only, by any instance. */
  mcpSessions: table({
    key: "sessionHash",
    columns: { sessionHash: "text", bearerId: "text", initJson: "text", createdAt: "int", seenAt: "int" },
    indexes: { byBearer: ["bearerId", "seenAt"], bySeen: ["seenAt"] },
  }),
  guestLinks,
  /** Workers seen lately. Written by renewLeases. */
  workers: table({
    key: "workerId",
    columns: { workerId: "text", seenAt: "int", running: "int" },
    indexes: { bySeen: ["seenAt"] },
  }),
} satisfies Record<string, Table>;

export type TableName = keyof typeof tables;
export type IndexName<T extends TableName> = keyof (typeof tables)[T]["indexes"] & string;

type Value<C> = C extends "text"
  ? string
  : C extends "int" | "real"
    ? number
    : C extends "text?"
      ? string | null
      : C extends "int?" | "real?"
        ? number | null
        : never;
export type Row<T extends TableName> = {
  -readonly [K in keyof (typeof tables)[T]["columns"]]: Value<(typeof tables)[T]["columns"][K]>;
};
export type Patch<T extends TableName> = Partial<Row<T>>;

export type TaskRow = Row<"tasks">;
export type CallRow = Row<"calls">;
export type InteractionRow = Row<"interactions">;
export type PolicyRow = Row<"policies">;
export type BearerRow = Row<"bearers">;
export type SourceRow = Row<"sources">;
export type CredentialRow = Row<"credentials">;
export type McpSessionRow = Row<"mcpSessions">;
export type OauthFlowRow = Row<"oauthFlows">;
