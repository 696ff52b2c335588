/**
 * Who calls, by the bearer token alone: nothing else a request says can change it. The store knows only digests.
 * What was found is kept for a second, and dropped at once when the store hints that it was revoked.
 */
import { AppError } from "@executor/contracts/error";
import { Role } from "@executor/contracts/role";
import type { BearerRow } from "@executor/core/store/tables";
import type { AppDeps } from "../deps.ts";
import { looksLikeToken } from "../tokens.ts";

export interface Bearer {
  bearerId: string;
  workspaceId: string;
  actorId: string;
  clientId: string;
  role: Role;
  installationAdmin: boolean;
  /** An admin said that a person answers through the client that has it. */
  mayElicit: boolean;
}

export interface Authenticator {
  /** By the Authorization header. Refuses with 401. */
  authenticate(authorization: string | undefined): Promise<Bearer>;
  /** By a token, fresh from the store; null when it is unknown, revoked or idle. */
  find(token: string): Promise<BearerRow | null>;
  /** A stream asks now and then whether its bearer still is one. */
  isValid(token: string): Promise<boolean>;
  forget(bearerId: string): void;
}

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;
/** `lastSeenAt` is written at most this often. */
const TOUCH_MS = 60_000;

export function createAuthenticator({
  store,
  host,
  limits,
  log,
}: Pick<AppDeps, "store" | "host" | "limits" | "log">): Authenticator {
  const kept = new Map<string, { row: BearerRow; untilMs: number }>();
  let revocations = 0;

  const findByHash = (hash: string): Promise<BearerRow | null> =>
    store.findBearer({ hash, now: host.now(), sessionIdleMs: limits.sessionIdleMs });

  const look = async (token: string): Promise<BearerRow | null> => {
    const hash = host.sha256(token);
    const known = kept.get(hash);
    if (known && known.untilMs > host.monotonicMs()) return known.row;
    const before = revocations;
    const row = await findByHash(hash);
    kept.delete(hash);
    // A revocation while we were reading may be about this very one: then it is not kept.
    if (row && before === revocations) {
      if (kept.size >= MAX_KEPT) kept.clear();
      kept.set(hash, { row, untilMs: host.monotonicMs() + KEEP_MS });
    }
    return row;
  };

  const touch = (row: BearerRow): void => {
    const now = host.now();
    if (now - (row.lastSeenAt ?? 0) < TOUCH_MS) return;
    row.lastSeenAt = now;
    store
      .touchBearer({ bearerId: row.bearerId, now })
      .catch((error: unknown) => log.warn("bearer.touch_failed", { error }));
  };

  return {
    async authenticate(authorization) {
      const token = readBearer(authorization);
      const row = looksLikeToken(token) ? await look(token) : null;
      if (!row)
        throw new AppError(
          "auth.invalid",
          "This bearer token is unknown, expired or revoked. Sign in again, or ask an admin for a key.",
        );
      touch(row);
      return toBearer(row);
    },
    find: async (token) => (looksLikeToken(token) ? await findByHash(host.sha256(token)) : null),
    async isValid(token) {
      const row = await look(token);
      if (row) touch(row);
      return row !== null;
    },
    forget(bearerId) {
      revocations++;
      for (const [hash, { row }] of kept) if (row.bearerId === bearerId) kept.delete(hash);
    },
  };
}

export function readBearer(authorization: string | undefined): string {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined)
    throw new AppError("auth.required", "Send `Authorization: Bearer <token>` with a session id or an API key.");
  return token;
}

/** Who did it, for the audit. */
export const actorOf = ({ actorId, clientId }: Bearer): { actorId: string; clientId: string } => ({
  actorId,
  clientId,
});

function toBearer(row: BearerRow): Bearer {
  const { bearerId, workspaceId, actorId, clientId } = row;
  return {
    bearerId,
    workspaceId,
    actorId,
    clientId,
    role: Role.parse(row.role),
    installationAdmin: row.installationAdmin === 1,
    mayElicit: row.mayElicit === 1,
  };
}
