/**
 * Keeps sign-ins fresh: one refresh at a time for a credential, over all processes, because a provider that rotates
 * refresh tokens takes a second use of one for theft and ends the whole sign-in.
 * In one process all who need it wait for one promise; between processes a claim in the row decides, and the others wait
 * until the version moves. A claim ends by itself, for its holder may have died.
 */
import { AppError } from "@executor/contracts/error";
import type { Host } from "../ports/host.ts";
import type { Store } from "../ports/store.ts";
import type { CredentialRow } from "../store/tables.ts";
import { bindingOf, type OpenSecrets } from "./open-secrets.ts";
import { own, parseSecret, type Secret } from "./secret-shape.ts";

/**
 * Trades a refresh token for new tokens; gives back the whole secret to keep. Must come back within `timeoutMs`.
 * Throws AppError `oauth.refused` when the token is dead; anything else it throws may pass.
 */
export type RefreshTokens = (row: CredentialRow, secret: Secret, limits: { timeoutMs: number }) => Promise<Secret>;

export interface RefreshParts {
  store: Pick<Store, "claimRefresh" | "finishRefresh" | "failRefresh" | "readCredential">;
  host: Host;
  secrets: OpenSecrets;
  refreshTokens: RefreshTokens;
}

/** Null: a person must connect again. */
export type Refreshed = CredentialRow | null;

const CLAIM_MS = 30_000;
const REFRESH_MS = 20_000;
/** A little longer than a claim, so that one dead process does not fail the call of another. */
const PATIENCE_MS = 35_000;
const POLL_MS = [50, 75, 100, 150, 200];
const SAVE_TRIES = 5;

export function createRefreshDesk(parts: RefreshParts): (row: CredentialRow) => Promise<Refreshed> {
  const underWay = new Map<string, Promise<Refreshed>>();
  return (row) => {
    const id = `${row.credentialId}/${row.version}`;
    const running = underWay.get(id);
    if (running) return running;
    const started = refreshRow(parts, row).finally(() => underWay.delete(id));
    underWay.set(id, started);
    return started;
  };
}

async function refreshRow(parts: RefreshParts, row: CredentialRow): Promise<Refreshed> {
  const { store, host } = parts;
  const { credentialId, version } = row;
  const claimId = host.newId("oauth");
  const startedMs = host.monotonicMs();
  for (let round = 0; host.monotonicMs() - startedMs < PATIENCE_MS; round++) {
    const now = host.now();
    const claim = await store.claimRefresh({ credentialId, version, claimId, now, until: now + CLAIM_MS });
    if (claim === "claimed") return await refreshClaimed(parts, row, claimId);
    if (claim === "moved") return await readMoved(parts, row);
    await wait(host, POLL_MS[Math.min(round, POLL_MS.length - 1)] ?? 200);
  }
  throw new AppError(
    "egress.timeout",
    `Another process is refreshing the sign-in "${row.name}" of ${row.sourceKey} and does not come to an end. Try again.`,
  );
}

async function refreshClaimed(parts: RefreshParts, row: CredentialRow, claimId: string): Promise<Refreshed> {
  const { store, host, secrets } = parts;
  const { credentialId, version } = row;
  const fail = (dead: boolean) => store.failRefresh({ credentialId, version, claimId, dead, now: host.now() });
  let fresh: Secret;
  try {
    const secret = parseSecret(await secrets.reveal(row));
    if (typeof own(secret, "refreshToken") !== "string") {
      await fail(true);
      return null;
    }
    fresh = await parts.refreshTokens(row, secret, { timeoutMs: REFRESH_MS });
  } catch (error) {
    const dead = error instanceof AppError && error.code === "oauth.refused";
    await fail(dead);
    if (dead) return null;
    throw error;
  }
  return await keepFresh(parts, row, fresh);
}

/** The old refresh token is spent by now: what came for it must not be lost to a store that hiccups. */
async function keepFresh(parts: RefreshParts, row: CredentialRow, fresh: Secret): Promise<Refreshed> {
  const { store, host, secrets } = parts;
  const { credentialId, version } = row;
  const provider = secrets.provider(row.provider);
  const kept = await provider.keep(bindingOf({ ...row, version: version + 1 }), JSON.stringify(fresh));
  const expiresAt = expiryOf(fresh);
  for (let tries = 1; ; tries++) {
    try {
      await store.finishRefresh({ credentialId, version, kept, expiresAt, now: host.now() });
      const moved = await readMoved(parts, row);
      // Looked at, not told: ours may have been written by a try whose answer got lost.
      const [unused, of] = moved?.kept === kept ? [row.kept, version] : [kept, version + 1];
      await provider.forget(bindingOf({ ...row, version: of }), unused).catch(() => undefined);
      return moved;
    } catch (error) {
      if (tries >= SAVE_TRIES || !(error instanceof AppError && error.code === "store.unavailable")) throw error;
      await wait(host, 100 * tries);
    }
  }
}

async function readMoved({ store }: RefreshParts, row: CredentialRow): Promise<Refreshed> {
  const moved = await store.readCredential({ credentialId: row.credentialId });
  return moved?.status === "ok" ? moved : null;
}

/** Milliseconds; null when the provider did not say. */
export function expiryOf(secret: Secret): number | null {
  const expiresAt = own(secret, "expiresAt");
  return typeof expiresAt === "number" && Number.isFinite(expiresAt) ? Math.trunc(expiresAt) : null;
}

const wait = (host: Host, ms: number): Promise<void> => new Promise((resolve) => void host.setTimer(ms, resolve));
