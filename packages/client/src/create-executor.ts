/**
 * The client of one Executor for one bearer. Makes no request before it is used, keeps no state but the id of its workspace,
 * and holds the token where neither logging nor serialising the client can find it.
 */
import type { TaskEvent } from "@executor/contracts/event";
import type { Caller, Health } from "@executor/contracts/identity";
import { createApprovals } from "./approvals.ts";
import { createAudit } from "./audit.ts";
import { createCredentials } from "./credentials.ts";
import { createHttp, type Fetch, type RequestOptions } from "./http.ts";
import { createInteractions } from "./interactions.ts";
import { createInvites } from "./invites.ts";
import { createKeys } from "./keys.ts";
import { createPolicies } from "./policies.ts";
import { createRuntimes } from "./runtimes.ts";
import { createSources } from "./sources.ts";
import { type EventsOptions, streamEvents } from "./stream-events.ts";
import { createTasks } from "./tasks.ts";
import { createTools } from "./tools.ts";
import { createWorkspaceId } from "./workspace.ts";

export interface ExecutorOptions {
  /** Of the server, as `http://127.0.0.1:8788`. */
  baseUrl: string;
  /** A session id or an API key. */
  token: string;
  /** The workspace of the token, if it is known: saves one request. */
  workspaceId?: string;
  /** For proxies, tracing and the like. It sees the token. */
  fetch?: Fetch;
}

export type Executor = ReturnType<typeof createExecutor>;

export function createExecutor({ workspaceId: known, ...options }: ExecutorOptions) {
  const http = createHttp(options);
  const workspaceId = createWorkspaceId(http, known);
  const connection = { http, workspaceId };
  return {
    tasks: createTasks(connection),
    approvals: createApprovals(connection),
    interactions: createInteractions(connection),
    policies: createPolicies(connection),
    keys: createKeys(connection),
    invites: createInvites(connection),
    runtimes: createRuntimes(connection),
    sources: createSources(connection),
    credentials: createCredentials(connection),
    tools: createTools(connection),
    audit: createAudit(connection),
    /** Everything that happens in the workspace: from now on, or behind `after` (a `workspaceSequence`). It has no end. */
    events: (eventsOptions: EventsOptions = {}): AsyncGenerator<TaskEvent, void, undefined> =>
      streamEvents(
        {
          timing: http.timing,
          open: (lastEventId, signal) => http.open("workspaceEvents", { lastEventId, signal }),
          sequenceOf: (event) => event.workspaceSequence,
          isLast: () => false,
          hasEnded: async () => false,
        },
        eventsOptions,
      ),
    /** An installation that is up and not well answers too: see `ok`. */
    health: ({ signal }: RequestOptions = {}): Promise<Health> =>
      http.call("health", { signal, retries: 0, accept: [503] }),
    /** Who the token is. */
    me: ({ signal }: RequestOptions = {}): Promise<Caller> => http.call("whoami", { signal }),
    /** Ends the session or key: the token is dead afterwards. */
    logout: ({ signal }: RequestOptions = {}): Promise<void> => http.call("logout", { signal }),
  };
}
