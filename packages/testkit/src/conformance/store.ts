/**
 * What every store must do, whichever database is under it. A store's own test opens it and calls `describeStore`.
 * Looks through the port only. Every test has a workspace of its own and asserts on that alone, so that the suite can run
 * against a deployment in which others have left things.
 */
import { describe } from "bun:test";
import { describeCredentials } from "./store/credentials.ts";
import { describeEventsAndAudit } from "./store/events-and-audit.ts";
import { describeGuestLinks } from "./store/guest-links.ts";
import { describeIdentity } from "./store/identity.ts";
import { describeInteractions } from "./store/interactions.ts";
import { describeLargeText } from "./store/large-text.ts";
import { describeMcpSessions } from "./store/mcp-sessions.ts";
import { describeQueue } from "./store/queue.ts";
import { describeRuns } from "./store/runs.ts";
import { describeSources } from "./store/sources.ts";
import { describeTasks } from "./store/tasks.ts";
import type { OpenStore } from "./store/world.ts";

export type { OpenedStore, OpenStore } from "./store/world.ts";

export interface StoreSuiteOptions {
  /** How many tasks one tenant queues while another must still be seen. */
  backlog?: number;
}

export function describeStore(name: string, open: OpenStore, { backlog = 1_000 }: StoreSuiteOptions = {}): void {
  describe(`${name} store`, () => {
    describeIdentity(open);
    describeMcpSessions(open);
    describeTasks(open);
    describeQueue(open, backlog);
    describeRuns(open);
    describeGuestLinks(open);
    describeInteractions(open);
    describeLargeText(open);
    describeCredentials(open);
    describeSources(open);
    describeEventsAndAudit(open);
  });
}
