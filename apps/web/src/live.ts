/**
 * Keeps what is shown true: the workspace's event stream tells what became stale, and only that is read again. No polling.
 * The SDK reconnects with back-off and resumes behind the last event it gave, so nothing is missed while the server restarts.
 * A browser opens few connections to one host, so all tabs of a workspace share one stream: whoever holds the lock reads it
 * and tells the others; when that tab goes, the next one goes on behind the last event it was told.
 */
import { isExecutorError, type TaskEvent } from "@executor/client";
import { executor, queryClient } from "./api.ts";
import { SESSION_ENDED, signOut } from "./session.ts";
import { createStore } from "./store.ts";

export type Line = "connecting" | "live" | "lost";
/** The state of the line to the server, for the quiet sign in the header. */
export const line = createStore<Line>("connecting");

/** What a feature does with the news. */
export type OnEvents = (events: readonly TaskEvent[]) => void;

/** Events come in bursts (a task may make thousands of calls): they are handed on ten times a second at most. */
const BATCH_MS = 100;

type Message = { kind: "event"; event: TaskEvent } | { kind: "line"; line: Line } | { kind: "hello" };

/** Until the answer is called. */
export function startLive(workspaceId: string, listeners: readonly OnEvents[]): () => void {
  const stop = new AbortController();
  const channel = new BroadcastChannel(`executor.live.${workspaceId}`);
  const inbox = createInbox(listeners);
  let isReader = false;
  const setLine = (next: Line) => {
    line.set(next);
    if (isReader) channel.postMessage({ kind: "line", line: next } satisfies Message);
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "event") inbox.put(data.event);
    else if (data.kind === "line") takeLine(data.line);
    else if (isReader) setLine(line.get());
  });
  const read = async () => {
    isReader = true;
    const events = executor().events({
      ...(inbox.lastSequence() !== undefined && { after: inbox.lastSequence() }),
      signal: stop.signal,
      onConnection: (isConnected) => {
        setLine(isConnected ? "live" : "lost");
        // What was read before the first event could be heard, or while the line was broken, may be out of date.
        if (isConnected) void queryClient.invalidateQueries();
      },
    });
    for await (const event of events) {
      channel.postMessage({ kind: "event", event } satisfies Message);
      inbox.put(event);
    }
  };
  line.set("connecting");
  channel.postMessage({ kind: "hello" } satisfies Message);
  alone(`executor.live.${workspaceId}`, stop.signal, read).catch((error: unknown) => {
    if (stop.signal.aborted) return;
    setLine("lost");
    if (isExecutorError(error, "auth.invalid", "auth.required")) signOut(SESSION_ENDED);
  });
  return () => {
    stop.abort();
    channel.close();
    inbox.close();
  };
}

/** The reader of another tab reads everything again when its line is back; so does everyone who shares it. */
function takeLine(next: Line): void {
  const before = line.get();
  line.set(next);
  if (before === "lost" && next === "live") void queryClient.invalidateQueries();
}

function createInbox(listeners: readonly OnEvents[]) {
  let batch: TaskEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last: number | undefined;
  const deliver = () => {
    timer = undefined;
    const events = batch;
    batch = [];
    for (const listener of listeners) listener(events);
  };
  return {
    lastSequence: () => last,
    put(event: TaskEvent) {
      if (last !== undefined && event.workspaceSequence <= last) return;
      last = event.workspaceSequence;
      batch.push(event);
      timer ??= setTimeout(deliver, BATCH_MS);
    },
    close: () => clearTimeout(timer),
  };
}

/** One tab at a time. Without locks (a page from plain http elsewhere than this machine) every tab reads for itself. */
async function alone(name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  if (!("locks" in navigator)) return work();
  await navigator.locks.request(name, { signal }, work);
}
