/**
 * Keeps what is shown true: the workspace's event stream tells what became stale, and only that is read again. No polling.
 * The SDK reconnects with back-off and resumes behind the last event it gave, so nothing is missed while the server restarts.
 * Events come in bursts (a task may make thousands of calls): they are handed on in batches, ten a second at most.
 */
import { isExecutorError, type TaskEvent } from "@executor/client";
import { executor, queryClient } from "./api.ts";
import { signOut } from "./session.ts";
import { createStore } from "./store.ts";

export type Line = "connecting" | "live" | "lost";
/** The state of the line to the server, for the quiet sign in the header. */
export const line = createStore<Line>("connecting");

/** What a feature does with the news. */
export type OnEvents = (events: readonly TaskEvent[]) => void;

const BATCH_MS = 100;

/** Until the answer is called. */
export function startLive(listeners: readonly OnEvents[]): () => void {
  const stop = new AbortController();
  let batch: TaskEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deliver = () => {
    timer = undefined;
    const events = batch;
    batch = [];
    for (const listener of listeners) listener(events);
  };
  const listen = async () => {
    const events = executor().events({
      signal: stop.signal,
      onConnection: (isConnected) => {
        line.set(isConnected ? "live" : "lost");
        // What was being read when the line broke, or before the first event could be heard, may be out of date.
        if (isConnected) void queryClient.invalidateQueries();
      },
    });
    for await (const event of events) {
      batch.push(event);
      timer ??= setTimeout(deliver, BATCH_MS);
    }
  };
  line.set("connecting");
  listen().catch((error: unknown) => {
    if (stop.signal.aborted) return;
    line.set("lost");
    if (isExecutorError(error, "auth.invalid", "auth.required"))
      signOut("Your session has ended: it was revoked, or not used for a long time.");
  });
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
