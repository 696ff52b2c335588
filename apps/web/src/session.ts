/**
 * Who is signed in, as one state: starting -> ready | choosing | signedOut | away.
 * The token is kept in localStorage (bearer only, no cookies). A code arrives in the URL's fragment, which is taken out of
 * the address at once. An anonymous session that expired is replaced by a fresh one; a key or login that died is not: its
 * person is told.
 */
import { bootstrap, type Caller, exchangeCode, isExecutorError } from "@executor/client";
import { baseUrl, connect, queryClient, setExecutor } from "./api.ts";
import { createStore, readSetting, writeSetting } from "./store.ts";
import { showToast } from "./ui/toast.tsx";

type TokenKind = "anonymous" | "login" | "key";
export interface Me extends Caller {
  token: string;
  tokenKind: TokenKind;
}

export type SessionState =
  | { kind: "starting" }
  | { kind: "ready"; me: Me }
  /** A link leads into another workspace than the one this browser is in. */
  | { kind: "choosing"; present: Me; offered: Me }
  | { kind: "signedOut"; reason: string | null; mayBeAnonymous: boolean }
  /** The server does not answer; tried again by itself. */
  | { kind: "away"; detail: string };

export const session = createStore<SessionState>({ kind: "starting" });

const RETRY_MS = 1_500;
export const SESSION_ENDED = "Your session has ended: it was revoked, or not used for a long time.";

let starting: Promise<void> = Promise.resolve();

/** One after the other: a link that is followed while the page still begins must not be overtaken by its beginning. */
export function startSession(): Promise<void> {
  // Out of the address at once, whatever is still under way.
  const code = takeCode();
  starting = starting.then(() => begin(code));
  return starting;
}

async function begin(code: string | null): Promise<void> {
  try {
    await enter(code);
  } catch (error) {
    const detail = isExecutorError(error) ? error.detail : String(error);
    if (!isExecutorError(error) || !error.retryable) return signOut(detail);
    session.set({ kind: "away", detail });
    setTimeout(() => void startSession(), RETRY_MS);
    if (code !== null) pendingCode = code;
  }
}

/** Kept over attempts: the fragment is gone after the first. */
let pendingCode: string | null = null;

function takeCode(): string | null {
  const found = /^#(?:invite=|code=)?([A-Za-z0-9_-]{16,200})$/.exec(location.hash)?.[1] ?? null;
  if (location.hash !== "") history.replaceState(history.state, "", location.pathname + location.search);
  const code = found ?? pendingCode;
  pendingCode = null;
  return code;
}

async function enter(code: string | null): Promise<void> {
  const stored = readStored();
  const present = stored && (await recognise(stored.token, stored.kind));
  if (code !== null) {
    const offered = await redeem(code).catch((error: unknown) => keepPresent(present, error));
    if (present && present.workspaceId !== offered.workspaceId)
      return session.set({ kind: "choosing", present, offered });
    return adopt(offered);
  }
  if (present) return adopt(present);
  if (stored && stored.kind !== "anonymous") return signOut(SESSION_ENDED);
  await enterAnonymously();
}

/** A link that was used already, or is too old, takes nobody out of where he is. */
function keepPresent(present: Me | null, error: unknown): Me {
  if (!present || !isExecutorError(error) || error.retryable) throw error;
  showToast({ text: `The link does not work. ${error.detail}`, tone: "bad", forMs: 12_000 });
  return present;
}

async function redeem(code: string): Promise<Me> {
  const { sessionId } = await exchangeCode({ baseUrl, code });
  const me = await recognise(sessionId, "login");
  if (!me) throw new Error("The new session is not known to the server.");
  return me;
}

/** Null when the server does not know the token. */
async function recognise(token: string, tokenKind: TokenKind): Promise<Me | null> {
  try {
    return { ...(await connect(token).me()), token, tokenKind };
  } catch (error) {
    if (isExecutorError(error, "auth.invalid", "auth.required")) return null;
    throw error;
  }
}

export async function enterAnonymously(): Promise<void> {
  try {
    const { sessionId } = await bootstrap({ baseUrl });
    const me = await recognise(sessionId, "anonymous");
    if (me) adopt(me);
  } catch (error) {
    if (!isExecutorError(error, "auth.anonymous_off")) throw error;
    signOut(null, false);
  }
}

/** What a person pasted: a key or session id, or a login or invite link. Answers with what is wrong, or null. */
export async function enterWith(pasted: string): Promise<string | null> {
  const text = pasted.trim();
  const code = /#(?:invite=|code=)?([A-Za-z0-9_-]{16,200})$/.exec(text)?.[1];
  try {
    if (!/^[\x21-\x7e]{8,500}$/.test(text)) return "Paste an API key, or a login or invite link.";
    const me = code === undefined ? await recognise(text, "key") : await redeem(code);
    if (!me) return "This key is unknown, expired or revoked.";
    adopt(me);
    return null;
  } catch (error) {
    return isExecutorError(error) ? error.detail : String(error);
  }
}

export function adopt(me: Me): void {
  writeSetting("session", JSON.stringify({ token: me.token, kind: me.tokenKind }));
  setExecutor(connect(me.token, me.workspaceId));
  session.set({ kind: "ready", me });
}

/** The one that was not chosen ends: a link is used up, so nobody could come back to it. */
export async function stayWith({ present, offered }: { present: Me; offered: Me }): Promise<void> {
  adopt(present);
  await connect(offered.token).logout();
}

type Goodbye = () => Promise<unknown>;
const goodbyes: Goodbye[] = [];
/** What is to be finished before the person who is signed in leaves. */
export const onLeaving = (goodbye: Goodbye): number => goodbyes.push(goodbye);

/** A session is revoked; a key only forgotten here, for others may use it. */
export async function leave(): Promise<void> {
  await Promise.allSettled(goodbyes.map((goodbye) => goodbye()));
  const state = session.get();
  if (state.kind !== "ready") return;
  const { token, tokenKind } = state.me;
  signOut("You are signed out.");
  if (tokenKind !== "key") await connect(token).logout();
}

export function signOut(reason: string | null, mayBeAnonymous = true): void {
  writeSetting("session", null);
  session.set({ kind: "signedOut", reason, mayBeAnonymous });
  setExecutor(null);
}

function readStored(): { token: string; kind: TokenKind } | null {
  try {
    const stored = JSON.parse(readSetting("session") ?? "null") as { token?: unknown; kind?: unknown } | null;
    if (typeof stored?.token !== "string") return null;
    const kind = stored.kind === "key" || stored.kind === "login" ? stored.kind : "anonymous";
    return { token: stored.token, kind };
  } catch {
    return null;
  }
}

/** Whichever read hears of it first. */
queryClient.getQueryCache().config.onError = (error) => {
  if (session.get().kind === "ready" && isExecutorError(error, "auth.invalid", "auth.required")) signOut(SESSION_ENDED);
};

/** Signing in or out in another tab counts here too. */
window.addEventListener("storage", ({ key }) => {
  if (key === "executor.session") void startSession();
});
window.addEventListener("hashchange", () => {
  if (location.hash !== "") void startSession();
});
