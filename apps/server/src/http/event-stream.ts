/**
 * A stored log as server-sent events: what is there, then what comes. It is pulled: a page is read when the client has
 * taken the one before, so a client that never reads costs one page, whatever the log's length.
 * The store is the truth; a hint only makes the next read come sooner than the poll.
 */
import type { Host } from "@executor/core/ports/host";
import type { Row } from "@executor/core/store/tables";
import { Bell } from "../bell.ts";
import { writeEvent } from "../present/present-event.ts";

export interface EventLog {
  /** The next ones after a number, in order. */
  read(after: number, limit: number): Promise<Row<"events">[]>;
  sequenceOf(event: Row<"events">): number;
  /** True when nothing will ever follow this number. Asked when there is nothing to read. */
  isOver(after: number): Promise<boolean>;
}

export interface EventStreamOptions {
  log: EventLog;
  host: Host;
  after: number;
  /** Rings the bell when there may be something new, or calls `end`. Returns the way to stop. */
  listen(ring: () => void, end: () => void): () => void;
  /** Whether the bearer still may read; asked at every heartbeat. */
  mayGoOn(): Promise<boolean>;
  onClose(): void;
  heartbeatMs?: number;
}

const PAGE = 500;
const CHUNK_LENGTH = 64_000;
const POLL_MS = 1_000;
const HEARTBEAT_MS = 15_000;

export function openEventStream(options: EventStreamOptions): Response {
  const pump = new EventPump(options);
  const body = new ReadableStream<Uint8Array>(
    { pull: (controller) => pump.pull(controller), cancel: () => pump.end() },
    { highWaterMark: 0 },
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
  });
}

class EventPump {
  readonly #options: EventStreamOptions;
  readonly #bell: Bell;
  readonly #stopListening: () => void;
  readonly #encoder = new TextEncoder();
  readonly #heartbeatMs: number;
  #page: Row<"events">[] = [];
  #after: number;
  #isOpened = false;
  #isEnded = false;
  #beatAtMs: number;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    this.#after = options.after;
    this.#bell = new Bell(options.host);
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#beatAtMs = options.host.monotonicMs() + this.#heartbeatMs;
    this.#stopListening = options.listen(this.#bell.ring, () => this.end());
  }

  /** Idempotent. A pull that waits comes back at once and closes the stream. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopListening();
    this.#options.onClose();
    this.#bell.ring();
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const text = await this.#nextText();
      if (text !== null) return controller.enqueue(this.#encoder.encode(text));
      this.end();
      controller.close();
    } catch (error) {
      this.end();
      controller.error(error);
    }
  }

  /** Null when the stream is over. */
  async #nextText(): Promise<string | null> {
    // Headers leave with the first bytes: without these a client of a quiet log would wait for its answer. The id tells
    // it where it stands, so that a connection that breaks before the first event is resumed without a gap.
    if (!this.#isOpened) {
      this.#isOpened = true;
      return `: open\nid: ${this.#after}\n\n`;
    }
    while (!this.#isEnded) {
      if (this.#page.length > 0) return this.#takeFromPage();
      this.#page = await this.#options.log.read(this.#after, PAGE);
      if (this.#page.length > 0) continue;
      if (await this.#options.log.isOver(this.#after)) return null;
      const restMs = this.#beatAtMs - this.#options.host.monotonicMs();
      if (restMs <= 0) return await this.#beat();
      await this.#bell.wait(Math.min(POLL_MS, restMs));
    }
    return null;
  }

  #takeFromPage(): string {
    let text = "";
    let taken = 0;
    for (const event of this.#page) {
      this.#after = this.#options.log.sequenceOf(event);
      text += writeEvent(event, this.#after);
      taken++;
      if (text.length >= CHUNK_LENGTH) break;
    }
    this.#page = this.#page.slice(taken);
    this.#beatAtMs = this.#options.host.monotonicMs() + this.#heartbeatMs;
    return text;
  }

  async #beat(): Promise<string | null> {
    this.#beatAtMs = this.#options.host.monotonicMs() + this.#heartbeatMs;
    return (await this.#options.mayGoOn()) ? ": beat\n\n" : null;
  }
}
