/** What the one who is signed in may do. The server decides anyway; this keeps buttons away that could only be refused. */
import { session, type Me } from "../../session.ts";
import { useStore } from "../../store.ts";

const RANKS = ["agent", "reviewer", "admin"];

export function useMe(): Me | null {
  const state = useStore(session);
  return state.kind === "ready" ? state.me : null;
}

/** At least this role. */
export function useRole(role: "reviewer" | "admin"): boolean {
  const me = useMe();
  return me !== null && RANKS.indexOf(me.role) >= RANKS.indexOf(role);
}
