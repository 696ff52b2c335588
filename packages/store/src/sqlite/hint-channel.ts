/**
 * Hints between the processes that share one SQLite file, over a Unix socket in a private directory. The server is the
 * hub and passes on what it hears; workers connect to it and come back when it restarts. A hint that is lost costs a
 * poll interval, nothing else, so every failure here is silent.
 */
import { chmodSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Hint } from "@executor/core/ports/store";

const RECONNECT_MS = 200;
/** A peer that does not read is cut off rather than buffered for. */
const MAX_BUFFERED_BYTES = 1_000_000;
const MAX_LINE_LENGTH = 10_000;

export interface HintChannel {
  send(hints: readonly Hint[]): void;
  close(): Promise<void>;
}

export function openHintChannel(options: {
  socketPath: string;
  role: "hub" | "spoke";
  onHint(hint: Hint): void;
}): HintChannel {
  return options.role === "hub"
    ? openHub(options.socketPath, options.onHint)
    : openSpoke(options.socketPath, options.onHint);
}

function openHub(socketPath: string, onHint: (hint: Hint) => void): HintChannel {
  const peers = new Set<Socket>();
  const server: Server = createServer((peer) => {
    peers.add(peer);
    receive(peer, (hint, line) => {
      onHint(hint);
      for (const other of peers) if (other !== peer) write(other, line);
    });
    peer.on("close", () => peers.delete(peer));
  });
  server.on("error", () => undefined);
  rmSync(socketPath, { force: true });
  server.listen(socketPath, () => {
    try {
      chmodSync(socketPath, 0o600);
    } catch {
      // The directory is private already.
    }
  });
  server.unref();
  return {
    send: (hints) => {
      const lines = encode(hints);
      for (const peer of peers) write(peer, lines);
    },
    close: async () => {
      for (const peer of peers) peer.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function openSpoke(socketPath: string, onHint: (hint: Hint) => void): HintChannel {
  let socket: Socket | null = null;
  let closed = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const dial = (): void => {
    const attempt = connect(socketPath);
    attempt.on("connect", () => {
      socket = attempt;
      attempt.unref();
      // Whatever was queued while nobody told us: look once.
      onHint({ kind: "queued" });
    });
    receive(attempt, onHint);
    attempt.on("close", () => {
      socket = null;
      if (closed) return;
      timer = setTimeout(dial, RECONNECT_MS);
      timer.unref();
    });
  };
  dial();
  return {
    send: (hints) => {
      if (socket) write(socket, encode(hints));
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      socket?.destroy();
    },
  };
}

function receive(socket: Socket, onHint: (hint: Hint, line: string) => void): void {
  let rest = "";
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  socket.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE_LENGTH) socket.destroy();
    for (const line of lines) {
      const hint = decode(line);
      if (hint) onHint(hint, `${line}\n`);
    }
  });
}

const encode = (hints: readonly Hint[]): string => hints.map((hint) => `${JSON.stringify(hint)}\n`).join("");

function decode(line: string): Hint | null {
  try {
    return JSON.parse(line) as Hint;
  } catch {
    return null;
  }
}

function write(socket: Socket, lines: string): void {
  if (socket.writableLength > MAX_BUFFERED_BYTES) socket.destroy();
  else socket.write(lines);
}
