/**
 * Puts a guest's messages together into turns. The isolate is the untrusted side: everything is checked field by field and counted
 * against the limits again; what does not fit throws, and then the isolate can no longer be believed.
 */
import type { GuestIdle, GuestRunEnd, GuestRunResult, IsolateMessage } from "@executor/contracts/isolate-rpc";
import type { CallRefusal, GuestEnd, GuestLimits, Turn } from "@executor/core/ports/runtime";
import { lineIn } from "../in-process/turn-codec.ts";
import type { Verdict } from "./guest-meter.ts";

type Fields = Record<string, unknown>;

const maxPathChars = 1_000;
/** Notices of the isolate's own beside what the guest printed. */
const outputSlackBytes = 100_000;
const maxMessageChars = 20_000;
const stopCodes = /^task\.[a-z_]{1,40}$/;
const refusals: readonly unknown[] = ["call.input_too_large", "call.input_invalid", "tool.not_found"];

export class TurnCollector {
  readonly #limits: GuestLimits;
  #turn: Turn = emptyTurn();
  /** Over the life of the guest. */
  #sent = 0;
  #sentBefore = 0;
  #calls = 0;
  #outputs = 0;
  #outputBytes = 0;
  /** The state that is complete once all output has arrived: it travels on another pipe. */
  #rested: { idle: GuestIdle; end?: GuestEnd } | undefined;

  constructor(limits: GuestLimits) {
    this.#limits = limits;
  }

  /** A new turn begins, with so many deliveries. */
  expect(deliveries: number): void {
    this.#sentBefore = this.#sent;
    this.#sent += deliveries;
    this.#turn = emptyTurn();
    this.#rested = undefined;
  }

  /** The turn, once it is whole. */
  take(message: IsolateMessage, runId: string): Turn | undefined {
    if (message.kind === "request" && message.method === "tool.call") this.#takeCall(message.id, message.params);
    else if (message.kind === "notification" && message.method === "guest.output") this.#takeOutput(message.params);
    else if (message.kind === "notification" && message.method === "guest.idle")
      this.#takeIdle(readIdle(message.params));
    else if (message.kind === "result" && message.id === runId) this.#takeResult(message.result as Fields);
    else throw new Error("a message of an unknown kind");
    return this.#whole();
  }

  /** The turn as far as it got before its process was ended. */
  stopped({ code, message }: Verdict, cpuMs: number): Turn {
    return { ...this.#turn, cpuMs, end: { kind: "stopped", code, message } };
  }

  #whole(): Turn | undefined {
    const rested = this.#rested;
    if (rested === undefined || rested.idle.outputs > this.#outputs) return undefined;
    this.#turn.cpuMs = rested.idle.cpuMs;
    if (rested.end !== undefined) this.#turn.end = rested.end;
    return this.#turn;
  }

  #takeCall(id: unknown, { path, inputJson, after, line, idle }: Fields): void {
    if (id !== this.#calls || this.#calls >= this.#limits.calls) throw new Error("a call with a wrong id");
    const input = text(inputJson, this.#limits.callInputBytes);
    this.#calls += 1;
    this.#turn.calls.push({
      id,
      path: text(path, maxPathChars),
      inputJson: input,
      after: this.#after(after),
      ...lineIn(line),
    });
    if (idle !== undefined) this.#takeIdle(readIdle((idle ?? {}) as Fields));
  }

  #takeOutput({ stream, text: line }: Fields): void {
    const printed = text(line, this.#limits.outputBytes + outputSlackBytes);
    this.#outputs += 1;
    this.#outputBytes += printed.length;
    if (this.#outputBytes > this.#limits.outputBytes + outputSlackBytes) throw new Error("more output than its limit");
    this.#turn.output.push({ stream: stream === "stdout" ? "stdout" : "stderr", text: printed });
  }

  #takeIdle(idle: GuestIdle, end?: GuestEnd): void {
    for (const [id, delayMs, after] of idle.timers) this.#turn.timers.push({ id, delayMs, after: this.#after(after) });
    for (const id of idle.cleared) this.#turn.clearedTimers.push(id);
    if (idle.calls !== this.#calls) throw new Error("another number of calls than it made");
    if (end !== undefined || idle.applied === this.#sent) this.#rested = { idle, ...(end !== undefined && { end }) };
  }

  #takeResult(result: Fields): void {
    const end = readEnd(result["end"], this.#limits);
    this.#takeIdle(readIdle(result), end);
  }

  #after(after: unknown): number {
    const count = whole(after);
    if (count < this.#sentBefore || count > this.#sent) throw new Error("it answered to what was not delivered");
    return count - this.#sentBefore;
  }
}

function readIdle(fields: Fields): GuestIdle {
  const { applied, outputs, calls, timers, cleared, cpuMs } = fields as Partial<Record<keyof GuestRunResult, unknown>>;
  if (!Array.isArray(timers) || !Array.isArray(cleared)) throw new Error("timers must be lists");
  return {
    applied: whole(applied),
    outputs: whole(outputs),
    calls: whole(calls),
    timers: timers.map((timer: unknown[]) => [whole(timer[0]), positive(timer[1]), whole(timer[2])]),
    cleared: cleared.map(whole),
    cpuMs: positive(cpuMs),
  };
}

function readEnd(value: unknown, limits: GuestLimits): GuestEnd {
  const end = value as Partial<Record<string, unknown>> & { kind?: GuestRunEnd["kind"] };
  switch (end?.kind) {
    case "returned":
      return { kind: "returned", resultJson: text(end["resultJson"], limits.resultBytes) };
    case "stopped": {
      const code = text(end["code"], 50);
      if (!stopCodes.test(code)) throw new Error("an unknown reason to stop");
      return { kind: "stopped", code: code as Verdict["code"], message: text(end["message"], maxMessageChars) };
    }
    case "threw": {
      const { line, callId, code } = end;
      return {
        kind: "threw",
        name: text(end["name"], maxMessageChars),
        message: text(end["message"], maxMessageChars),
        ...(line !== undefined && { line: whole(line) }),
        ...(callId !== undefined && { callId: whole(callId) }),
        ...(refusals.includes(code) && { code: code as CallRefusal }),
      };
    }
    default:
      throw new Error("an end of an unknown kind");
  }
}

function emptyTurn(): Turn {
  return { calls: [], timers: [], clearedTimers: [], output: [], cpuMs: 0 };
}

function text(value: unknown, maxBytes: number): string {
  if (typeof value !== "string") throw new Error("a text is missing");
  if (value.length > maxBytes || (value.length * 3 > maxBytes && Buffer.byteLength(value) > maxBytes))
    throw new Error("a text is over its limit");
  return value;
}

function whole(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error("a count is no whole number");
  return value as number;
}

function positive(value: unknown): number {
  if (typeof value !== "number" || !(value >= 0) || !Number.isFinite(value)) throw new Error("a time is no number");
  return value;
}
