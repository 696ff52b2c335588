/**
 * The one guest of this process, between its machine and the wire: outcomes in, tool calls and the state after each turn out.
 * What a guest prints leaves at once and for good, on stdout: it is there also when the guest is killed a moment later.
 */
import type {
  GuestIdle,
  GuestRunEnd,
  GuestRunParams,
  GuestRunResult,
  ToolCallParams,
} from "@executor/contracts/isolate-rpc";
import { GuestRun } from "@executor/runtimes/guest/guest-run";
import type { DeliveryKind, TurnParts } from "@executor/runtimes/guest/turn-parts";
import type { Engine } from "./engine.ts";
import { TurnMeter } from "./turn-meter.ts";
import type { V8Machine } from "./v8-machine.ts";

type GuestCall = { id: number; params: ToolCallParams };

export interface GuestWire {
  toolCall(id: number, params: ToolCallParams): void;
  idle(state: GuestIdle): void;
  ended(result: GuestRunResult): void;
  /** Before anything else happens in this process. */
  outputNow(stream: "stdout" | "stderr", text: string): void;
  /** The last thing this process says: the guest cannot be stopped in any other way. */
  endedNow(calls: GuestCall[], result: GuestRunResult): never;
}

export class GuestDesk {
  readonly #engine: Engine;
  readonly #wire: GuestWire;
  readonly #run: GuestRun<unknown, string>;
  readonly #meter: TurnMeter;
  #kinds: [DeliveryKind, number, number][] = [];
  #texts: string[] = [];
  #applied = 0;
  #outputs = 0;
  #calls = 0;
  #over = false;

  constructor(engine: Engine, machine: V8Machine, params: GuestRunParams, wire: GuestWire) {
    this.#engine = engine;
    this.#wire = wire;
    const { script, seed, startMs, limits } = params;
    this.#meter = new TurnMeter(engine);
    this.#run = new GuestRun<unknown, string>({
      start: (host) => machine.bind(host, (error) => this.#stopNow(error)),
      script,
      seed,
      startMs,
      limits,
      readCpuMs: () => this.#meter.read(),
      rejectionsComeLate: true,
      onOutput: (stream, text) => this.#output(stream, text),
    });
  }

  deliver(kind: DeliveryKind, id: number, atMs: number, text?: string): void {
    this.#kinds.push([kind, id, atMs]);
    if (text !== undefined) this.#texts.push(text);
  }

  /** Applies what was delivered and tells what came of it. */
  advance(): void {
    if (this.#over) return;
    const kinds = this.#kinds;
    const texts = this.#texts;
    this.#kinds = [];
    this.#texts = [];
    const before = this.#applied;
    this.#applied += kinds.length;
    this.#meter.enter();
    const turn = this.#run.advance(kinds, texts);
    const calls = this.#callsOf(turn, before);
    const last = calls.at(-1);
    // One message instead of two: the last call says also that the guest rests.
    if (turn.end === undefined && last !== undefined) last.params.idle = this.#idleOf(turn, before);
    for (const { id, params } of calls) this.#wire.toolCall(id, params);
    if (turn.end === undefined) return last === undefined ? this.#wire.idle(this.#idleOf(turn, before)) : undefined;
    this.#over = true;
    // The engine tells of unhandled rejections a moment later.
    this.#engine.setImmediate(() => {
      for (const line of this.#run.takeRejections()) this.#output(2, line);
      this.#wire.ended({ ...this.#idleOf(turn, before), end: endOf(turn) });
    });
  }

  #stopNow(error: unknown): never {
    const turn = this.#run.stopNow(error);
    // Which of the turn's deliveries it got to is not known here, and no longer matters.
    const before = this.#applied;
    return this.#wire.endedNow(this.#callsOf(turn, 0), { ...this.#idleOf(turn, before), end: endOf(turn) });
  }

  #output(stream: 1 | 2, text: string): void {
    this.#outputs += 1;
    this.#wire.outputNow(stream === 1 ? "stdout" : "stderr", text);
  }

  #callsOf(turn: TurnParts<string>, before: number): GuestCall[] {
    this.#calls += turn.calls.length;
    return turn.calls.map(([id, path, after, line], index) => ({
      id,
      params: { path, inputJson: turn.inputs[index] ?? "", after: before + after, line },
    }));
  }

  #idleOf(turn: TurnParts<string>, before: number): GuestIdle {
    return {
      applied: this.#applied,
      outputs: this.#outputs,
      calls: this.#calls,
      timers: turn.timers.map(([id, delayMs, after]) => [id, delayMs, before + after]),
      cleared: turn.cleared,
      cpuMs: turn.cpuMs,
    };
  }
}

function endOf({ end, result }: TurnParts<string>): GuestRunEnd {
  if (end === undefined) throw new Error("the guest is not over");
  return end.kind === "returned" ? { kind: "returned", resultJson: result ?? "null" } : end;
}
