/**
 * The host's end of an isolate's socket: lines out, lines in. What the socket does not take at once waits here; the isolate reads
 * whenever its guest rests, so it is never more than one turn's worth.
 */
import type { Socket } from "bun";
import { LineReader } from "../rpc/line-reader.ts";

export interface LinkEvents {
  line(line: string): void;
  closed(reason: string): void;
}

export class IsolateLink {
  readonly #socket: Socket<undefined>;
  #waiting: Uint8Array[] = [];

  static async connect(path: string, maxLineBytes: number, events: LinkEvents): Promise<IsolateLink> {
    const reader = new LineReader(maxLineBytes, {
      line: (line) => events.line(line),
      tooLong: () => events.closed(`it sent a line of more than ${maxLineBytes} bytes`),
    });
    const made: { link?: IsolateLink } = {};
    const socket = await Bun.connect({
      unix: path,
      socket: {
        data: (_socket, chunk) => reader.push(chunk),
        drain: () => made.link?.flush(),
        close: () => events.closed("it hung up"),
        error: (_socket, error) => events.closed(error.message),
      },
    });
    made.link = new IsolateLink(socket);
    return made.link;
  }

  private constructor(socket: Socket<undefined>) {
    this.#socket = socket;
  }

  send(lines: string): void {
    if (this.#waiting.length === 0) {
      const written = this.#socket.write(lines);
      if (written === Buffer.byteLength(lines)) return;
      return void this.#waiting.push(Buffer.from(lines).subarray(Math.max(0, written)));
    }
    this.#waiting.push(Buffer.from(lines));
    this.flush();
  }

  flush(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const written = this.#socket.write(next);
      if (written < next.length) {
        if (written > 0) this.#waiting[0] = next.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
  }

  unref(): void {
    this.#socket.unref();
  }

  close(): void {
    this.#waiting = [];
    this.#socket.end();
  }
}
