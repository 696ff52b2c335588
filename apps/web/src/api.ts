/**
 * The SDK, once: every screen talks to the server through `executor()`, and nothing else here calls fetch.
 * Queries name what they read by the keys below, so that live.ts knows what an event makes stale.
 */
import { createExecutor, type Executor, isExecutorError } from "@executor/client";
import { QueryClient } from "@tanstack/react-query";

export const baseUrl = location.origin;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What changes is told by the event stream: nothing is read again by the clock or because a window was looked at.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // The SDK repeats what is worth repeating; while the server is away live.ts knows when it is back.
      retry: false,
      networkMode: "always",
    },
    mutations: { retry: false, networkMode: "always" },
  },
});

export const keys = {
  approvals: ["approvals"] as const,
  approval: (approvalId: string) => ["approval", approvalId] as const,
  interactions: ["interactions"] as const,
  tasks: ["tasks"] as const,
  task: (taskId: string) => ["task", taskId] as const,
  calls: (taskId: string) => ["calls", taskId] as const,
  events: (taskId: string) => ["events", taskId] as const,
  sources: ["sources"] as const,
  source: (sourceId: string) => ["source", sourceId] as const,
  tools: ["tools"] as const,
  tool: (path: string) => ["tool", path] as const,
  policies: ["policies"] as const,
  credentials: ["credentials"] as const,
  keys: ["keys"] as const,
  audit: ["audit"] as const,
  runtimes: ["runtimes"] as const,
  health: ["health"] as const,
};

let current: Executor | null = null;

/** For whoever is signed in (session.ts says who). Screens are shown to nobody else. */
export function executor(): Executor {
  if (!current) throw new Error("nobody is signed in");
  return current;
}

export function setExecutor(of: Executor | null): void {
  current = of;
  queryClient.clear();
}

export const connect = (token: string, workspaceId?: string): Executor =>
  createExecutor({ baseUrl, token, fetch: keepAlive, ...(workspaceId !== undefined && { workspaceId }) });

/** A decision that is under way when the page is closed still arrives. Browsers allow that for small bodies only. */
function keepAlive(url: string, init: RequestInit): Promise<Response> {
  const isSmall = init.method === "POST" && typeof init.body === "string" && init.body.length < 30_000;
  return fetch(url, isSmall ? { ...init, keepalive: true } : init);
}

/** What went wrong, for a person. */
export function explain(error: unknown): string {
  if (isExecutorError(error, "client.unreachable")) return "The server cannot be reached just now.";
  if (isExecutorError(error)) return error.detail;
  return error instanceof Error ? error.message : String(error);
}
