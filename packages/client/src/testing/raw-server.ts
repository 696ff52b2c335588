/** A server of bare TCP for tests that need to say which bytes arrive together and where a connection breaks. */
import { sleep } from "../scope.ts";

export interface RawConnection {
  /** Of the request line. */
  path: string;
  lastEventId: string | undefined;
  /** From 1: the how-manieth connection it is. */
  ordinal: number;
  /** Sends the head of an event stream. */
  startStream(): Promise<void>;
  /** Sends bytes as one chunk of the body, apart from what comes before and after. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Ends the body as it should be. */
  end(): void;
  /** Hangs up in the middle. */
  cut(): void;
  isOpen(): boolean;
  /** Any answer at all. */
  answer(text: string): void;
}

export interface RawServer {
  url: string;
  connections: RawConnection[];
  [Symbol.asyncDispose](): Promise<void>;
}

export function startRawServer(serve: (connection: RawConnection) => Promise<void> | void): RawServer {
  const connections: RawConnection[] = [];
  const heads = new WeakMap<object, string>();
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket, bytes) {
        const head = (heads.get(socket) ?? "") + bytes.toString("latin1");
        heads.set(socket, head);
        if (!head.includes("\r\n\r\n")) return;
        heads.set(socket, "");
        const write = async (data: string | Uint8Array) => {
          socket.write(data);
          socket.flush();
          // Long enough for the other side to read it before more comes.
          await sleep(4);
        };
        const connection: RawConnection = {
          path: head.split(" ")[1] ?? "",
          lastEventId: /^last-event-id: (.*)$/im.exec(head)?.[1]?.trim(),
          ordinal: connections.length + 1,
          startStream: () =>
            write(
              "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
            ),
          async send(data) {
            const body = typeof data === "string" ? new TextEncoder().encode(data) : data;
            const frame = [`${body.length.toString(16)}\r\n`, body, "\r\n"];
            await write(Buffer.concat(frame.map((part) => Buffer.from(part as Uint8Array))));
          },
          end: () => {
            socket.write("0\r\n\r\n");
            socket.end();
          },
          isOpen: () => socket.readyState === 1,
          cut: () => socket.terminate(),
          answer: (text) => {
            socket.write(text);
            socket.end();
          },
        };
        connections.push(connection);
        void serve(connection);
      },
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    connections,
    async [Symbol.asyncDispose]() {
      server.stop(true);
    },
  };
}
