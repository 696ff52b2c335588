/**
 * The spine: one run of one claimed task, from its journal to what became of it.
 * Expected ends are values; what it throws means that nothing more was written, and the task goes on from its journal.
 */
import type { ErrorCode } from "@executor/contracts/error";
import type { Limits } from "@executor/contracts/limits";
import type { TaskStatus } from "@executor/contracts/task";
import { CallDesk } from "../calls/call-desk.ts";
import { denialCodes } from "../calls/gate-call.ts";
import { Journal } from "../calls/journal.ts";
import type { Host } from "../ports/host.ts";
import { GuestLost, type GuestEnd, type GuestProgram, type Runtime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { ToolProvider } from "../ports/tools.ts";
import type { Fence } from "../store/progress.ts";
import type { PolicyRow, TaskRow } from "../store/tables.ts";
import type { Claim } from "../store/verbs/claim-task.ts";
import type { JournalPage } from "../store/verbs/reads.ts";
import type { TaskEnd } from "../store/verbs/end-task.ts";
import { openToolCatalog } from "../tools/builtin-tools.ts";
import { driveGuest, OutputGate, type DriveEnd } from "./drive-guest.ts";
import { RunClock } from "./run-clock.ts";

export interface RunDeps {
  store: Store;
  runtime: Runtime;
  providers: readonly ToolProvider[];
  host: Host;
  limits: Limits;
  /** Tells the line of the submitted code from a line of the script, for errors. */
  mapLine(code: string, script: string, line: number): number | undefined;
}

export type RunEnd = { kind: "settled"; status: TaskStatus } | { kind: "paused"; status: TaskStatus } | { kind: "stopped" };

/** An engine may be lost through a neighbour's fault; this often without getting any further is no coincidence. */
const MAX_LOST_GUESTS = 20;
/** What calls under way get to end after the run was stopped. */
const STOP_GRACE_MS = 1_000;
const DRAIN_GRACE_MS = 8_000;

/** Abort reason for a worker that must go: calls under way may end and are journaled; the task goes on elsewhere. */
export const DRAIN = "drain";

/** `signal` stops the run without settling it: the lease is lost, the task was cancelled, or the worker must go. */
export async function runTask(deps: RunDeps, claim: Claim, workerId: string, signal: AbortSignal): Promise<RunEnd> {
  const run = await openRun(deps, claim, workerId, signal);
  try {
    const driven = await driveToEnd(run);
    run.clock.stop();
    if (driven.kind === "stopped") return driven;
    if (driven.kind === "paused") return await pause(run, driven.waitingFor);
    return await settle(run, driven.end);
  } finally {
    run.close();
  }
}

interface Run {
  deps: RunDeps;
  task: TaskRow;
  fence: Fence;
  journal: Journal;
  desk: CallDesk;
  clock: RunClock;
  output: OutputGate;
  stop: StopSwitch;
  nextMove(): Promise<void>;
  /** Writes of outcomes that came too late. */
  late: Promise<void>[];
  close(): void;
}

async function openRun(deps: RunDeps, claim: Claim, workerId: string, signal: AbortSignal): Promise<Run> {
  const { store, host, limits } = deps;
  const { task } = claim;
  const fence: Fence = { taskId: task.taskId, workspaceId: task.workspaceId, workerId, attempt: task.attempt };
  const moves = createMoves();
  const stop = new StopSwitch(signal, moves.wake);
  const journal = new Journal({ store, host, fence, onFailure: (error) => stop.fail(error) });
  if (task.callCount > 0 || task.attempt > 1) await loadJournal(store, task.taskId, journal);
  const clock = new RunClock(host, Math.max(task.runMs, journal.runMsAfter(journal.deliveryCount)));
  let policies: readonly PolicyRow[] = claim.policies;
  const catalog = await openToolCatalog(deps.providers, task, () => policies);
  let isFirstRead = true;
  const late: Promise<void>[] = [];
  const desk = new CallDesk({
    task,
    journal,
    catalog,
    limits,
    host,
    interactions: [...claim.interactions],
    runMs: () => clock.nowMs(),
    readPolicies: async () => {
      if (!isFirstRead) policies = await store.listPolicies({ workspaceId: task.workspaceId });
      isFirstRead = false;
      return policies;
    },
    onMove: moves.wake,
    onFailure: (error) => stop.fail(error),
    onLate: (call, outcome) => {
      const [outcomeKind, outcomeJson] = outcome.ok ? (["result", outcome.json] as const) : (["error", JSON.stringify({ code: outcome.code, message: outcome.message })] as const);
      late.push(store.recordLateOutcome({ taskId: task.taskId, callId: call.callId, outcomeKind, outcomeJson, now: host.now() }).catch(() => undefined));
    },
    signal: stop.signal,
  });
  const close = (): void => {
    journal.abandon();
    stop.close();
  };
  return { deps, task, fence, journal, desk, clock, output: new OutputGate(task.outputLines), stop, nextMove: moves.next, late, close };
}

type Driven = { kind: "stopped" } | { kind: "paused"; waitingFor: string[] } | { kind: "ended"; end: TaskEnd };

/** Drives guests until one gets to an end; a lost one is replayed in a new session, with all its calls answered. */
async function driveToEnd(run: Run): Promise<Driven> {
  const { deps, task, desk, clock, stop } = run;
  if (task.preludeVersion !== deps.runtime.preludeVersion && run.journal.callCount > 0) {
    return failed("task.diverged", `The task began on prelude ${task.preludeVersion} and this worker has ${deps.runtime.preludeVersion}. Submit it again, or finish it with the version it began on.`);
  }
  const leftMs = (): number => task.timeoutMs - clock.nowMs();
  for (let lost = 0, reached = -1; ; lost++) {
    const session = await deps.runtime.open(programOf(run));
    const closeSession = (): void => void session.close();
    stop.onStop(closeSession);
    const cancelDeadline = deps.host.setTimer(Math.max(1, leftMs()), () => stop.timeOut());
    try {
      const end = await driveGuest({ session, journal: run.journal, desk, clock, host: deps.host, maxJournalBytes: deps.limits.journalBytes, output: run.output, nextMove: run.nextMove, isStopped: () => stop.isStopped });
      if (!stop.isStopped) return await finishDrive(run, end);
    } catch (error) {
      if (!(error instanceof GuestLost)) throw error;
    } finally {
      cancelDeadline();
      await session.close();
    }
    if (stop.isStopped) return await endStopped(run);
    const reachedNow = run.journal.callCount + run.journal.deliveryCount;
    if (reachedNow > reached) lost = 0;
    reached = reachedNow;
    if (lost >= MAX_LOST_GUESTS) return failed("task.runtime_lost", `The engine was lost ${lost + 1} times while this task ran. Submit it again.`);
    await desk.settle();
  }
}

async function finishDrive(run: Run, end: DriveEnd): Promise<Driven> {
  switch (end.kind) {
    case "paused":
      return end;
    case "stuck":
      return failed("task.never_settles", "The code awaits a promise that nothing can settle any more: no call and no timer is under way.");
    case "overfull":
      return failed("task.journal_limit", `The inputs and results of the task's calls came to more than ${run.deps.limits.journalBytes} bytes in all. Ask the tools for less, or split the task.`);
    case "diverged":
      return failed("task.diverged", `${end.message} Nothing was sent. Code must do the same each time it is run with the same answers.`);
    case "ended": {
      await Promise.race([run.desk.finish({ startHeld: end.end.kind === "returned" }), run.stop.stopped]);
      return run.stop.isStopped ? await endStopped(run) : { kind: "ended", end: endOf(run, end.end) };
    }
  }
}

async function endStopped(run: Run): Promise<Driven> {
  const { stop, desk, deps, task } = run;
  let cancel = (): void => undefined;
  await Promise.race([desk.settle(), new Promise<void>((resolve) => (cancel = deps.host.setTimer(stop.reason === "drain" ? DRAIN_GRACE_MS : STOP_GRACE_MS, resolve)))]);
  cancel();
  await Promise.all(run.late);
  if (stop.reason === "time") return timedOut(task.timeoutMs);
  if (stop.failure) throw stop.failure;
  if (stop.reason === "drain") await run.journal.flush();
  return { kind: "stopped" };
}

function endOf({ deps, journal, task }: Run, end: GuestEnd): TaskEnd {
  if (end.kind === "returned") return { status: "completed", resultJson: end.resultJson, error: null };
  if (end.kind === "stopped") return { status: "failed", resultJson: null, error: { code: end.code, message: end.message } };
  const call = end.callId === undefined ? undefined : journal.call(end.callId);
  const line = end.line === undefined ? undefined : deps.mapLine(task.code, task.script, end.line);
  const error = { code: call?.errorCode ?? "task.failed", message: call ? end.message : `${end.name}: ${end.message}`, ...(line !== undefined && { line }), ...(call && { toolPath: call.toolPath }) };
  return { status: denialCodes.has(error.code) ? "denied" : "failed", resultJson: null, error };
}

async function pause({ deps, fence, journal, clock }: Run, waitingFor: string[]): Promise<RunEnd> {
  const entries = await journal.takeRest();
  const { status } = await deps.store.pauseTask({ fence, entries, waitingFor, runMs: clock.nowMs(), now: deps.host.now() });
  return { kind: "paused", status };
}

async function settle({ deps, fence, journal, clock }: Run, end: TaskEnd): Promise<RunEnd> {
  const entries = await journal.takeRest();
  await deps.store.settleTask({ fence, entries, end, runMs: clock.nowMs(), now: deps.host.now() });
  return { kind: "settled", status: end.status };
}

function programOf({ deps, task }: Run): GuestProgram {
  const { cpuMs, memoryBytes, outputBytes, calls, callInputBytes, resultBytes } = deps.limits;
  return { taskId: task.taskId, script: task.script, seed: task.seed, startMs: task.startedAt ?? task.createdAt, limits: { cpuMs, memoryBytes, outputBytes, calls, callInputBytes, resultBytes } };
}

async function loadJournal(store: Store, taskId: string, journal: Journal): Promise<void> {
  const calls = [];
  const timers = [];
  for (let from: JournalPage["next"] = { afterOrdinal: -1, afterTimer: -1 }; from !== null; ) {
    const page: JournalPage = await store.readJournal({ taskId, ...from, limit: 1_000 });
    calls.push(...page.calls);
    timers.push(...page.timers);
    from = page.next;
  }
  journal.load(calls, timers);
}

const failed = (code: ErrorCode, message: string): Driven => ({ kind: "ended", end: { status: "failed", resultJson: null, error: { code, message } } });
const timedOut = (timeoutMs: number): Driven => ({
  kind: "ended",
  end: { status: "timed_out", resultJson: null, error: { code: "task.timed_out", message: `The task ran for ${timeoutMs} ms, its limit (waiting for people does not count). Give it a larger timeoutMs, or less to do.` } },
});

/** One promise at a time that resolves at the next move. */
function createMoves(): { next(): Promise<void>; wake(): void } {
  let waiting: { promise: Promise<void>; resolve(): void } | null = null;
  return {
    next: () => (waiting ??= Promise.withResolvers<void>()).promise,
    wake: () => {
      waiting?.resolve();
      waiting = null;
    },
  };
}

/** Why a run must stop, known once; calls under way hear of it through `signal`. */
class StopSwitch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #wake: () => void;
  readonly #stopped = Promise.withResolvers<void>();
  #close: () => void = () => undefined;
  reason: "time" | "drain" | "outside" | "failure" | null = null;
  failure: unknown = null;

  constructor(outer: AbortSignal, wake: () => void) {
    this.#outer = outer;
    this.#wake = wake;
    if (outer.aborted) this.#stopFromOutside();
    else outer.addEventListener("abort", this.#stopFromOutside);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.reason !== null;
  }

  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  onStop(close: () => void): void {
    this.#close = close;
    if (this.isStopped) close();
  }

  timeOut(): void {
    this.#stop("time");
  }

  fail(error: unknown): void {
    this.failure ??= error;
    this.#stop("failure");
  }

  close(): void {
    this.#outer.removeEventListener("abort", this.#stopFromOutside);
  }

  readonly #stopFromOutside = (): void => this.#stop(this.#outer.reason === DRAIN ? "drain" : "outside");

  #stop(reason: "time" | "drain" | "outside" | "failure"): void {
    if (this.isStopped) return;
    this.reason = reason;
    if (reason !== "drain") this.#controller.abort();
    this.#stopped.resolve();
    this.#close();
    this.#wake();
  }
}
