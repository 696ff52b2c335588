/**
 * The store as everyone else sees it: atomic verbs over plain data. Each is one SQLite transaction or one Convex mutation.
 * `now` and ids come from the caller. `watch` is a hint, never the truth: whoever relies on it also polls, slowly.
 */
import type { reads, writes } from "../store/verbs/index.ts";
import type { Tx } from "../store/tx.ts";

type Verb<F> = F extends (tx: Tx, args: infer A) => Promise<infer R> ? (args: A) => Promise<R> : never;
export type StoreVerbs = { [K in keyof typeof writes]: Verb<(typeof writes)[K]> } & {
  [K in keyof typeof reads]: Verb<(typeof reads)[K]>;
};

export type Hint =
  /** Something may be claimed. */
  | { kind: "queued" }
  /** A task has new events; `settled` when one of them ends it or makes it wait. */
  | { kind: "events"; taskId: string; workspaceId: string; settled: boolean }
  /** Hints may have been lost: look at everything. */
  | { kind: "resync" }
  /** A running task was cancelled. */
  | { kind: "cancelled"; taskId: string }
  /** Something lies on a guest's link, for either side, or the link is gone. */
  | { kind: "link"; linkId: string }
  /** A source is due to be read, was read, or is gone. */
  | { kind: "sources"; workspaceId: string }
  /** A bearer was revoked. */
  | { kind: "revoked"; bearerId: string };

export interface Store extends StoreVerbs {
  readonly kind: string;
  /** Calls back for hints from this process and, where the store can, from others. Returns the way to stop. */
  watch(listener: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
