/**
 * The isolate's side of the protocol: one client on the socket, one guest, then the end. Every message is checked for its token before
 * anything else about it counts. Errors say what was wrong with a message, never where in this process it was noticed.
 */
import {
  type GuestRunParams,
  type IsolateErrorBody,
  isolateErrors,
  type IsolateMessage,
  isolateProtocol,
  type IsolateStart,
  type ToolCallParams,
} from "@executor/contracts/isolate-rpc";
import { deliveryKinds } from "@executor/runtimes/guest/turn-parts";
import { LineReader } from "@executor/runtimes/rpc/line-reader";
import { readMessage, writeMessage } from "@executor/runtimes/rpc/rpc-message";
import type { Connection, Engine } from "./engine.ts";
import { readRunParams, readToolAnswer, readTimer } from "./read-params.ts";
import { GuestDesk, type GuestWire } from "./run-guest.ts";
import type { V8Machine } from "./v8-machine.ts";

type Id = number | string;

const readBytes = 262_144;
const encoder = new TextEncoder();

export class RpcServer {
  readonly #engine: Engine;
  readonly #machine: V8Machine;
  readonly #start: IsolateStart;
  /** Set once a connection has shown that it knows the token. */
  #client: Connection | undefined;
  #sessionToken: string | undefined;
  #desk: GuestDesk | undefined;
  #runId: Id | undefined;
  #outgoing: string[] = [];
  #isWriting = false;
  #isDue = false;

  constructor(engine: Engine, machine: V8Machine, start: IsolateStart) {
    this.#engine = engine;
    this.#machine = machine;
    this.#start = start;
  }

  async serve(accept: () => Promise<Connection>): Promise<void> {
    for (;;) void this.#talk(await accept()).catch(() => undefined);
  }

  async #talk(connection: Connection): Promise<void> {
    if (this.#client !== undefined)
      return await this.#turnAway(connection, isolateErrors.busy, "another client is connected");
    const reader = new LineReader(this.#start.maxLineBytes, {
      line: (line) => this.#takeLine(connection, line),
      tooLong: () =>
        void this.#turnAway(connection, isolateErrors.lineTooLong, `a line is over ${this.#start.maxLineBytes} bytes`),
    });
    const chunk = new Uint8Array(readBytes);
    try {
      for (;;) {
        const length = await connection.read(chunk);
        if (length === null) break;
        reader.push(chunk.subarray(0, length));
      }
    } finally {
      if (this.#client === connection) this.#engine.exit(0);
    }
  }

  async #turnAway(connection: Connection, code: number, message: string): Promise<void> {
    const line = writeMessage({ kind: "error", id: null, error: { code, message }, token: "" });
    try {
      await connection.write(encoder.encode(line));
    } finally {
      connection.close();
      if (this.#client === connection) this.#engine.exit(0);
    }
  }

  #takeLine(connection: Connection, line: string): void {
    if (this.#client !== undefined && this.#client !== connection)
      return void this.#turnAway(connection, isolateErrors.busy, "another client is connected");
    const read = readMessage(line);
    if (read.ok && read.message.token !== this.#start.token && read.message.token !== this.#sessionToken) {
      const { message } = read;
      const id = "id" in message ? message.id : null;
      const error = { code: isolateErrors.tokenRefused, message: "the token is missing, unknown or of another run" };
      return void connection.write(encoder.encode(writeMessage({ kind: "error", id, error, token: "" })));
    }
    if (read.ok) this.#client = connection;
    if (this.#client === undefined)
      return void this.#turnAway(
        connection,
        read.ok ? isolateErrors.invalidRequest : read.error.code,
        read.ok ? "" : read.error.message,
      );
    if (!read.ok) return this.#fail(read.id, read.error);
    this.#take(read.message);
  }

  #take(message: IsolateMessage): void {
    if (message.kind === "result" || message.kind === "error") return this.#takeAnswer(message);
    const id = message.kind === "request" ? message.id : null;
    switch (message.method) {
      case "ping":
        return this.#answer(id, {
          pong: true,
          protocol: isolateProtocol,
          engine: this.#engine.name,
          granted: this.#engine.grantedPermissions(),
        });
      case "guest.run":
        return this.#runGuest(id, message.params);
      case "guest.timer":
        return this.#takeTimer(id, message.params);
      case "guest.cancel":
        return this.#cancel(id, message.params);
      case "shutdown":
        this.#answer(id, { status: this.#runId === undefined ? "idle" : "interrupted" });
        return this.#exitWhenWritten();
      default:
        return this.#fail(id, {
          code: isolateErrors.unknownMethod,
          message: `there is no method ${message.method.slice(0, 100)}`,
        });
    }
  }

  #runGuest(id: Id | null, input: Record<string, unknown>): void {
    if (id === null) return;
    const params = readRunParams(input);
    if (typeof params === "string") return this.#fail(id, { code: isolateErrors.invalidParams, message: params });
    if (this.#runId !== undefined)
      return this.#fail(id, { code: isolateErrors.busy, message: "this process has had its guest" });
    this.#runId = id;
    this.#sessionToken = params.sessionToken;
    this.#desk = new GuestDesk(this.#engine, this.#machine, params, this.#wireOf(id, params));
    this.#advanceSoon();
  }

  #takeAnswer(message: Extract<IsolateMessage, { kind: "result" | "error" }>): void {
    const answer = readToolAnswer(message);
    if (this.#desk === undefined || typeof message.id !== "number")
      return this.#fail(null, { code: isolateErrors.noGuest, message: "nobody asked for this answer" });
    if (typeof answer === "string") return this.#fail(null, { code: isolateErrors.invalidParams, message: answer });
    this.#desk.deliver(answer.kind, message.id, answer.atMs, answer.text);
    this.#advanceSoon();
  }

  #takeTimer(id: Id | null, input: Record<string, unknown>): void {
    const timer = readTimer(input);
    if (typeof timer === "string") return this.#fail(id, { code: isolateErrors.invalidParams, message: timer });
    if (this.#desk === undefined) return this.#fail(id, { code: isolateErrors.noGuest, message: "no guest runs here" });
    this.#desk.deliver(deliveryKinds.timer, timer.timerId, timer.atMs);
    this.#advanceSoon();
  }

  /** Both ids must fit: a stop of one run never ends another. */
  #cancel(id: Id | null, { runId, taskId }: Record<string, unknown>): void {
    const running = this.#params;
    if (running === undefined || running.runId !== runId || running.taskId !== taskId)
      return this.#fail(id, { code: isolateErrors.noGuest, message: "no such run is here" });
    this.#answer(id, { cancelled: true });
    if (this.#runId !== undefined) {
      this.#fail(this.#runId, { code: isolateErrors.cancelled, message: "the run was cancelled" });
    }
    this.#desk = undefined;
    this.#exitWhenWritten();
  }

  #params: GuestRunParams | undefined;

  #wireOf(id: Id, params: GuestRunParams): GuestWire {
    this.#params = params;
    const token = params.sessionToken;
    const now = (text: string): void => {
      for (let bytes = encoder.encode(text); bytes.length > 0;) bytes = bytes.subarray(this.#engine.writeNow(bytes));
    };
    const toolCall = (callId: number, call: ToolCallParams): string =>
      writeMessage({ kind: "request", id: callId, method: "tool.call", params: { ...call }, token });
    return {
      toolCall: (callId, call) => this.#send(toolCall(callId, call)),
      idle: (state) =>
        this.#send(writeMessage({ kind: "notification", method: "guest.idle", params: { ...state }, token })),
      ended: (result) => this.#send(writeMessage({ kind: "result", id, result, token })),
      outputNow: (stream, text) =>
        now(writeMessage({ kind: "notification", method: "guest.output", params: { stream, text }, token })),
      endedNow: (calls, result) => {
        for (const call of calls) now(toolCall(call.id, call.params));
        now(writeMessage({ kind: "result", id, result, token }));
        return this.#engine.exit(0);
      },
    };
  }

  /** Once for all that came in one chunk, and outside of a microtask: only then can the guest's microtasks be run to their end. */
  #advanceSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#engine.nextTick(() => {
      this.#isDue = false;
      this.#desk?.advance();
    });
  }

  #answer(id: Id | null, result: unknown): void {
    if (id !== null) this.#send(writeMessage({ kind: "result", id, result, token: this.#token }));
  }

  #fail(id: Id | null, error: IsolateErrorBody): void {
    this.#send(writeMessage({ kind: "error", id, error, token: this.#token }));
  }

  get #token(): string {
    return this.#sessionToken ?? this.#start.token;
  }

  #send(line: string): void {
    this.#outgoing.push(line);
    // What one turn says leaves in one write: waking the host costs more than the bytes.
    if (this.#outgoing.length === 1) queueMicrotask(() => void this.#flush());
  }

  #exitWhenWritten(): void {
    void this.#flush().finally(() => {
      if (!this.#isWriting) this.#engine.exit(0);
    });
    this.#exitsAfterWrite = true;
  }

  #exitsAfterWrite = false;

  /** A client that does not read holds up its own guest only: what is not written waits here, and the guest waits for answers. */
  async #flush(): Promise<void> {
    const client = this.#client;
    if (this.#isWriting || client === undefined) return;
    this.#isWriting = true;
    try {
      while (this.#outgoing.length > 0) {
        let bytes = encoder.encode(this.#outgoing.splice(0).join(""));
        while (bytes.length > 0) bytes = bytes.subarray(await client.write(bytes));
      }
    } finally {
      this.#isWriting = false;
    }
    if (this.#exitsAfterWrite) this.#engine.exit(0);
  }
}
