/**
 * The log of one task: the calls its code made and the outcomes it was given, in order. Earlier runs wrote the first part
 * of it; this run replays that part and then adds to it.
 *
 * One log, in order: an entry is never written before those that came earlier. Callers say how soon an entry must be on
 * disk: `flush` waits for it (before an unsafe call is sent), everything else follows within a moment.
 * After a failed write the journal is dead: nothing more may be sent, and the task goes on from what is on disk.
 */
import type { Host } from "../ports/host.ts";
import type { Delivery } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { Fence, NewInteraction, ProgressEntry } from "../store/progress.ts";
import type { CallRow, Row } from "../store/tables.ts";
import type { ToolOutcome } from "../tools/tool.ts";

export interface JournalCall {
  callId: string;
  ordinal: number;
  callKey: string;
  toolPath: string;
  inputDigest: string;
  /** "sent" when an earlier run sent it, or it waits for an answer in the middle: this run's other calls always get an outcome. */
  state: "new" | "sent" | "done";
  /** The code of the error it ended with. */
  errorCode: string | null;
}

/** Delays until entries are written that nobody waits for. An unsafe outcome is worth more: losing it asks a person. */
const SOON_MS = 2;
const LATER_MS = 25;
/** No batch outgrows a transaction (Convex: 16 MiB and 4,096 ranges read). Past these, entries are written at once. */
const MAX_PENDING_LENGTH = 2_000_000;
const MAX_ENTRIES = 800;

export class Journal {
  readonly #store: Pick<Store, "recordProgress">;
  readonly #host: Host;
  readonly #fence: Fence;
  readonly #onFailure: (error: unknown) => void;
  readonly #calls: JournalCall[] = [];
  readonly #log: { delivery: Delivery; runMs: number }[] = [];
  #length = 0;
  #seen = 0;
  #seenWritten = 0;
  #pending: ProgressEntry[] = [];
  #pendingLength = 0;
  #writing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;
  #failure: unknown = null;
  #isOver = false;

  constructor(deps: {
    store: Pick<Store, "recordProgress">;
    host: Host;
    fence: Fence;
    onFailure(error: unknown): void;
  }) {
    this.#store = deps.store;
    this.#host = deps.host;
    this.#fence = deps.fence;
    this.#onFailure = deps.onFailure;
  }

  /** Takes in what earlier runs wrote. `seen`: how many deliveries a guest was given. */
  load(calls: readonly Omit<CallRow, "inputJson">[], timers: readonly Row<"timers">[], seen: number): void {
    this.#seen = this.#seenWritten = seen;
    const log: { seq: number; delivery: Delivery; runMs: number }[] = [];
    for (const row of calls) {
      const state = row.outcomeKind !== null ? "done" : row.sends > 0 ? "sent" : "new";
      const outcome = row.outcomeJson === null ? null : outcomeOf(row.outcomeKind, row.outcomeJson);
      const { callId, ordinal, callKey, toolPath, inputDigest } = row;
      this.#length += row.outcomeJson?.length ?? 0;
      this.#calls.push({
        callId,
        ordinal,
        callKey,
        toolPath,
        inputDigest,
        state,
        errorCode: outcome && !outcome.ok ? outcome.code : null,
      });
      if (row.deliverySeq !== null && outcome)
        log.push({
          seq: row.deliverySeq,
          delivery: deliveryOf(row, outcome, row.deliveredAtMs ?? 0),
          runMs: row.deliveredRunMs ?? 0,
        });
    }
    for (const row of timers)
      log.push({
        seq: row.deliverySeq,
        delivery: { kind: "timer", id: row.timerId, atMs: row.deliveredAtMs },
        runMs: row.deliveredRunMs,
      });
    for (const { delivery, runMs } of log.toSorted((a, b) => a.seq - b.seq)) this.#log.push({ delivery, runMs });
  }

  /** What inputs and outcomes of all calls come to. It stays in memory while the task runs, so it must be bounded. */
  get length(): number {
    return this.#length;
  }

  get deliveryCount(): number {
    return this.#log.length;
  }

  /** Up to here a replay must do exactly what was done before; outcomes beyond were never given to a guest. */
  get seenDeliveries(): number {
    return this.#seen;
  }

  /** A guest was given so many deliveries, and every call it made since is requested. */
  sawDeliveries(count: number): void {
    this.#seen = Math.max(this.#seen, count);
  }

  get callCount(): number {
    return this.#calls.length;
  }

  call(ordinal: number): JournalCall | undefined {
    return this.#calls[ordinal];
  }

  deliveriesFrom(index: number): Delivery[] {
    return this.#log.slice(index).map(({ delivery }) => delivery);
  }

  /** The run clock when the n-th delivery was given; 0 before the first. */
  runMsAfter(count: number): number {
    return count === 0 ? 0 : (this.#log[count - 1]?.runMs ?? 0);
  }

  request(call: { callKey: string; toolPath: string; inputJson: string; inputDigest: string }): JournalCall {
    const entry: JournalCall = {
      callId: this.#host.newId("call"),
      ordinal: this.#calls.length,
      callKey: call.callKey,
      toolPath: call.toolPath,
      inputDigest: call.inputDigest,
      state: "new",
      errorCode: null,
    };
    this.#calls.push(entry);
    this.#add({ kind: "call", callId: entry.callId, ordinal: entry.ordinal, at: this.#host.now(), ...call }, LATER_MS);
    return entry;
  }

  sent(call: JournalCall, approvalId: string | null): void {
    this.#add({ kind: "sent", callId: call.callId, at: this.#host.now(), approvalId }, LATER_MS);
  }

  answered(call: JournalCall): void {
    this.#add({ kind: "answered", callId: call.callId, at: this.#host.now() }, LATER_MS);
  }

  /** `deliver` false: the guest is over and will not see it. */
  done(
    call: JournalCall,
    outcome: ToolOutcome,
    about: { denied: boolean; why: string; runMs: number; deliver: boolean; urgent: boolean },
  ): void {
    const atMs = this.#nextAtMs();
    const deliverySeq = about.deliver ? this.#log.length : null;
    call.state = "done";
    call.errorCode = outcome.ok ? null : outcome.code;
    if (about.deliver) this.#log.push({ delivery: deliveryOf(call, outcome, atMs), runMs: about.runMs });
    this.#add(
      {
        kind: "done",
        callId: call.callId,
        at: atMs,
        status: outcome.ok ? "completed" : about.denied ? "denied" : "failed",
        outcomeKind: outcome.ok ? "result" : "error",
        outcomeJson: outcome.ok ? outcome.json : errorJson(outcome),
        why: about.why,
        deliverySeq,
        deliveredAtMs: atMs,
        deliveredRunMs: about.runMs,
      },
      about.urgent ? SOON_MS : LATER_MS,
    );
  }

  fireTimer(timerId: number, runMs: number): void {
    const atMs = this.#nextAtMs();
    const deliverySeq = this.#log.length;
    this.#log.push({ delivery: { kind: "timer", id: timerId, atMs }, runMs });
    this.#add({ kind: "timer", timerId, deliverySeq, deliveredAtMs: atMs, deliveredRunMs: runMs }, LATER_MS);
  }

  ask(interaction: NewInteraction): void {
    this.#add({ kind: "ask", interaction }, LATER_MS);
  }

  output(stream: "stdout" | "stderr", text: string): void {
    this.#add({ kind: "output", stream, text, at: this.#host.now() }, LATER_MS);
  }

  /** Resolves once everything added so far is on disk; rejects when it cannot be, and then nothing may be sent. */
  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  /** The verb that ends the run has taken the last entries: nothing that is added now will be written. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The last entries, for the verb that ends the run to write in its own transaction. */
  async takeRest(): Promise<ProgressEntry[]> {
    if (this.#isFull) await this.flush();
    await this.#writing;
    if (this.#failure) throw this.#failure;
    this.#isOver = true;
    return this.#take();
  }

  /** Ends the waiting for a moment to write; what was not written is lost, and a replay makes it again. */
  abandon(): void {
    this.#take();
    this.#failure ??= new Error("the run is over");
  }

  #add(entry: ProgressEntry, withinMs: number): void {
    this.#pending.push(entry);
    const length = lengthOf(entry);
    this.#pendingLength += length;
    this.#length += length;
    if (this.#isFull) this.#flushInBackground();
    else if (withinMs === SOON_MS) this.#schedule(withinMs);
    else if (!this.#cancelTimer) this.#schedule(withinMs);
  }

  get #isFull(): boolean {
    return this.#pendingLength > MAX_PENDING_LENGTH || this.#pending.length > MAX_ENTRIES;
  }

  #schedule(ms: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#host.setTimer(ms, () => this.#flushInBackground());
  }

  #flushInBackground(): void {
    this.flush().catch(this.#onFailure);
  }

  async #write(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const entries = this.#take();
    try {
      for (let from = 0; from < entries.length; from += MAX_ENTRIES) {
        await this.#store.recordProgress({ fence: this.#fence, entries: entries.slice(from, from + MAX_ENTRIES) });
      }
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #take(): ProgressEntry[] {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const entries = this.#pending;
    // Last, behind the calls it vouches for.
    if (this.#seen !== this.#seenWritten && entries.length > 0) entries.push({ kind: "seen", deliveries: this.#seen });
    if (entries.length > 0) this.#seenWritten = this.#seen;
    this.#pending = [];
    this.#pendingLength = 0;
    return entries;
  }

  /** The guest's clock never goes back, whatever the machine's does. */
  #nextAtMs(): number {
    return Math.max(this.#host.now(), this.#log.at(-1)?.delivery.atMs ?? 0);
  }
}

function deliveryOf(call: { ordinal: number; toolPath: string }, outcome: ToolOutcome, atMs: number): Delivery {
  if (outcome.ok) return { kind: "result", id: call.ordinal, json: outcome.json, atMs };
  const { ok: _, ...error } = outcome;
  return { kind: "error", id: call.ordinal, error: { ...error, toolPath: call.toolPath }, atMs };
}

const errorJson = ({ ok: _, ...error }: Extract<ToolOutcome, { ok: false }>): string => JSON.stringify(error);

function outcomeOf(kind: string | null, json: string): ToolOutcome {
  return kind === "error"
    ? { ok: false, ...(JSON.parse(json) as Omit<Extract<ToolOutcome, { ok: false }>, "ok">) }
    : { ok: true, json };
}

function lengthOf(entry: ProgressEntry): number {
  switch (entry.kind) {
    case "output":
      return entry.text.length + 100;
    case "call":
      return entry.inputJson.length + 300;
    case "done":
      return entry.outcomeJson.length + 300;
    case "ask":
      return entry.interaction.inputJson.length + 500;
    default:
      return 100;
  }
}
