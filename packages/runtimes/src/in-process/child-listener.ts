/**
 * The Unix socket children connect to, in a directory only this user can enter. A connection counts as a child once it says the token
 * that was given to exactly one child; anything else is closed.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Socket } from "bun";
import { makePrivateDirectory } from "../private-directory.ts";
import { encodeFrame, type Frame, FrameReader, type ToChild, type ToParent } from "./guest-frames.ts";

export interface ChildLink {
  /** Goes out with the next `send`. */
  queue(header: ToChild, blobs?: readonly Uint8Array[]): void;
  send(header: ToChild, blobs?: readonly Uint8Array[]): void;
  close(): void;
}

export interface LinkOwner {
  connected(link: ChildLink, hello: Extract<ToParent, { t: "hello" }>): void;
  received(frame: Frame<ToParent>): void;
  disconnected(): void;
}

interface Peer {
  reader: FrameReader<ToParent>;
  owner: LinkOwner | undefined;
  waiting: Uint8Array[];
}

/** Frames up to this size are joined with the one that follows. */
const joinedBytes = 64_000;

export class ChildListener {
  readonly directory: string;
  readonly socketPath: string;
  readonly #owners = new Map<string, LinkOwner>();
  readonly #server: { stop(closeAll?: boolean): void; unref(): void };

  constructor(runDir: string | undefined) {
    this.directory = makePrivateDirectory(runDir, "executor-guests-");
    this.socketPath = join(this.directory, "s");
    this.#server = Bun.listen<Peer>({
      unix: this.socketPath,
      socket: {
        open: (socket) => this.#greet(socket),
        data: (socket, chunk) => {
          try {
            socket.data.reader.push(chunk);
          } catch {
            socket.end();
          }
        },
        drain: (socket) => flushPeer(socket),
        close: (socket) => socket.data.owner?.disconnected(),
        error: (socket) => void socket.end(),
      },
    });
    this.#server.unref();
  }

  expect(token: string, owner: LinkOwner): void {
    this.#owners.set(token, owner);
  }

  forget(token: string): void {
    this.#owners.delete(token);
  }

  close(): void {
    this.#server.stop(true);
    rmSync(this.directory, { recursive: true, force: true });
  }

  #greet(socket: Socket<Peer>): void {
    const peer: Peer = {
      reader: new FrameReader<ToParent>((frame) => this.#take(socket, frame)),
      owner: undefined,
      waiting: [],
    };
    socket.data = peer;
    socket.unref();
  }

  #take(socket: Socket<Peer>, frame: Frame<ToParent>): void {
    const peer = socket.data;
    if (peer.owner !== undefined) return peer.owner.received(frame);
    const { header } = frame;
    const owner = header.t === "hello" ? this.#owners.get(header.token) : undefined;
    if (header.t !== "hello" || owner === undefined) return void socket.end();
    this.#owners.delete(header.token);
    peer.owner = owner;
    const link: ChildLink = {
      queue(message, blobs) {
        peer.waiting.push(encodeFrame(message, blobs));
      },
      send(message, blobs) {
        peer.waiting.push(encodeFrame(message, blobs));
        flushPeer(socket);
      },
      close: () => void socket.end(),
    };
    owner.connected(link, header);
  }
}

function flushPeer(socket: Socket<Peer>): void {
  const { waiting } = socket.data;
  // Waking the child costs more than copying a short frame: what is queued together leaves together.
  if (waiting.length > 1 && (waiting[0]?.length ?? 0) < joinedBytes)
    waiting.unshift(Buffer.concat(waiting.splice(0, 2)));
  for (;;) {
    const next = waiting[0];
    if (next === undefined) return;
    const written = socket.write(next);
    if (written < next.length) {
      if (written > 0) waiting[0] = next.subarray(written);
      return;
    }
    waiting.shift();
  }
}
