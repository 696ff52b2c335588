/**
 * Drives one guest from its start to the point where this run is over: the code ended, only people can move it on, or it
 * was stopped. Replay and live are the same loop: deliver what the log holds beyond what the guest has seen.
 *
 *   replaying   the guest has not yet seen all that guests before it were given; its calls are held, nothing is performed,
 *               the run clock stands still. A call that is not in the journal here means the code diverged.
 *   live        held and new calls go to the gate; the run clock and the guest's timers run.
 *   quiet       nothing is under way. Someone is awaited: the run pauses (timers freeze). Only timers: it waits for the
 *               next. Neither: the code can never settle.
 */
import type { Delivery, GuestEnd, GuestSession, Turn } from "../ports/runtime.ts";
import type { Host } from "../ports/host.ts";
import type { CallDesk } from "../calls/call-desk.ts";
import { CallKeys, canonicalJson } from "../calls/call-key.ts";
import type { Journal } from "../calls/journal.ts";
import { GuestTimers } from "./guest-timers.ts";
import type { RunClock } from "./run-clock.ts";

export type DriveEnd =
  | { kind: "ended"; end: GuestEnd }
  | { kind: "paused"; waitingFor: string[] }
  | { kind: "stuck" }
  | { kind: "overfull" }
  | { kind: "refused"; message: string }
  | { kind: "diverged"; message: string };

export interface DriveDeps {
  session: GuestSession;
  journal: Journal;
  desk: CallDesk;
  clock: RunClock;
  host: Host;
  maxJournalBytes: number;
  /** Output lines that are stored already; a replay prints them again. */
  output: OutputGate;
  /** Resolves at the next move of the desk or when the run is stopped. */
  nextMove(): Promise<void>;
  isStopped(): boolean;
}

/** Lets each line of output through once, however often the code is replayed. */
export class OutputGate {
  #stored: number;
  #seen = 0;

  constructor(stored: number) {
    this.#stored = stored;
  }

  rewind(): void {
    this.#seen = 0;
  }

  isNew(): boolean {
    this.#seen++;
    if (this.#seen <= this.#stored) return false;
    this.#stored = this.#seen;
    return true;
  }
}

export async function driveGuest(deps: DriveDeps): Promise<DriveEnd> {
  const { session, journal, desk, clock } = deps;
  const guest: GuestView = {
    keys: new CallKeys(),
    timers: new GuestTimers(),
    made: 0,
    seen: 0,
    replayUntil: journal.seenDeliveries,
    knownCalls: journal.callCount,
  };
  desk.forget();
  deps.output.rewind();
  if (guest.replayUntil === 0) clock.start();

  for (;;) {
    const deliveries = journal.deliveriesFrom(guest.seen);
    const turn = await session.advance(deliveries);
    const diverged = takeTurn(deps, guest, turn, deliveries);
    if (diverged) return { kind: "diverged", message: diverged };
    journal.sawDeliveries(guest.seen);
    if (turn.end) return { kind: "ended", end: turn.end };
    if (journal.length > deps.maxJournalBytes) return { kind: "overfull" };
    if (guest.seen < journal.deliveryCount) continue;

    if (guest.made < guest.knownCalls)
      return {
        kind: "diverged",
        message: `The code made ${guest.made} calls where it had made ${guest.knownCalls} before.`,
      };
    clock.start();
    await desk.gateHeld();
    const quiet = await waitForMove(deps, guest);
    if (quiet) return quiet;
  }
}

/** What the host knows of the guest in this session. */
interface GuestView {
  keys: CallKeys;
  timers: GuestTimers;
  made: number;
  /** Deliveries it was given. */
  seen: number;
  /** Deliveries that a guest before this one was given, and calls that were logged. */
  replayUntil: number;
  knownCalls: number;
}

/** Takes in what came out of one turn. Answers with how the code diverged, if it did. */
function takeTurn(deps: DriveDeps, guest: GuestView, turn: Turn, deliveries: readonly Delivery[]): string | null {
  const before = guest.seen;
  guest.seen += deliveries.length;
  for (const line of turn.output) if (deps.output.isNew()) deps.journal.output(line.stream, line.text);
  for (const call of turn.calls) {
    const diverged = takeCall(deps, guest, call, before + call.after);
    if (diverged) return diverged;
  }
  // On the run clock as it stood at the delivery after which it was set: a replayed timer keeps what it had left.
  for (const timer of turn.timers)
    guest.timers.set(timer.id, deps.journal.runMsAfter(before + timer.after) + timer.delayMs);
  for (const id of turn.clearedTimers) guest.timers.clear(id);
  for (const delivery of deliveries) if (delivery.kind === "timer") guest.timers.clear(delivery.id);
  return null;
}

function takeCall(
  deps: DriveDeps,
  guest: GuestView,
  made: { path: string; inputJson: string; line?: number },
  seen: number,
): string | null {
  const { journal, host, desk } = deps;
  const ordinal = guest.made++;
  const { input, canonical } = readInput(made.inputJson);
  const inputDigest = host.sha256(canonical);
  const callKey = guest.keys.next(made.path, inputDigest);
  const known = journal.call(ordinal);
  if (known && known.callKey !== callKey)
    return `Call ${ordinal + 1} was ${known.toolPath} before and is now ${made.path}${known.toolPath === made.path ? " with another input" : ""}.`;
  if (!known && seen < guest.replayUntil) return `Call ${ordinal + 1}, ${made.path}, was not made before.`;
  const call = known ?? journal.request({ callKey, toolPath: made.path, inputJson: made.inputJson, inputDigest });
  if (input === tooDeep) desk.refuse(call, "call.input_invalid", "The input of the call is nested too deeply.");
  else if (call.state !== "done")
    desk.hold({ call, input, inputJson: made.inputJson, ...(made.line !== undefined && { line: made.line }) });
  return null;
}

const tooDeep = Symbol("nested too deeply");

function readInput(inputJson: string): { input: unknown; canonical: string } {
  try {
    const input: unknown = JSON.parse(inputJson);
    return { input, canonical: canonicalJson(input) };
  } catch {
    return { input: tooDeep, canonical: inputJson };
  }
}

/** Waits until there is something to deliver; answers with the run's end when nothing can move any more. */
async function waitForMove(deps: DriveDeps, guest: GuestView): Promise<DriveEnd | null> {
  const { journal, desk, clock, host } = deps;
  while (journal.deliveryCount === guest.seen && !deps.isStopped()) {
    const dueMs = guest.timers.nextDueMs();
    if (!desk.isBusy) {
      if (desk.waitingFor.length > 0) return { kind: "paused", waitingFor: desk.waitingFor };
      if (dueMs === null) return { kind: "stuck" };
    }
    const nowMs = clock.nowMs();
    const leftMs = dueMs === null ? null : dueMs - nowMs;
    if (leftMs !== null && leftMs <= 0) {
      for (const id of guest.timers.takeDue(nowMs)) journal.fireTimer(id, nowMs);
      return null;
    }
    await moveWithin(deps, host, leftMs);
  }
  return null;
}

async function moveWithin(deps: DriveDeps, host: Host, ms: number | null): Promise<void> {
  const move = deps.nextMove();
  if (ms === null) return await move;
  let cancel = (): void => undefined;
  const due = new Promise<void>((resolve) => (cancel = host.setTimer(Math.max(1, Math.ceil(ms)), resolve)));
  await Promise.race([move, due]);
  cancel();
}
