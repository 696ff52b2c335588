/**
 * What a session's streams carried lately, so that a client whose connection broke gets the rest when it comes back (Last-Event-ID).
 * In memory and bounded: what is older, or was another instance's, is gone; the outcome of a task is always had by `resume`.
 */
import type { EventId, EventStore, JSONRPCMessage, StreamId } from "@modelcontextprotocol/server";

const MAX_MESSAGES = 200;
const MAX_CHARS = 200_000;

interface Kept {
  streamId: StreamId;
  message: JSONRPCMessage;
  chars: number;
}

export class RecentMessages implements EventStore {
  readonly #kept = new Map<EventId, Kept>();
  #chars = 0;
  #count = 0;

  async storeEvent(streamId: StreamId, message: JSONRPCMessage): Promise<EventId> {
    const eventId = `${streamId}_${++this.#count}`;
    const chars = JSON.stringify(message).length;
    this.#kept.set(eventId, { streamId, message, chars });
    this.#chars += chars;
    for (const [id, old] of this.#kept) {
      if (this.#kept.size <= MAX_MESSAGES && this.#chars <= MAX_CHARS) break;
      this.#kept.delete(id);
      this.#chars -= old.chars;
    }
    return eventId;
  }

  async getStreamIdForEventId(eventId: EventId): Promise<StreamId | undefined> {
    return this.#kept.get(eventId)?.streamId;
  }

  async replayEventsAfter(
    lastEventId: EventId,
    { send }: { send(eventId: EventId, message: JSONRPCMessage): Promise<void> },
  ): Promise<StreamId> {
    const streamId = this.#kept.get(lastEventId)?.streamId ?? "";
    let isPast = false;
    for (const [eventId, { streamId: of, message }] of this.#kept) {
      // The first one of a stream is empty: it only tells where the stream begins.
      if (isPast && of === streamId && "jsonrpc" in message) await send(eventId, message);
      if (eventId === lastEventId) isPast = true;
    }
    return streamId;
  }
}
