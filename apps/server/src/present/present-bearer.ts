/** Sessions and keys as callers see them. A token is only ever shown by whoever just made it: rows hold digests. */
import type { ApiKey, Session } from "@executor/contracts/identity";
import type { Role } from "@executor/contracts/role";
import type { BearerRow } from "@executor/core/store/tables";
import { present, timeOrNull, toTime } from "./json.ts";

export function presentKey(row: BearerRow): ApiKey {
  const { bearerId: keyId, workspaceId, actorId, clientId, label } = row;
  return {
    keyId,
    workspaceId,
    actorId,
    clientId,
    role: row.role as Role,
    label,
    mayElicit: row.mayElicit === 1,
    createdAt: toTime(row.createdAt),
    ...present({ lastSeenAt: timeOrNull(row.lastSeenAt) }),
  };
}

export function presentSession(row: BearerRow, token: string): Session {
  const { workspaceId, actorId, clientId } = row;
  return {
    sessionId: token,
    workspaceId,
    actorId,
    clientId,
    role: row.role as Role,
    createdAt: toTime(row.createdAt),
    lastSeenAt: toTime(row.lastSeenAt ?? row.createdAt),
  };
}
