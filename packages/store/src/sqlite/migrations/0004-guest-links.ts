/** The way between a run and its guest in a VM. */
export const guestLinksSchema = `
CREATE TABLE guestLinks (
  linkId TEXT NOT NULL PRIMARY KEY,
  taskId TEXT NOT NULL,
  workspaceId TEXT NOT NULL,
  workerId TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  tokenHash TEXT NOT NULL,
  runner TEXT NOT NULL,
  createdAt INTEGER NOT NULL,
  expiresAt INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  turnEnded INTEGER NOT NULL,
  turnParts INTEGER NOT NULL,
  upChunks INTEGER NOT NULL,
  upDropped INTEGER NOT NULL,
  downChunks INTEGER NOT NULL,
  downDropped INTEGER NOT NULL
) STRICT;
CREATE INDEX guestLinks_byTask ON guestLinks (taskId);
CREATE INDEX guestLinks_byExpiry ON guestLinks (expiresAt);
`;
