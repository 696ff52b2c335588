/** The desk on real stores: two connections to one file stand for two processes. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { AppError, type ErrorCode } from "@executor/contracts/error";
import { openTemporaryStores, type TemporaryStores } from "@executor/testkit/vault/temporary-stores";
import type { Host } from "../ports/host.ts";
import type { PublicAuth } from "../ports/source.ts";
import type { Store } from "../ports/store.ts";
import type { CredentialProvider } from "../ports/vault.ts";
import { createCredentialDesk, type CredentialSource, type SaveRequest } from "./credential-desk.ts";
import type { RefreshTokens } from "./refresh-desk.ts";

/** Binds like a real one, without keys: those are tested in the vault. */
const provider: CredentialProvider = {
  id: "managed",
  keep: async (binding, secretJson) => JSON.stringify([binding, secretJson]),
  async reveal(binding, kept) {
    const [bound, secretJson] = JSON.parse(kept) as [unknown, string];
    if (JSON.stringify(bound) !== JSON.stringify(binding)) throw new AppError("credential.unreadable", "moved");
    return secretJson;
  },
  forget: async () => undefined,
};
const providers = new Map([[provider.id, provider]]);

let stores: TemporaryStores;
let store: Store;
let workspaceId: string;
let host: Host;
let nowMs: number;
beforeEach(async () => {
  stores = openTemporaryStores();
  store = await stores.connect();
  workspaceId = await stores.addWorkspace(store);
  nowMs = 1_000_000;
  host = { ...stores.host, now: () => nowMs };
});
afterEach(() => stores.stop());

const by = { actorId: "ann", clientId: "client" };
const newDesk = (refreshTokens?: RefreshTokens, on: Store = store) =>
  createCredentialDesk({ store: on, providers, host, refreshTokens });
type Desk = ReturnType<typeof newDesk>;
function source(auth: Partial<PublicAuth> = {}, ownerWorkspaceId = workspaceId): CredentialSource {
  const full: PublicAuth = { mode: "workspace", type: "bearer", ...auth };
  return {
    namespace: "github",
    ownerWorkspaceId,
    definition: { type: "openapi", name: "GitHub", baseUrl: "https://user:pw@api.github.test/v3", auth: full },
  };
}
const save = (desk: Desk, patch: Partial<SaveRequest> = {}) =>
  desk.save({ workspaceId, sourceKey: "github", scope: "workspace", secret: { token: "t" }, by, ...patch });
const resolve = (desk: Desk, from: CredentialSource = source(), account: string | null = null, actorId = "ann") =>
  desk.resolve({ source: from, call: { workspaceId, actorId }, account });
async function bearerOf(desk: Desk, ...rest: [CredentialSource?, (string | null)?, string?]): Promise<string> {
  const resolved = await resolve(desk, ...rest);
  if (resolved.kind !== "ready") throw new Error(`asked: ${resolved.ask.title}`);
  return resolved.auth.parts[0]?.value ?? "";
}
async function refusal(promise: Promise<unknown>, code: ErrorCode): Promise<AppError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect((error as AppError).code).toBe(code);
  return error as AppError;
}

describe("finding a credential", () => {
  test("a source without auth needs none", async () => {
    const open = { ...source(), definition: { ...source().definition, auth: undefined } };
    const ready = {
      kind: "ready",
      auth: { parts: [], secrets: [] },
      credentialId: null,
      version: 0,
      widen: null,
    } as const;
    expect(await resolve(newDesk(), open)).toEqual(ready);
  });

  test("that is missing asks a person: who needs it, where it goes, and nothing secret", async () => {
    const resolved = await resolve(newDesk(), source({ type: "apiKey", header: "X-Key", mode: "actor" }));
    if (resolved.kind !== "missing") throw new Error("not missing");
    const { ask } = resolved;
    expect(ask).toMatchObject({ kind: "credential", title: "Credential for GitHub", url: null });
    for (const words of ["the actor ann", "header X-Key", "api.github.test"]) expect(ask.detail).toContain(words);
    expect(ask.detail).not.toContain("pw");
    expect(ask.answerSchema).toMatchObject({ required: ["value"] });
    const slot = { workspaceId, sourceKey: "github", scope: "actor", actorId: "ann", name: "default" };
    expect(JSON.parse(ask.stateJson ?? "")).toMatchObject(slot);
  });

  test("for oauth2 asks to sign in", async () => {
    const resolved = await resolve(newDesk(), source({ type: "oauth2" }));
    expect(resolved).toMatchObject({ kind: "missing", ask: { kind: "oauth", answerSchema: null } });
  });

  test("each mode looks in its own place only", async () => {
    const desk = newDesk();
    const owner = await stores.addWorkspace(store);
    const shared = source({ mode: "static" }, owner);
    await save(desk, { secret: { token: "workspace's" } });
    await save(desk, { scope: "actor", actorId: "ann", secret: { token: "ann's" } });
    const auth = { mode: "static", type: "bearer" } as const;
    await save(desk, { workspaceId: owner, name: "static", auth, secret: { token: "definition's" } });
    expect(await bearerOf(desk, source())).toBe("Bearer workspace's");
    expect(await bearerOf(desk, source({ mode: "actor" }))).toBe("Bearer ann's");
    expect(await bearerOf(desk, shared)).toBe("Bearer definition's");
    expect((await resolve(desk, source({ mode: "actor" }), null, "bob")).kind).toBe("missing");
    await refusal(resolve(desk, source({ mode: "static" })), "credential.missing");
    await refusal(save(desk, { name: "static" }), "credential.invalid");
  });

  test("of several accounts takes the named one, else default, else the only one, and else refuses", async () => {
    const desk = newDesk();
    await refusal(resolve(desk, source(), "work"), "credential.not_found");
    await save(desk, { name: "work", secret: { token: "work's" } });
    expect(await bearerOf(desk)).toBe("Bearer work's");
    await save(desk, { name: "home", secret: { token: "home's" } });
    expect((await refusal(resolve(desk), "credential.ambiguous")).detail).toContain("home, work");
    expect(await bearerOf(desk, source(), "home")).toBe("Bearer home's");
    expect((await refusal(resolve(desk, source(), "wrk"), "credential.not_found")).detail).toContain("home, work");
    await save(desk, { secret: { token: "default's" } });
    expect(await bearerOf(desk)).toBe("Bearer default's");
  });
});

describe("saving", () => {
  test("seals for the next version, is seen by all at once, and shows a descriptor only", async () => {
    const [desk, other] = [newDesk(), newDesk(undefined, await stores.connect())];
    const saved = await save(desk, { secret: { token: "one" } });
    expect(saved).toMatchObject({
      name: "default",
      provider: "managed",
      kind: "static",
      hasSecret: true,
      status: "ok",
    });
    expect(JSON.stringify([saved, await desk.list(workspaceId)])).not.toContain('one"');
    expect(await bearerOf(other)).toBe("Bearer one");
    expect((await save(desk, { secret: { token: "two" } })).credentialId).toBe(saved.credentialId);
    expect(await bearerOf(other)).toBe("Bearer two");
    await desk.remove({ workspaceId, credentialId: saved.credentialId, by });
    expect((await resolve(other)).kind).toBe("missing");
    expect(await desk.list(workspaceId)).toEqual([]);
  });

  test("five at once leave one whole credential", async () => {
    const desks = [newDesk(), newDesk(undefined, await stores.connect())];
    await Promise.all(Array.from({ length: 5 }, (_, n) => save(desks[n % 2] as Desk, { secret: { token: `t${n}` } })));
    expect(await bearerOf(desks[0] as Desk)).toMatch(/^Bearer t\d$/);
    expect(await store.listCredentials({ workspaceId })).toMatchObject([{ version: 5 }]);
  });

  test("refuses what does not fit its source, or a provider that is not set up", async () => {
    const desk = newDesk();
    const auth: PublicAuth = { mode: "workspace", type: "basic" };
    await refusal(save(desk, { auth }), "credential.invalid");
    await refusal(save(desk, { provider: "workos-vault", secret: { objectId: "x" } }), "credential.unreadable");
    expect(await desk.list(workspaceId)).toEqual([]);
  });

  test("a sealed text moved to another row is refused, not used", async () => {
    const desk = newDesk();
    await save(desk, { scope: "actor", actorId: "bob", secret: { token: "bob's" } });
    const [bobs] = await store.findCredentials({ workspaceId, sourceKey: "github", scope: "actor", actorId: "bob" });
    const stolen = { workspaceId, sourceKey: "github", scope: "actor", actorId: "ann", name: "default" };
    const credential = {
      ...stolen,
      credentialId: "c",
      provider: "managed",
      kind: "static",
      kept: bobs?.kept ?? "",
      expiresAt: null,
    };
    await store.saveCredential({ credential, replaces: 0, by, now: 1 });
    await refusal(resolve(desk, source({ mode: "actor" })), "credential.unreadable");
  });
});

describe("a sign-in", () => {
  const oauth = () => source({ type: "oauth2" });
  const HOUR = 3_600_000;
  /** A provider that rotates: a refresh token works once. */
  function rotating() {
    const state = { refreshes: 0, valid: "r0", fail: null as AppError | null };
    const refreshTokens: RefreshTokens = async (_row, secret) => {
      state.refreshes++;
      await Bun.sleep(60);
      if (state.fail) throw state.fail;
      if (secret.refreshToken !== state.valid) throw new AppError("oauth.refused", "reused");
      state.valid = `r${state.refreshes}`;
      return { ...secret, accessToken: `a${state.refreshes}`, refreshToken: state.valid, expiresAt: nowMs + HOUR };
    };
    return { state, refreshTokens };
  }
  const connect = (desk: Desk, patch: object = {}) =>
    save(desk, {
      kind: "oauth2",
      secret: { accessToken: "a0", refreshToken: "r0", expiresAt: nowMs + HOUR, tokenType: "Bearer", ...patch },
    });

  test("is used as it is until a minute before its end, then refreshed once for 20 calls", async () => {
    const { state, refreshTokens } = rotating();
    const desk = newDesk(refreshTokens);
    await connect(desk);
    nowMs += HOUR - 61_000;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a0");
    nowMs += 2_000;
    const used = await Promise.all(Array.from({ length: 20 }, () => bearerOf(desk, oauth())));
    expect(new Set(used)).toEqual(new Set(["Bearer a1"]));
    expect(state.refreshes).toBe(1);
  });

  test("is refreshed once also by two desks on two connections, 10 calls each", async () => {
    const { state, refreshTokens } = rotating();
    const desks = [newDesk(refreshTokens), newDesk(refreshTokens, await stores.connect())];
    await connect(desks[0] as Desk);
    nowMs += HOUR;
    const used = await Promise.all(Array.from({ length: 20 }, (_, n) => bearerOf(desks[n % 2] as Desk, oauth())));
    expect(new Set(used)).toEqual(new Set(["Bearer a1"]));
    expect(state.refreshes).toBe(1);
    expect(await store.listCredentials({ workspaceId })).toMatchObject([{ version: 2, refreshBy: null }]);
  });

  test("that the other side refused is refreshed once, however many were refused with it", async () => {
    const { state, refreshTokens } = rotating();
    const desk = newDesk(refreshTokens);
    await connect(desk);
    const first = await resolve(desk, oauth());
    if (first.kind !== "ready" || first.credentialId === null) throw new Error("not ready");
    const rejected = { credentialId: first.credentialId, version: first.version };
    const again = () =>
      desk.resolve({ source: oauth(), call: { workspaceId, actorId: "ann" }, account: null, rejected });
    const all = [...(await Promise.all([again(), again(), again()])), await again()];
    expect(all.map((each) => each.kind === "ready" && each.auth.parts[0]?.value)).toEqual(Array(4).fill("Bearer a1"));
    expect(state.refreshes).toBe(1);
  });

  test("whose refresh token is dead asks to reconnect, in every process, until somebody does", async () => {
    const { state, refreshTokens } = rotating();
    const desks = [newDesk(refreshTokens), newDesk(refreshTokens, await stores.connect())];
    await connect(desks[0] as Desk);
    state.valid = "revoked";
    nowMs += HOUR;
    const asked = await Promise.all(desks.map((desk) => resolve(desk, oauth())));
    for (const each of asked)
      expect(each).toMatchObject({ kind: "missing", ask: { kind: "oauth", title: "Reconnect GitHub" } });
    expect(state.refreshes).toBe(1);
    expect(await desks[0]?.list(workspaceId)).toMatchObject([{ status: "expired" }]);
    await connect(desks[0] as Desk, { accessToken: "anew" });
    expect(await bearerOf(desks[1] as Desk, oauth())).toBe("Bearer anew");
  });

  test("without a refresh token ends with its access token", async () => {
    const desk = newDesk(rotating().refreshTokens);
    await connect(desk, { refreshToken: undefined });
    nowMs += HOUR;
    expect(await resolve(desk, oauth())).toMatchObject({ kind: "missing", ask: { title: "Reconnect GitHub" } });
  });

  test("is used on while it lasts when the refresh fails for a reason that may pass, and then fails with it", async () => {
    const { state, refreshTokens } = rotating();
    const desk = newDesk(refreshTokens);
    await connect(desk);
    state.fail = new AppError("egress.timeout", "slow");
    nowMs += HOUR - 1_000;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a0");
    nowMs += 2_000;
    await refusal(resolve(desk, oauth()), "egress.timeout");
    state.fail = null;
    expect(await bearerOf(desk, oauth())).toStartWith("Bearer a");
    expect(await desk.list(workspaceId)).toMatchObject([{ status: "ok" }]);
  });

  test("that a dead process was refreshing is taken over when its claim ends", async () => {
    const { refreshTokens } = rotating();
    const desk = newDesk(refreshTokens);
    const { credentialId } = await connect(desk);
    nowMs += HOUR;
    await store.claimRefresh({ credentialId, version: 1, claimId: "dead", now: nowMs, until: nowMs + 30_000 });
    const waiting = bearerOf(desk, oauth());
    await Bun.sleep(100);
    nowMs += 30_001;
    expect(await waiting).toBe("Bearer a1");
  });

  test("D04: whose new tokens died with their process becomes a question to connect again, not a loop", async () => {
    const { state, refreshTokens } = rotating();
    const desk = newDesk(refreshTokens, await stores.connect());
    const { credentialId } = await connect(desk);
    nowMs += HOUR;
    // Killed between the provider's answer and the write: the old token is spent, the new one is nowhere.
    await store.claimRefresh({ credentialId, version: 1, claimId: "killed", now: nowMs, until: nowMs + 30_000 });
    state.valid = "lost";
    nowMs += 30_001;
    for (let again = 0; again < 3; again++)
      expect(await resolve(desk, oauth())).toMatchObject({ kind: "missing", ask: { title: "Reconnect GitHub" } });
    expect(state.refreshes).toBe(1);
    await connect(desk, { accessToken: "anew", refreshToken: "lost", expiresAt: nowMs + HOUR });
    expect(await bearerOf(desk, oauth())).toBe("Bearer anew");
  });

  test("R03: survives a clock that jumps an hour, either way", async () => {
    const { state, refreshTokens } = rotating();
    const desk = newDesk(refreshTokens);
    await connect(desk, { expiresAt: nowMs + HOUR });
    nowMs -= HOUR;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a0");
    nowMs += 2 * HOUR + 1;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a1");
    // Back again: the token is new for longer than it lives; the other side's refusal is what counts then.
    nowMs -= 2 * HOUR;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a1");
    const [row] = await desk.list(workspaceId);
    const rejected = { credentialId: row?.credentialId ?? "", version: 2 };
    const renewed = await desk.resolve({
      source: oauth(),
      call: { workspaceId, actorId: "ann" },
      account: null,
      rejected,
    });
    expect(renewed).toMatchObject({ kind: "ready", version: 3 });
    expect(state.refreshes).toBe(2);
  });

  test("with short-lived tokens is not refreshed at every call", async () => {
    const { state } = rotating();
    const desk = newDesk(async (_row, secret) => {
      state.refreshes++;
      return { ...secret, expiresAt: nowMs + 10_000 };
    });
    await connect(desk, { expiresAt: nowMs + 10_000 });
    for (let second = 0; second < 20; second++) {
      nowMs += 1_000;
      await bearerOf(desk, oauth());
    }
    expect(state.refreshes).toBe(4);
  });

  test("whose new tokens could not be written at first is not lost", async () => {
    const { refreshTokens } = rotating();
    let failures = 2;
    const shaky: Store = {
      ...store,
      finishRefresh: async (args) => {
        // Once before it was carried out, once after: its answer got lost.
        if (failures-- === 2) throw new AppError("store.unavailable", "down");
        const done = await store.finishRefresh(args);
        if (failures === 0) throw new AppError("store.unavailable", "answer lost");
        return done;
      },
    };
    const desk = newDesk(refreshTokens, shaky);
    await connect(desk);
    nowMs += HOUR;
    expect(await bearerOf(desk, oauth())).toBe("Bearer a1");
  });
});
