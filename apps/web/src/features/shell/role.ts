/** What the one who is signed in may do. The server decides anyway; this keeps buttons away that could only be refused. */
import type { Role } from "@executor/client";
import { session, type Me } from "../../session.ts";
import { useStore } from "../../store.ts";

const RANKS: Role[] = ["agent", "reviewer", "admin"];

export function useMe(): Me | null {
  const state = useStore(session);
  return state.kind === "ready" ? state.me : null;
}

export const isAtLeast = (me: Me | null, role: Role): boolean =>
  me !== null && RANKS.indexOf(me.role) >= RANKS.indexOf(role);

export const useRole = (role: Role): boolean => isAtLeast(useMe(), role);
