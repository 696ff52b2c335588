/** The first schema. Released: never edit. */
export const initialSchema = `
CREATE TABLE workspaces (
  workspaceId TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  eventSeq INTEGER NOT NULL,
  auditSeq INTEGER NOT NULL
) STRICT;
CREATE TABLE bearers (
  bearerId TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  workspaceId TEXT NOT NULL,
  actorId TEXT NOT NULL,
  clientId TEXT NOT NULL,
  role TEXT NOT NULL,
  label TEXT NOT NULL,
  installationAdmin INTEGER NOT NULL,
  mayElicit INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  lastSeenAt INTEGER,
  revokedAt INTEGER
) STRICT;
CREATE UNIQUE INDEX bearers_byHash ON bearers (hash);
CREATE INDEX bearers_byWorkspace ON bearers (workspaceId, kind, createdAt);
CREATE TABLE codes (
  codeId TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL,
  kind TEXT NOT NULL,
  workspaceId TEXT NOT NULL,
  role TEXT NOT NULL,
  installationAdmin INTEGER NOT NULL,
  createdBy TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  usedAt INTEGER
) STRICT;
CREATE UNIQUE INDEX codes_byHash ON codes (hash);
CREATE TABLE tasks (
  taskId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  actorId TEXT NOT NULL,
  clientId TEXT NOT NULL,
  runtimeId TEXT NOT NULL,
  status TEXT NOT NULL,
  code TEXT NOT NULL,
  script TEXT NOT NULL,
  seed TEXT NOT NULL,
  preludeVersion INTEGER NOT NULL,
  timeoutMs INTEGER NOT NULL,
  metadataJson TEXT NOT NULL,
  idempotencyKey TEXT,
  requestDigest TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  startedAt INTEGER,
  finishedAt INTEGER,
  queuedAt INTEGER,
  waitingSince INTEGER,
  runMs REAL NOT NULL,
  waitMs INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  recoveries INTEGER NOT NULL,
  workerId TEXT,
  leaseUntil INTEGER,
  eventSeq INTEGER NOT NULL,
  outputLines INTEGER NOT NULL,
  callCount INTEGER NOT NULL,
  seenDeliveries INTEGER NOT NULL,
  pendingCount INTEGER NOT NULL,
  resultJson TEXT,
  errorJson TEXT
) STRICT;
CREATE INDEX tasks_byWorkspace ON tasks (workspaceId, createdAt);
CREATE INDEX tasks_byWorkspaceStatus ON tasks (workspaceId, status, createdAt);
CREATE INDEX tasks_byWorkspaceActor ON tasks (workspaceId, actorId, createdAt);
CREATE INDEX tasks_byActorStatus ON tasks (workspaceId, actorId, status, createdAt);
CREATE INDEX tasks_byQueue ON tasks (status, workspaceId, queuedAt);
CREATE INDEX tasks_byLease ON tasks (status, leaseUntil);
CREATE INDEX tasks_byIdempotencyKey ON tasks (workspaceId, actorId, idempotencyKey);
CREATE TABLE calls (
  callId TEXT NOT NULL PRIMARY KEY,
  taskId TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  callKey TEXT NOT NULL,
  toolPath TEXT NOT NULL,
  inputJson TEXT NOT NULL,
  inputDigest TEXT NOT NULL,
  status TEXT NOT NULL,
  sends INTEGER NOT NULL,
  requestedAt INTEGER NOT NULL,
  sentAt INTEGER,
  finishedAt INTEGER,
  approvalId TEXT,
  deliverySeq INTEGER,
  deliveredAtMs INTEGER,
  deliveredRunMs REAL,
  outcomeKind TEXT,
  outcomeJson TEXT
) STRICT;
CREATE UNIQUE INDEX calls_byTask ON calls (taskId, ordinal);
CREATE TABLE timers (
  timerKey TEXT NOT NULL PRIMARY KEY,
  taskId TEXT NOT NULL,
  timerId INTEGER NOT NULL,
  deliverySeq INTEGER NOT NULL,
  deliveredAtMs INTEGER NOT NULL,
  deliveredRunMs REAL NOT NULL
) STRICT;
CREATE INDEX timers_byTask ON timers (taskId, deliverySeq);
CREATE TABLE interactions (
  interactionId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  taskId TEXT NOT NULL,
  callId TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  title TEXT NOT NULL,
  detail TEXT NOT NULL,
  toolPath TEXT NOT NULL,
  inputJson TEXT NOT NULL,
  inputDigest TEXT NOT NULL,
  schemaHash TEXT NOT NULL,
  answerSchemaJson TEXT,
  url TEXT,
  why TEXT NOT NULL,
  mayHaveRun INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  resolvedAt INTEGER,
  reviewerId TEXT,
  reason TEXT,
  answerJson TEXT,
  usedAt INTEGER
) STRICT;
CREATE INDEX interactions_byTask ON interactions (taskId, createdAt);
CREATE INDEX interactions_byWorkspace ON interactions (workspaceId, createdAt);
CREATE INDEX interactions_byWorkspaceStatus ON interactions (workspaceId, status, createdAt);
CREATE INDEX interactions_byExpiry ON interactions (status, expiresAt);
CREATE TABLE policies (
  policyId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  pattern TEXT NOT NULL,
  decision TEXT NOT NULL,
  actorId TEXT,
  clientId TEXT,
  conditionsJson TEXT NOT NULL,
  priority INTEGER NOT NULL,
  createdAt INTEGER NOT NULL,
  createdBy TEXT NOT NULL
) STRICT;
CREATE INDEX policies_byWorkspace ON policies (workspaceId, createdAt);
CREATE TABLE events (
  eventKey TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  taskId TEXT NOT NULL,
  seq INTEGER NOT NULL,
  workspaceSeq INTEGER NOT NULL,
  type TEXT NOT NULL,
  dataJson TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_byTask ON events (taskId, seq);
CREATE UNIQUE INDEX events_byWorkspace ON events (workspaceId, workspaceSeq);
CREATE TABLE audit (
  auditId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actorId TEXT NOT NULL,
  clientId TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detailJson TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX audit_byWorkspace ON audit (workspaceId, seq);
CREATE UNIQUE INDEX audit_byAction ON audit (workspaceId, action, seq);
CREATE UNIQUE INDEX audit_byActor ON audit (workspaceId, actorId, seq);
CREATE TABLE chunks (
  chunkKey TEXT NOT NULL PRIMARY KEY,
  owner TEXT NOT NULL,
  part INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_byOwner ON chunks (owner, part);
CREATE TABLE workers (
  workerId TEXT NOT NULL PRIMARY KEY,
  seenAt INTEGER NOT NULL,
  running INTEGER NOT NULL
) STRICT;
CREATE INDEX workers_bySeen ON workers (seenAt);
`;
