/** Sessions of MCP clients. */
export const mcpSessionsSchema = `
CREATE TABLE mcpSessions (
  sessionHash TEXT NOT NULL PRIMARY KEY,
  bearerId TEXT NOT NULL,
  initJson TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  seenAt INTEGER NOT NULL
) STRICT;
CREATE INDEX mcpSessions_byBearer ON mcpSessions (bearerId, seenAt);
CREATE INDEX mcpSessions_bySeen ON mcpSessions (seenAt);
`;
