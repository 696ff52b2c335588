/**
 * From a source and a caller to what is sent along: finds the credential, opens it, keeps sign-ins fresh, or says what a
 * person must do. And the other way: takes secrets in. The only part of core that ever holds one, and it holds it shortly.
 * Every call reads the row; what is remembered belongs to exactly that version of it.
 */
import { type Credential, defaultAccount } from "@executor/contracts/credential";
import { AppError } from "@executor/contracts/error";
import type { Host } from "../ports/host.ts";
import type { AuthParts, PublicAuth, SourceSpec } from "../ports/source.ts";
import type { Store } from "../ports/store.ts";
import type { CredentialRow } from "../store/tables.ts";
import type { CredentialSlot, CredentialSummary } from "../store/verbs/credentials.ts";
import type { Ask } from "../tools/tool.ts";
import { askForCredential } from "./ask-for-credential.ts";
import { bindingOf, OpenSecrets, type Providers } from "./open-secrets.ts";
import { createRefreshDesk, expiryOf, type RefreshTokens } from "./refresh-desk.ts";
import { checkSecret, invalid, own, parseSecret, type Secret } from "./secret-shape.ts";
import { noAuth, toAuthParts } from "./to-auth-parts.ts";

export type CredentialSource = Pick<SourceSpec, "namespace" | "definition" | "hosts"> & {
  /** The workspace in which the source was set up; static secrets lie there. */
  ownerWorkspaceId: string;
};

export interface ResolveRequest {
  source: CredentialSource;
  call: { workspaceId: string; actorId: string };
  /** Name of the account; null when the call names none. */
  account: string | null;
  /** What the other side refused (401): a sign-in of that version is refreshed before it is used again. */
  rejected?: { credentialId: string; version: number } | null;
}

export type Resolved =
  /** `credentialId` is null for a source that needs none. */
  | {
      kind: "ready";
      auth: AuthParts;
      credentialId: string | null;
      version: number;
      /** Sign in again for more than was granted. Null where there is no sign-in. */
      widen: ((scopes: readonly string[]) => Ask) | null;
    }
  | { kind: "missing"; ask: Ask };

export interface SaveRequest {
  workspaceId: string;
  sourceKey: string;
  scope: "workspace" | "actor";
  actorId?: string;
  name?: string;
  provider?: "managed" | "env" | "workos-vault";
  kind?: "static" | "oauth2";
  /** Of the source it is for; undefined skips nothing but the check of its type. */
  auth?: PublicAuth | undefined;
  secret: Secret;
  by: { actorId: string; clientId: string };
}

export interface CredentialDesk {
  resolve(request: ResolveRequest): Promise<Resolved>;
  save(request: SaveRequest): Promise<Credential>;
  list(workspaceId: string): Promise<Credential[]>;
  /** `onlyActorId`: somebody who may remove his own only. */
  remove(request: {
    workspaceId: string;
    credentialId: string;
    onlyActorId?: string;
    by: { actorId: string; clientId: string };
  }): Promise<void>;
  /** With the source, so that a later one of the same name does not get them. */
  removeAll(request: {
    workspaceId: string;
    sourceKey: string;
    by: { actorId: string; clientId: string };
  }): Promise<void>;
}

export interface CredentialDeskParts {
  store: Store;
  providers: Providers;
  host: Host;
  /** Without it sign-ins are used until they expire. */
  refreshTokens?: RefreshTokens;
}

/** The account that holds the secret of a source's own definition; nobody else may use the name. */
export const STATIC_ACCOUNT = "static";
/** How the secret of a definition is kept when it is for a process alone. */
export const staticAuth: PublicAuth = { mode: "static", type: "bearer" };
const AHEAD_MS = 60_000;
const SAVE_TRIES = 5;

export function createCredentialDesk(parts: CredentialDeskParts): CredentialDesk {
  const { store, host } = parts;
  const secrets = new OpenSecrets(parts.providers, () => host.now());
  const refreshTokens = parts.refreshTokens ?? noRefresh;
  const refresh = createRefreshDesk({ store, host, secrets, refreshTokens });

  const resolve = async (request: ResolveRequest): Promise<Resolved> => {
    const resolved = await resolveAuth(request);
    const own = resolved.kind === "ready" ? await openEnvironment(request.source) : noAuth;
    if (resolved.kind === "missing" || own === noAuth) return resolved;
    const { parts, secrets: texts } = resolved.auth;
    return { ...resolved, auth: { parts: [...own.parts, ...parts], secrets: [...own.secrets, ...texts] } };
  };

  /** The variables a command is started with lie beside the static secret; the definition holds their names only. */
  const openEnvironment = async ({ definition, ownerWorkspaceId, namespace }: CredentialSource): Promise<AuthParts> => {
    if (definition.auth?.mode === "static" || Object.keys(definition.env ?? {}).length === 0) return noAuth;
    const slot = { workspaceId: ownerWorkspaceId, sourceKey: namespace, scope: "workspace", actorId: "" };
    const row = (await store.findCredentials(slot)).find(({ name }) => name === STATIC_ACCOUNT);
    return row ? toAuthParts(staticAuth, await secrets.reveal(row)) : noAuth;
  };

  const resolveAuth = async (request: ResolveRequest): Promise<Resolved> => {
    const { auth } = request.source.definition;
    if (!auth) return { kind: "ready", auth: noAuth, credentialId: null, version: 0, widen: null };
    const place = placeOf(request, auth);
    const row = chooseAccount(await store.findCredentials(place), request, auth);
    const missing = (why: "missing" | "dead", name: string): Resolved => {
      if (auth.mode === "static") throw staticMissing(request.source);
      return { kind: "missing", ask: askForCredential(request.source, auth, { ...place, name }, why) };
    };
    if (!row) return missing("missing", request.account ?? defaultAccount);
    const usable = row.kind === "oauth2" ? await freshen(row, request) : row;
    if (!usable) return missing("dead", row.name);
    const secretJson = await secrets.reveal(usable);
    const used: PublicAuth = usable.kind === "oauth2" ? { ...auth, type: "oauth2" } : auth;
    const { credentialId, version } = usable;
    const widen = (scopes: readonly string[]): Ask => {
      const granted = String(own(parseSecret(secretJson), "scope") ?? "").split(" ");
      const all = [...new Set([...granted, ...scopes])].filter(Boolean);
      return askForCredential(request.source, auth, { ...place, name: usable.name, scopes: all }, "narrow");
    };
    return {
      kind: "ready",
      auth: partsOf(usable, used, secretJson),
      credentialId,
      version,
      widen: usable.kind === "oauth2" ? widen : null,
    };
  };

  /** Null: dead. A token that is still good is used when its refresh fails for a reason that may pass. */
  const freshen = async (row: CredentialRow, { rejected }: ResolveRequest): Promise<CredentialRow | null> => {
    if (row.status !== "ok") return null;
    const wasRefused = rejected?.credentialId === row.credentialId && rejected.version >= row.version;
    if (!wasRefused && !isDue(row, host.now())) return row;
    try {
      return await refresh(row);
    } catch (error) {
      if (!wasRefused && (row.expiresAt ?? 0) > host.now()) return row;
      throw error;
    }
  };

  return {
    resolve,
    save: (request) => saveCredential(parts, secrets, request),
    list: async (workspaceId) => (await store.listCredentials({ workspaceId })).map(toDescriptor),
    remove: async (request) => {
      const row = await store.deleteCredential({ ...request, now: host.now() });
      await forget(secrets, row);
    },
    removeAll: async (request) => {
      // A page at a time: whoever comes after must not find even the last one.
      for (;;) {
        const rows = await store.deleteSourceCredentials({ ...request, now: host.now() });
        for (const row of rows) await forget(secrets, row);
        if (rows.length === 0) return;
      }
    },
  };
}

/** Stores give the same row again while nothing was written: its parts are made once, and gone with it. */
const partsByRow = new WeakMap<CredentialRow, { authJson: string; secretJson: string; parts: AuthParts }>();

function partsOf(row: CredentialRow, auth: PublicAuth, secretJson: string): AuthParts {
  const authJson = JSON.stringify(auth);
  const known = partsByRow.get(row);
  if (known?.authJson === authJson && known.secretJson === secretJson) return known.parts;
  const parts = toAuthParts(auth, secretJson);
  partsByRow.set(row, { authJson, secretJson, parts });
  return parts;
}

function placeOf({ source, call }: ResolveRequest, auth: PublicAuth): Omit<CredentialSlot, "name"> {
  const sourceKey = source.namespace;
  if (auth.mode === "static")
    return { workspaceId: source.ownerWorkspaceId, sourceKey, scope: "workspace", actorId: "" };
  if (auth.mode === "workspace") return { workspaceId: call.workspaceId, sourceKey, scope: "workspace", actorId: "" };
  return { workspaceId: call.workspaceId, sourceKey, scope: "actor", actorId: call.actorId };
}

/** Null: there is none at all, so a person is asked. A name that is not there is refused: it is a slip of the code. */
function chooseAccount(rows: CredentialRow[], request: ResolveRequest, auth: PublicAuth): CredentialRow | null {
  if (auth.mode === "static") return rows.find(({ name }) => name === STATIC_ACCOUNT) ?? null;
  const { account, source } = request;
  const accounts = rows.filter(({ name }) => name !== STATIC_ACCOUNT);
  const names = accounts.map(({ name }) => name);
  const byName = (wanted: string) => accounts.find(({ name }) => name === wanted);
  if (account !== null) {
    const named = byName(account);
    if (named) return named;
    const there = names.length === 0 ? "It has none yet; leave the account out." : `There are: ${names.join(", ")}.`;
    throw new AppError(
      "credential.not_found",
      `The source ${source.namespace} has no account "${account.slice(0, 100)}". ${there}`,
    );
  }
  const [only, ...others] = accounts;
  if (only === undefined) return null;
  const chosen = others.length === 0 ? only : byName(defaultAccount);
  if (chosen) return chosen;
  throw new AppError(
    "credential.ambiguous",
    `The source ${source.namespace} has several accounts and none is called ${defaultAccount}. Name one: ${names.join(", ")}.`,
    { data: { accounts: names } },
  );
}

const staticMissing = ({ namespace }: CredentialSource): AppError =>
  new AppError(
    "credential.missing",
    `The secret of the source ${namespace} belongs to its definition and is not there. Whoever set the source up must give it again.`,
  );

/** A token that lives shorter than two minutes is refreshed in the second half of its life, or it would be at every call. */
function isDue({ expiresAt, updatedAt }: CredentialRow, now: number): boolean {
  if (expiresAt === null) return false;
  const aheadMs = Math.min(AHEAD_MS, Math.max(0, expiresAt - updatedAt) / 2);
  return now >= expiresAt - aheadMs;
}

async function saveCredential(
  { store, host }: CredentialDeskParts,
  secrets: OpenSecrets,
  request: SaveRequest,
): Promise<Credential> {
  const { workspaceId, sourceKey, scope, provider = "managed", kind = "static", secret, by } = request;
  const slot = { workspaceId, sourceKey, scope, actorId: actorOf(request), name: request.name ?? defaultAccount };
  checkRequest(request, slot.name);
  const expiresAt = kind === "oauth2" ? expiryOf(secret) : null;
  const credentialId = host.newId("credential");
  const keeper = secrets.provider(provider);
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    const there = (await store.findCredentials(slot)).find(({ name }) => name === slot.name);
    const replaces = there?.version ?? 0;
    const binding = bindingOf({ ...slot, version: replaces + 1 });
    const kept = await keeper.keep(binding, JSON.stringify(secret));
    const credential = { ...slot, credentialId, provider, kind, kept, expiresAt };
    const saved = await store.saveCredential({ credential, replaces, by, now: host.now() });
    if (saved.kind === "saved") {
      if (saved.replaced) await forget(secrets, saved.replaced);
      return toDescriptor(saved.row);
    }
    await keeper.forget(binding, kept).catch(() => undefined);
  }
  throw new AppError(
    "store.unavailable",
    `The credential "${slot.name}" of ${sourceKey} is being changed by others all the time. Try again.`,
  );
}

function actorOf({ scope, actorId, by }: SaveRequest): string {
  return scope === "actor" ? (actorId ?? by.actorId) : "";
}

function checkRequest({ auth, provider = "managed", kind = "static", secret }: SaveRequest, name: string): void {
  if ((name === STATIC_ACCOUNT) !== (auth?.mode === "static"))
    throw invalid(`The account name "${STATIC_ACCOUNT}" is kept for secrets of a source's own definition.`);
  // Those two name a place; what lies there is checked when it is used.
  if (provider === "env" || (provider === "workos-vault" && own(secret, "objectId") !== undefined)) return;
  const asTokens: PublicAuth | undefined = kind === "oauth2" ? { mode: "workspace", type: "oauth2" } : auth;
  checkSecret(asTokens, secret);
}

/** Best effort: the row is gone or replaced, and nothing may bring it back. */
async function forget(secrets: OpenSecrets, row: CredentialRow): Promise<void> {
  try {
    await secrets.provider(row.provider).forget(bindingOf(row), row.kept);
  } catch {
    // What is left behind is of no use without its row.
  }
}

function toDescriptor(row: CredentialSummary): Credential {
  return {
    credentialId: row.credentialId,
    workspaceId: row.workspaceId,
    sourceKey: row.sourceKey,
    scope: row.scope === "actor" ? "actor" : "workspace",
    ...(row.actorId !== "" && { actorId: row.actorId }),
    name: row.name,
    provider: row.provider as Credential["provider"],
    kind: row.kind === "oauth2" ? "oauth2" : "static",
    hasSecret: true,
    status: row.status === "expired" ? "expired" : "ok",
    ...(row.expiresAt !== null && { expiresAt: new Date(row.expiresAt).toISOString() }),
    createdAt: new Date(row.createdAt).toISOString(),
    updatedAt: new Date(row.updatedAt).toISOString(),
    createdBy: row.createdBy,
  };
}

const noRefresh: RefreshTokens = (row) =>
  Promise.reject(
    new AppError(
      "oauth.unsupported",
      `Sign-ins cannot be refreshed here, so that of ${row.sourceKey} ends with its token.`,
    ),
  );
