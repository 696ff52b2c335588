/** The functions of convex/ by file, as convex-test wants them: an explicit map, for Bun has no import.meta.glob. */
export const convexModules: Record<string, () => Promise<Record<string, unknown>>> = {
  // convex-test finds the root of the map by this key and never loads it.
  "convex/_generated/server.js": async () => ({}),
  "convex/audit.ts": () => import("@executor/convex/audit"),
  "convex/credentials.ts": () => import("@executor/convex/credentials"),
  "convex/env.ts": () => import("@executor/convex/env"),
  "convex/events.ts": () => import("@executor/convex/events"),
  "convex/identity.ts": () => import("@executor/convex/identity"),
  "convex/interactions.ts": () => import("@executor/convex/interactions"),
  "convex/policies.ts": () => import("@executor/convex/policies"),
  "convex/queue.ts": () => import("@executor/convex/queue"),
  "convex/runs.ts": () => import("@executor/convex/runs"),
  "convex/service.ts": () => import("@executor/convex/service"),
  "convex/sources.ts": () => import("@executor/convex/sources"),
  "convex/tasks.ts": () => import("@executor/convex/tasks"),
  "convex/tx.ts": () => import("@executor/convex/tx"),
};
