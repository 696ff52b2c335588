/**
 * Runs a guest that does a little of everything, through the whole of this program but the socket: the code that the real guest's first
 * turn goes through is compiled then. It has a machine of its own, which is dropped; nothing of it leaves this process or stays in it.
 */
import { isolateErrors, type IsolateMessage, type IsolateStart } from "@executor/contracts/isolate-rpc";
import { writeMessage } from "@executor/runtimes/rpc/rpc-message";
import type { Connection, Engine } from "./engine.ts";
import { RpcServer } from "./rpc-server.ts";
import { V8Machine } from "./v8-machine.ts";

const calls = 12;
const script = `(async () => { console.log('warm', { a: [1] }); setTimeout(() => {}, 1); let last; for (let at = 0; at < ${calls - 1}; at++) last = await tools.a.b({ at: Date.now(), r: Math.random() }); try { await tools.c(); } catch (error) { return [last, error.message, new URL('http://a/b').href]; } })`;
const token = "warm";
const mega = 1_000_000;
const limits = {
  cpuMs: mega,
  memoryBytes: 100 * mega,
  outputBytes: mega,
  calls: calls + 1,
  callInputBytes: mega,
  resultBytes: mega,
};
const params = { runId: "r", taskId: "t", sessionToken: token, script, seed: "0".repeat(32), startMs: 0, limits };

/** Resolves when the throwaway guest has returned. */
export async function warmUp(engine: Engine): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const host = new WarmHost(resolve);
  // Its words go nowhere, and it cannot end the process.
  const muted = { ...engine, writeNow: (bytes: Uint8Array) => bytes.length, exit: () => undefined as never };
  const start: IsolateStart = { socketPath: "", token, maxLineBytes: mega };
  let isAccepted = false;
  void new RpcServer(muted, new V8Machine(muted), start).serve(() => {
    if (isAccepted) return new Promise<never>(() => undefined);
    isAccepted = true;
    return Promise.resolve(host);
  });
  await promise;
}

/** The host of that guest: answers each call with the next message. */
class WarmHost implements Connection {
  readonly #done: () => void;
  #next: Uint8Array | undefined = encode(
    { kind: "request", id: "ping", method: "ping", params: {}, token },
    { kind: "request", id: "run", method: "guest.run", params, token },
  );
  #wake: (() => void) | undefined;
  #answered = 0;

  constructor(done: () => void) {
    this.#done = done;
  }

  async read(into: Uint8Array): Promise<number> {
    while (this.#next === undefined) await new Promise<void>((wake) => (this.#wake = wake));
    const bytes = this.#next;
    this.#next = undefined;
    into.set(bytes);
    return bytes.length;
  }

  async write(bytes: Uint8Array): Promise<number> {
    const text = new TextDecoder().decode(bytes);
    if (text.includes('"tool.call"')) this.#answer(this.#answered++);
    else if (text.includes('"id":"run"')) this.#done();
    return bytes.length;
  }

  close(): void {}

  #answer(id: number): void {
    const error = {
      code: isolateErrors.toolFailed,
      message: "m",
      data: { code: "call.failed", toolPath: "c", atMs: id },
    };
    this.#next =
      id < calls - 1
        ? encode({ kind: "result", id, result: { json: '{"a":1}', atMs: id }, token })
        : encode({ kind: "error", id, error, token });
    this.#wake?.();
  }
}

function encode(...messages: IsolateMessage[]): Uint8Array {
  return new TextEncoder().encode(messages.map(writeMessage).join(""));
}
