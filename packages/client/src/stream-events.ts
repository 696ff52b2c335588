/**
 * The events of a task or a workspace as one unbroken sequence, over as many connections as it takes.
 * A dropped, ended or silent connection is opened again after the last event that was delivered; nothing is left out or given twice.
 * Ends after the last event of a task; fails on what a repeat cannot cure (a revoked token, an unknown task).
 */
import type { TaskEvent } from "@executor/contracts/event";
import { ExecutorError } from "./error.ts";
import { createSseParser, type SseMessage } from "./parse-sse.ts";
import { abortError, openScope, orAborted, sleep, throwIfAborted } from "./scope.ts";
import { backoffMs, type Timing } from "./timing.ts";

export interface EventsOptions {
  /** Sequence of the last event already known. */
  after?: number;
  signal?: AbortSignal;
  /** Told when a connection stands and when it was lost; the stream goes on by itself either way. */
  onConnection?: (isConnected: boolean) => void;
}

export interface EventSource {
  timing: Timing;
  open(lastEventId: string | undefined, signal: AbortSignal): Promise<Response>;
  sequenceOf(event: TaskEvent): number;
  isLast(event: TaskEvent): boolean;
  /** True when no event can come any more that a new connection would not replay. */
  hasEnded(signal: AbortSignal | undefined): Promise<boolean>;
}

export async function* streamEvents(
  source: EventSource,
  { after, signal, onConnection }: EventsOptions,
): AsyncGenerator<TaskEvent, void, undefined> {
  let last = after;
  /** An id without an event: where a stream that began live stands. */
  let lastEventId = after === undefined ? undefined : String(after);
  let failures = 0;
  let retryMs = 0;
  let endedBefore = false;
  let isConnected = false;
  for (;;) {
    throwIfAborted(signal);
    let error: ExecutorError | undefined;
    let isSilent = true;
    try {
      for await (const message of connect(source, lastEventId, signal)) {
        retryMs = message.retryMs ?? retryMs;
        if (!isConnected) onConnection?.((isConnected = true));
        const event = readEvent(message);
        if (!event) {
          lastEventId = message.id || lastEventId;
          continue;
        }
        isSilent = false;
        const sequence = source.sequenceOf(event);
        if (last === undefined || sequence > last) {
          failures = 0;
          last = sequence;
          lastEventId = String(sequence);
          yield event;
        }
        if (source.isLast(event)) return;
      }
    } catch (cause) {
      throwIfAborted(signal);
      if (!(cause instanceof ExecutorError) || !cause.retryable) throw cause;
      error = cause;
    }
    if (isConnected) onConnection?.((isConnected = false));
    // Resumed behind the last event of an ended task: the server has nothing to say and hangs up, for ever. The connection
    // that proves it must have been opened after the task had ended, else an event between the two would be lost.
    if (!error && isSilent) {
      if (endedBefore) return;
      endedBefore = await hasEnded(source, signal);
      if (endedBefore) continue;
    }
    failures++;
    await sleep(
      Math.max(backoffMs(source.timing, failures, error), Math.min(retryMs, source.timing.backoffMaxMs)),
      signal,
    );
  }
}

/** The messages of one connection. Silence for too long ends it with an error, as a reset would. */
async function* connect(
  { timing, open }: EventSource,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<SseMessage, void, undefined> {
  const scope = openScope({ signal });
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Only while we wait: how long the consumer takes for an event is its own affair. */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    const silence = () =>
      scope.stop(new ExecutorError("client.unreachable", `the event stream was silent for ${timing.streamIdleMs} ms`));
    const timer = setTimeout(silence, timing.streamIdleMs);
    try {
      return await orAborted(work, scope.signal);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const response = await inTime(open(lastEventId, scope.signal));
    reader = response.body?.getReader();
    const parser = createSseParser();
    while (reader) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      yield* parser.push(value);
    }
  } catch (error) {
    if (error instanceof ExecutorError) throw error;
    if (scope.signal.aborted) throw abortError(scope.signal);
    throw new ExecutorError("client.unreachable", "the event stream broke off", { cause: error });
  } finally {
    scope.close();
    // Left early or broken: the connection is given back, whatever state it is in.
    scope.stop(undefined);
    await reader?.cancel().catch(() => undefined);
  }
}

/** Undefined: not an event of ours. A newer server may send other things along; they are not for us. */
function readEvent({ data }: SseMessage): TaskEvent | undefined {
  if (data === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch (cause) {
    throw new ExecutorError("client.bad_answer", "the event stream holds something that is not JSON", { cause });
  }
  const isEvent = typeof value === "object" && value !== null && "sequence" in value && "type" in value;
  return isEvent ? (value as TaskEvent) : undefined;
}

/** A server that cannot be asked just now has not told that the task has ended. */
async function hasEnded(source: EventSource, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    return await source.hasEnded(signal);
  } catch (error) {
    throwIfAborted(signal);
    if (error instanceof ExecutorError && error.retryable) return false;
    throw error;
  }
}
