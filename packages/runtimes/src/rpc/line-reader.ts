/**
 * Cuts a stream of bytes into lines. A line is decoded only when all of it is there, so a character that was split between two chunks
 * comes out whole. Keeps at most `maxBytes` of an unfinished line; a longer one ends the reader.
 */
const lineFeed = 10;
/** Chunks hold whole lines most of the time; a decoder in this mode never throws, and bad bytes become U+FFFD. */
const decoder = new TextDecoder();

export interface LineReaderEvents {
  line(text: string): void;
  /** Nothing is read after this. */
  tooLong(): void;
}

export class LineReader {
  readonly #maxBytes: number;
  readonly #events: LineReaderEvents;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #stopped = false;

  constructor(maxBytes: number, events: LineReaderEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    // Most chunks are one line or a few, whole, and are decoded at once.
    if (this.#bytes === 0 && !this.#stopped && chunk.at(-1) === lineFeed && chunk.length <= this.#maxBytes)
      return this.#takeWhole(decoder.decode(chunk));
    while (!this.#stopped) {
      const end = chunk.indexOf(lineFeed, from);
      const bytes = this.#bytes + (end < 0 ? chunk.length : end) - from;
      if (bytes > this.#maxBytes) return this.#stop();
      if (end < 0) {
        // The socket may use the chunk's memory again once we return.
        if (from < chunk.length) this.#parts.push(chunk.slice(from));
        this.#bytes = bytes;
        return;
      }
      const line = this.#join(chunk.subarray(from, end), bytes);
      from = end + 1;
      if (line !== "") this.#events.line(line);
    }
  }

  #takeWhole(text: string): void {
    for (let from = 0; from < text.length;) {
      const end = text.indexOf("\n", from);
      if (end > from) this.#events.line(text.slice(from, end));
      from = end + 1;
    }
  }

  #join(last: Uint8Array, bytes: number): string {
    if (this.#parts.length === 0) return decoder.decode(last);
    const whole = new Uint8Array(bytes);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    whole.set(last, at);
    this.#parts = [];
    this.#bytes = 0;
    return decoder.decode(whole);
  }

  #stop(): void {
    this.#stopped = true;
    this.#parts = [];
    this.#events.tooLong();
  }
}
