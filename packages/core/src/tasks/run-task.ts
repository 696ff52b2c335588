/**
 * The spine: one run of one claimed task, from its journal to what became of it.
 * Expected ends are values; what it throws means that nothing more was written, and the task goes on from its journal.
 */
import type { TaskStatus } from "@executor/contracts/task";
import { GuestLost, type GuestProgram, type GuestSession, RuntimeRefused } from "../ports/runtime.ts";
import type { Claim } from "../store/verbs/claim-task.ts";
import type { TaskEnd } from "../store/verbs/end-task.ts";
import { driveGuest, type DriveEnd } from "./drive-guest.ts";
import { openRun, type Run, type RunDeps } from "./open-run.ts";
import { endOf, failedBy, timedOut } from "./task-ends.ts";

export type RunEnd =
  | { kind: "settled"; status: TaskStatus }
  | { kind: "paused"; status: TaskStatus }
  | { kind: "stopped" };

/** An engine may be lost through a neighbour's fault; this often without getting any further is no coincidence. */
const MAX_LOST_GUESTS = 20;
/** What calls under way get to end after the run was stopped. */
const STOP_GRACE_MS = 1_000;
const DRAIN_GRACE_MS = 8_000;

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

const ended = (end: TaskEnd): Driven => ({ kind: "ended", end });
type Driven = { kind: "stopped" } | { kind: "paused"; waitingFor: string[] } | { kind: "ended"; end: TaskEnd };

/** Drives guests until one gets to an end; a lost one is replayed in a new session, with all its calls answered. */
async function driveToEnd(run: Run): Promise<Driven> {
  const { deps, task, journal, desk, stop } = run;
  if (task.preludeVersion !== deps.runtime.preludeVersion && journal.callCount > 0) {
    const [began, here] = [task.preludeVersion, deps.runtime.preludeVersion];
    const message = `The task began on prelude ${began} and this worker has ${here}. Submit it again, or finish it with the version it began on.`;
    return ended(failedBy("task.diverged", message));
  }
  for (let lost = 0, reached = -1; lost < MAX_LOST_GUESTS; lost++) {
    const driven = await driveOnce(run);
    if (stop.isStopped) return await endStopped(run);
    if (driven) return await finishDrive(run, driven);
    await desk.settle();
    if (journal.callCount + journal.deliveryCount > reached) lost = 0;
    reached = journal.callCount + journal.deliveryCount;
  }
  return ended(failedBy("task.runtime_lost", "The engine was lost again and again under this task. Submit it again."));
}

/** Null when the engine was lost. */
async function driveOnce(run: Run): Promise<DriveEnd | null> {
  const { deps, journal, desk, clock, output, nextMove, stop } = run;
  const stopped = new AbortController();
  stop.onStop(() => stopped.abort());
  let session: GuestSession;
  try {
    session = await deps.runtime.open(programOf(run), stopped.signal);
  } catch (error) {
    if (error instanceof GuestLost) return null;
    if (error instanceof RuntimeRefused) return { kind: "refused", message: error.message };
    throw error;
  }
  stop.onStop(() => {
    stopped.abort();
    void session.close();
  });
  const cancelDeadline = armDeadline(run);
  const maxJournalBytes = deps.limits.journalBytes;
  const isStopped = (): boolean => stop.isStopped;
  try {
    return await driveGuest({
      session,
      journal,
      desk,
      clock,
      host: deps.host,
      maxJournalBytes,
      output,
      nextMove,
      isStopped,
    });
  } catch (error) {
    if (error instanceof GuestLost) return null;
    throw error;
  } finally {
    cancelDeadline();
    await session.close();
  }
}

/** By the run clock: what replay took does not count, so the timer may have to be set once more. */
function armDeadline({ deps, task, clock, stop }: Run): () => void {
  let cancel = (): void => undefined;
  const arm = (): void => {
    const leftMs = task.timeoutMs - clock.nowMs();
    if (leftMs <= 0) stop.timeOut();
    else cancel = deps.host.setTimer(Math.ceil(leftMs), arm);
  };
  arm();
  return () => cancel();
}

async function finishDrive(run: Run, end: DriveEnd): Promise<Driven> {
  const { desk, stop, deps } = run;
  switch (end.kind) {
    case "paused":
      return end;
    case "stuck":
      return ended(
        failedBy(
          "task.never_settles",
          "The code awaits a promise that nothing can settle any more: no call and no timer is under way.",
        ),
      );
    case "overfull":
      return ended(
        failedBy(
          "task.journal_limit",
          `The inputs and results of the task's calls came to more than ${deps.limits.journalBytes} bytes in all. Ask the tools for less, or split the task.`,
        ),
      );
    case "refused":
      return ended(failedBy("runtime.unavailable", end.message));
    case "diverged":
      return ended(
        failedBy(
          "task.diverged",
          `${end.message} Nothing was sent. Code must do the same each time it is run with the same answers.`,
        ),
      );
    case "ended": {
      const cancelDeadline = armDeadline(run);
      await Promise.race([desk.finish({ startHeld: end.end.kind === "returned" }), stop.stopped]);
      cancelDeadline();
      return stop.isStopped ? await endStopped(run) : ended(endOf(run, end.end));
    }
  }
}

async function endStopped(run: Run): Promise<Driven> {
  const { stop, desk, deps, task } = run;
  let cancel = (): void => undefined;
  const graceMs = stop.reason === "drain" ? DRAIN_GRACE_MS : STOP_GRACE_MS;
  const timeUp = new Promise<void>((resolve) => (cancel = deps.host.setTimer(graceMs, resolve)));
  await Promise.race([desk.settle(), timeUp]);
  cancel();
  await Promise.all(run.late);
  if (stop.reason === "time") return ended(timedOut(task.timeoutMs));
  if (stop.failure) throw stop.failure;
  if (stop.reason === "drain") await run.journal.flush();
  return { kind: "stopped" };
}

async function pause({ deps, fence, journal, clock }: Run, waitingFor: string[]): Promise<RunEnd> {
  const entries = await journal.takeRest();
  const { status } = await deps.store.pauseTask({
    fence,
    entries,
    waitingFor,
    runMs: clock.nowMs(),
    now: deps.host.now(),
  });
  return { kind: "paused", status };
}

async function settle({ deps, fence, journal, clock }: Run, end: TaskEnd): Promise<RunEnd> {
  const entries = await journal.takeRest();
  await deps.store.settleTask({ fence, entries, end, runMs: clock.nowMs(), now: deps.host.now() });
  return { kind: "settled", status: end.status };
}

function programOf({ deps, task, fence }: Run): GuestProgram {
  const { cpuMs, memoryBytes, outputBytes, calls, callInputBytes, resultBytes } = deps.limits;
  return {
    taskId: task.taskId,
    fence,
    script: task.script,
    seed: task.seed,
    startMs: task.startedAt ?? task.createdAt,
    limits: { cpuMs, memoryBytes, outputBytes, calls, callInputBytes, resultBytes },
  };
}
