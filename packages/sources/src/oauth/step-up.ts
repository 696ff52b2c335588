/**
 * Decides what to do when a server says that the granted scopes do not suffice: sign in again for more, or give up. Pure; the
 * caller counts the attempts of a connection, so that a server that is never content cannot send a person round in circles.
 */
import { readAuthChallenge, splitScopes } from "./auth-challenge.ts";

export const MAX_STEP_UPS = 2;

export type StepUp =
  /** The answer is no matter of scopes. */
  { kind: "none" } | { kind: "authorize"; scopes: string[] } | { kind: "give_up"; reason: string };

export function stepUp(wwwAuthenticate: string | null | undefined, granted: string | undefined, attempts = 0): StepUp {
  const challenge = readAuthChallenge(wwwAuthenticate);
  if (challenge.error !== "insufficient_scope") return { kind: "none" };
  if (attempts >= MAX_STEP_UPS)
    return {
      kind: "give_up",
      reason: `The server asked for more permissions again after ${attempts} sign-ins for more.`,
    };
  const wanted = challenge.scopes ?? [];
  if (wanted.length === 0)
    return { kind: "give_up", reason: "The server says that permissions are missing, but not which ones." };
  return { kind: "authorize", scopes: unionScopes(splitScopes(granted), wanted) };
}

/** What was granted stays asked for: a new token replaces the old one. */
export function unionScopes(granted: readonly string[], wanted: readonly string[]): string[] {
  return [...new Set([...granted, ...wanted])];
}
