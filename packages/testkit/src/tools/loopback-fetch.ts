/** The guard as a loopback installation has it, for tests that talk to servers of their own. */
import type { GuardedFetch } from "@executor/core/ports/source";
import { createGuardedFetch } from "@executor/sources/egress/create-guarded-fetch";

export const createLoopbackFetch = (): GuardedFetch =>
  createGuardedFetch({ allowLoopback: true, allowPrivate: [], ownPorts: () => [], userAgent: "executor/test" });
