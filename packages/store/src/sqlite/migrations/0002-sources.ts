/** Sources with their stored indexes, credentials and sign-ins; what an asker keeps for itself. */
export const sourcesSchema = `
ALTER TABLE interactions ADD COLUMN stateJson TEXT;
CREATE TABLE sources (
  sourceId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  origin TEXT NOT NULL,
  shared INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  definitionJson TEXT NOT NULL,
  revision INTEGER NOT NULL,
  health TEXT NOT NULL,
  progressJson TEXT,
  artifact TEXT,
  previousArtifact TEXT,
  specArtifact TEXT,
  changedAt INTEGER,
  changesJson TEXT,
  title TEXT,
  toolCount INTEGER NOT NULL,
  warningsJson TEXT NOT NULL,
  errorJson TEXT,
  createdAt INTEGER NOT NULL,
  createdBy TEXT NOT NULL,
  indexedAt INTEGER,
  dueAt INTEGER,
  indexingBy TEXT,
  indexingUntil INTEGER,
  failures INTEGER NOT NULL,
  eventSeq INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sources_byWorkspace ON sources (workspaceId, namespace);
CREATE INDEX sources_byShared ON sources (shared, namespace);
CREATE INDEX sources_byDue ON sources (dueAt);
CREATE INDEX sources_byArtifact ON sources (artifact);
CREATE INDEX sources_byPreviousArtifact ON sources (previousArtifact);
CREATE INDEX sources_bySpecArtifact ON sources (specArtifact);
CREATE TABLE artifacts (
  digest TEXT NOT NULL PRIMARY KEY,
  parts INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  complete INTEGER NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE TABLE credentials (
  credentialId TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  sourceKey TEXT NOT NULL,
  scope TEXT NOT NULL,
  actorId TEXT NOT NULL,
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  kind TEXT NOT NULL,
  kept TEXT NOT NULL,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  expiresAt INTEGER,
  refreshBy TEXT,
  refreshUntil INTEGER,
  createdAt INTEGER NOT NULL,
  updatedAt INTEGER NOT NULL,
  createdBy TEXT NOT NULL
) STRICT;
CREATE INDEX credentials_byWorkspace ON credentials (workspaceId, createdAt);
CREATE UNIQUE INDEX credentials_bySlot ON credentials (workspaceId, sourceKey, scope, actorId, name);
CREATE TABLE workspaceKeys (
  workspaceId TEXT NOT NULL PRIMARY KEY,
  wrapped TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE TABLE oauthFlows (
  stateHash TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  sourceId TEXT NOT NULL,
  sourceKey TEXT NOT NULL,
  scope TEXT NOT NULL,
  actorId TEXT NOT NULL,
  name TEXT NOT NULL,
  interactionId TEXT,
  sealed TEXT NOT NULL,
  startedBy TEXT NOT NULL,
  clientId TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  usedAt INTEGER
) STRICT;
CREATE INDEX oauthFlows_byExpiry ON oauthFlows (expiresAt);
CREATE TABLE oauthClients (
  clientKey TEXT NOT NULL PRIMARY KEY,
  workspaceId TEXT NOT NULL,
  issuer TEXT NOT NULL,
  sealed TEXT NOT NULL,
  createdAt INTEGER NOT NULL
) STRICT;
CREATE INDEX oauthClients_byWorkspace ON oauthClients (workspaceId, issuer);
`;
