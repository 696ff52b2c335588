/** The log of events as streams: of one task until its last event, of a workspace for as long as the client likes. */
import { AppError } from "@executor/contracts/error";
import { isEnded, type TaskStatus } from "@executor/contracts/task";
import type { AppDeps } from "../deps.ts";
import type { HintHub } from "../hint-hub.ts";
import { type Authenticator, type Bearer, readBearer } from "../http/authenticate.ts";
import { type EventLog, openEventStream } from "../http/event-stream.ts";
import type { HandlersOf, RouteRequest } from "../http/route-types.ts";

/** Open at once with one bearer; more are most likely a client that forgets to close them. */
export const MAX_STREAMS = 50;

type Names = "taskEvents" | "workspaceEvents";

export function eventRoutes(
  { store, host, shutdown }: AppDeps,
  hub: HintHub,
  authenticator: Authenticator,
): HandlersOf<Names> {
  const openStreams = new Map<string, number>();

  return {
    async taskEvents(request) {
      const { caller, param, header } = request;
      const taskId = param("taskId");
      const task = await store.readTaskStatus({ taskId });
      if (!task || task.workspaceId !== caller.workspaceId)
        throw new AppError("task.not_found", `There is no task ${taskId} in this workspace.`);
      const log: EventLog = {
        read: (afterSeq, limit) => store.readTaskEvents({ taskId, afterSeq, limit }),
        sequenceOf: (event) => event.seq,
        // Status and last event are written together, so an ended task that has no more to read is over.
        isOver: async (after) => {
          const current = await store.readTaskStatus({ taskId });
          return !current || (isEnded(current.status as TaskStatus) && current.eventSeq <= after);
        },
      };
      return open(request, log, readLastEventId(header("last-event-id")) ?? 0, `task:${taskId}`);
    },

    async workspaceEvents(request) {
      const { workspaceId } = request.caller;
      const newest = (await store.readWorkspace({ workspaceId }))?.eventSeq ?? 0;
      // A number from a log that is no more (a restored store): go on with what there is.
      const after = Math.min(readLastEventId(request.header("last-event-id")) ?? newest, newest);
      const log: EventLog = {
        read: (afterSeq, limit) => store.readWorkspaceEvents({ workspaceId, afterSeq, limit }),
        sequenceOf: (event) => event.workspaceSeq,
        isOver: async () => false,
      };
      return open(request, log, after, `workspace:${workspaceId}`);
    },
  };

  function open(
    { caller, header, signal }: RouteRequest<Names>,
    log: EventLog,
    after: number,
    topic: Parameters<HintHub["on"]>[0],
  ): Response {
    const token = readBearer(header("authorization"));
    const close = countStream(caller);
    return openEventStream({
      log,
      host,
      after,
      listen: (ring, end) => {
        const stops = [hub.on(topic, ring), hub.on(`bearer:${caller.bearerId}`, end)];
        for (const reason of [signal, shutdown]) reason.addEventListener("abort", end);
        if (shutdown.aborted) queueMicrotask(end);
        return () => {
          for (const stop of stops) stop();
          for (const reason of [signal, shutdown]) reason.removeEventListener("abort", end);
        };
      },
      mayGoOn: () => authenticator.isValid(token),
      onClose: close,
    });
  }

  function countStream({ bearerId }: Bearer): () => void {
    const count = openStreams.get(bearerId) ?? 0;
    if (count >= MAX_STREAMS)
      throw new AppError(
        "request.rate_limited",
        `At most ${MAX_STREAMS} streams may be open with one key. Close some first.`,
        { data: { retryAfterSeconds: 1 } },
      );
    openStreams.set(bearerId, count + 1);
    return () => {
      const rest = (openStreams.get(bearerId) ?? 1) - 1;
      if (rest > 0) openStreams.set(bearerId, rest);
      else openStreams.delete(bearerId);
    };
  }
}

function readLastEventId(header: string | undefined): number | null {
  if (header === undefined || header === "") return null;
  if (!/^\d{1,15}$/.test(header))
    throw new AppError("request.invalid", "Last-Event-ID: must be the id of an event of this stream");
  return Number(header);
}
