/**
 * Which writes may be sent again when nobody knows whether the first one was carried out.
 * Each has its reason; a verb that is not here is sent once, and its caller hears store.unavailable.
 */
import type { StoreVerbs } from "@executor/core/ports/store";
import type { writes } from "@executor/core/store/verbs/index";

type Write = keyof typeof writes;
type Repeatable = { [K in Write]?: (args: Parameters<StoreVerbs[K]>[0]) => boolean };

const always = () => true;

const repeatable: Repeatable = {
  // The second finds what the first made.
  createWorkspace: always,
  createTask: ({ task }) => task.idempotencyKey !== null,
  // They set what they set before.
  touchBearer: always,
  renewLeases: always,
  removeWorker: always,
  recordLateOutcome: always,
  // A part that is there already is passed over; what is removed stays removed.
  sendFromGuest: always,
  dropGuestText: always,
  closeGuestLink: always,
  // What the first took care of is no longer due for the second; only the hint is lost.
  recoverLeases: always,
  expireInteractions: always,
  // The fence lets one through. If that was the first, the second hears that the lease is gone, and so it is.
  releaseTask: always,
  pauseTask: always,
  settleTask: always,
};

export function isRepeatable(verb: Write, args: unknown): boolean {
  const decide = repeatable[verb] as ((args: unknown) => boolean) | undefined;
  return decide?.(args) ?? false;
}
