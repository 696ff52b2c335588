/**
 * Entry of a child process: hosts many guests, one machine each, and answers its parent's frames one after the other.
 * It holds no secret and no handle but its socket. It dies with its parent, even when it is stuck inside the engine.
 */
import { readFileSync } from "node:fs";
import wasmPath from "quickjs-wasi/quickjs.wasm" with { type: "file" };
import { dieWithParent } from "./die-with-parent.ts";
import { GuestRun } from "../guest/guest-run.ts";
import type { TurnParts } from "../guest/turn-parts.ts";
import { encodeFrame, type Frame, FrameReader, type ToChild, type ToParent } from "./guest-frames.ts";
import { buildEngineImage, type EngineImage, startVm } from "./quickjs-vm.ts";
import { readChildEnv } from "./env.ts";

const gcAfterBytes = 32_000_000;
const gcIdleMs = 200;

export async function runGuestChild(): Promise<void> {
  const env = readChildEnv();
  dieWithParent(env.parentPid);
  const image = buildEngineImage(new WebAssembly.Module(readFileSync(wasmPath)));
  const desk = new GuestDesk(image);
  const reader = new FrameReader<ToChild>((frame) => desk.answer(frame));
  const socket = await Bun.connect({
    unix: env.socketPath,
    socket: {
      data: (_socket, chunk) => reader.push(chunk),
      drain: () => desk.flush(),
      close: () => process.exit(0),
      error: () => process.exit(1),
    },
  });
  desk.attach((bytes) => socket.write(bytes));
  desk.send({ t: "hello", token: env.token, pid: process.pid, totalMs: readProcessCpuMs() }, []);
}

/** The guests of this child, and the bytes that wait for the socket. */
class GuestDesk {
  readonly #image: EngineImage;
  readonly #runs = new Map<number, GuestRun<number, Uint8Array>>();
  #write: (bytes: Uint8Array) => number = () => 0;
  #waiting: Uint8Array[] = [];
  #freedBytes = 0;
  #gcTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(image: EngineImage) {
    this.#image = image;
  }

  attach(write: (bytes: Uint8Array) => number): void {
    this.#write = write;
  }

  answer({ header, blobs }: Frame<ToChild>): void {
    if (header.t === "open") this.#open(header, blobs[0]);
    else if (header.t === "close") this.#drop(header.s);
    else this.#advance(header.s, header.d, blobs);
  }

  send(header: ToParent, blobs: Uint8Array[]): void {
    this.#waiting.push(encodeFrame(header, blobs));
    this.flush();
  }

  flush(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      const written = this.#write(next);
      if (written < 0) process.exit(0);
      if (written < next.length) {
        this.#waiting[0] = next.subarray(written);
        return;
      }
      this.#waiting.shift();
    }
  }

  #open({ s, seed, startMs, limits }: Extract<ToChild, { t: "open" }>, blob: Uint8Array = new Uint8Array()): void {
    try {
      // The script outlives this chunk of the socket, so it is copied.
      this.#runs.set(
        s,
        new GuestRun({
          start: (host) => startVm(this.#image, limits.memoryBytes, host),
          script: blob.slice(),
          seed,
          startMs,
          limits,
          readCpuMs: readThreadCpuMs,
        }),
      );
    } catch {
      // No memory for one more machine: the first turn finds no session and reports it lost; the others go on.
    }
  }

  #advance(session: number, deliveries: Extract<ToChild, { t: "advance" }>["d"], blobs: Uint8Array[]): void {
    const run = this.#runs.get(session);
    let turn: TurnParts<Uint8Array>;
    try {
      if (run === undefined) throw new Error("this child does not know the session");
      turn = run.advance(deliveries, blobs);
    } catch (error) {
      this.#drop(session);
      this.send({ t: "lost", s: session, message: String(error) }, []);
      return;
    }
    const { calls, timers, cleared, out, cpuMs, end } = turn;
    const sent = [...turn.inputs, ...turn.texts, ...(turn.result === undefined ? [] : [turn.result])];
    this.send(
      {
        t: "turn",
        s: session,
        calls,
        timers,
        cleared,
        out,
        cpuMs,
        totalMs: readProcessCpuMs(),
        ...(end === undefined ? {} : { end }),
      },
      sent,
    );
    if (end !== undefined) this.#drop(session);
  }

  #drop(session: number): void {
    const run = this.#runs.get(session);
    if (run === undefined) return;
    this.#runs.delete(session);
    this.#freedBytes += run.memoryBytes;
    // The engine counts dropped machines late; a guest that grew large would hold its memory until then.
    if (this.#freedBytes < gcAfterBytes || this.#gcTimer !== undefined) return;
    this.#gcTimer = setTimeout(() => {
      this.#gcTimer = undefined;
      this.#freedBytes = 0;
      Bun.gc(true);
    }, gcIdleMs);
  }
}

/** The system brings a thread's time up to date only when the whole process is asked for; without that a short turn counts as nothing. */
function readThreadCpuMs(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function readProcessCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

if (import.meta.main) await runGuestChild();
