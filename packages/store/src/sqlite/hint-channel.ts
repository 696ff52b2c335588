/**
 * Hints between the processes that share one SQLite file, over a Unix socket in a private directory. The server is the
 * hub and passes on what it hears; workers connect to it and come back when it restarts. A hint that is lost costs a
 * poll interval, nothing else, so every failure here is silent.
 */
import { chmodSync, rmSync } from "node:fs";
import type { Socket } from "bun";
import type { Hint } from "@executor/core/ports/store";

/** A worker is often up before its server; later on there is no hurry. */
const FIRST_RECONNECT_MS = 5;
const MAX_RECONNECT_MS = 200;
/** A peer that does not read is cut off rather than buffered for. */
const MAX_BUFFERED_LENGTH = 1_000_000;
const MAX_LINE_LENGTH = 10_000;

export interface HintChannel {
  send(hints: readonly Hint[]): void;
  close(): Promise<void>;
}

interface ChannelOptions {
  socketPath: string;
  role: "hub" | "spoke";
  onHint(hint: Hint): void;
}

export function openHintChannel(options: ChannelOptions): HintChannel {
  return options.role === "hub" ? openHub(options) : openSpoke(options);
}

/** One end of a connection: whole lines in, whole lines out. */
class Peer {
  readonly #socket: Socket<Peer>;
  readonly #onLine: (hint: Hint, line: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #waiting = "";

  constructor(socket: Socket<Peer>, onLine: (hint: Hint, line: string) => void) {
    this.#socket = socket;
    this.#onLine = onLine;
  }

  receive(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_LINE_LENGTH) this.#socket.end();
    for (const line of lines) {
      const hint = decode(line);
      if (hint) this.#onLine(hint, `${line}\n`);
    }
  }

  /** Hints are ASCII, so characters are bytes. */
  write(lines: string): void {
    this.#waiting += lines;
    const written = this.#socket.write(this.#waiting);
    if (written < 0) return;
    this.#waiting = this.#waiting.slice(written);
    if (this.#waiting.length > MAX_BUFFERED_LENGTH) this.#socket.end();
  }
}

const handlers = {
  data: (socket: Socket<Peer>, chunk: Uint8Array) => socket.data.receive(chunk),
  drain: (socket: Socket<Peer>) => socket.data.write(""),
  error: (socket: Socket<Peer>) => void socket.end(),
};

function openHub({ socketPath, onHint }: ChannelOptions): HintChannel {
  const peers = new Set<Peer>();
  rmSync(socketPath, { force: true });
  const server = Bun.listen<Peer>({
    unix: socketPath,
    socket: {
      ...handlers,
      open: (socket) => {
        const peer = new Peer(socket, (hint, line) => {
          onHint(hint);
          if (!concernsWorkers(hint)) return;
          for (const other of peers) if (other !== peer) other.write(line);
        });
        socket.data = peer;
        socket.unref();
        peers.add(peer);
      },
      close: (socket) => void peers.delete(socket.data),
    },
  });
  chmodSync(socketPath, 0o600);
  server.unref();
  return {
    send: (hints) => {
      const lines = encode(hints.filter(concernsWorkers));
      if (lines !== "") for (const peer of peers) peer.write(lines);
    },
    close: async () => {
      server.stop(true);
      rmSync(socketPath, { force: true });
    },
  };
}

function openSpoke({ socketPath, onHint }: ChannelOptions): HintChannel {
  let connection: Socket<Peer> | null = null;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reconnectMs = FIRST_RECONNECT_MS;

  const dialLater = (): void => {
    connection = null;
    if (closed) return;
    timer = setTimeout(dial, reconnectMs);
    timer.unref();
    reconnectMs = Math.min(2 * reconnectMs, MAX_RECONNECT_MS);
  };
  const open = (socket: Socket<Peer>): void => {
    socket.data = new Peer(socket, onHint);
    socket.unref();
    connection = socket;
    reconnectMs = FIRST_RECONNECT_MS;
    if (closed) return void socket.end();
    // Whatever happened on either side while there was no connection: look once.
    onHint({ kind: "queued" });
    socket.data.write(encode([{ kind: "resync" }]));
  };
  const dial = (): void => {
    Bun.connect<Peer>({
      unix: socketPath,
      socket: { ...handlers, open, close: dialLater, connectError: () => undefined },
    }).catch(dialLater);
  };
  dial();
  return {
    send: (hints) => connection?.data.write(encode(hints)),
    close: async () => {
      closed = true;
      clearTimeout(timer);
      connection?.end();
    },
  };
}

/** They have no use for events: only the server streams them. */
const concernsWorkers = ({ kind }: Hint): boolean => kind === "queued" || kind === "cancelled" || kind === "link";

const encode = (hints: readonly Hint[]): string => hints.map((hint) => `${JSON.stringify(hint)}\n`).join("");

function decode(line: string): Hint | null {
  try {
    return JSON.parse(line) as Hint;
  } catch {
    return null;
  }
}
