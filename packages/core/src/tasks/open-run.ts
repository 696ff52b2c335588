/** All that one run needs, put together: journal, desk, clocks, and the switch that stops it. */
import type { Limits } from "@executor/contracts/limits";
import { CallDesk } from "../calls/call-desk.ts";
import { CodeLines } from "../calls/code-lines.ts";
import { Journal } from "../calls/journal.ts";
import type { Host } from "../ports/host.ts";
import type { Runtime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { ToolProvider } from "../ports/tools.ts";
import type { Fence } from "../store/progress.ts";
import type { PolicyRow, TaskRow } from "../store/tables.ts";
import type { Claim } from "../store/verbs/claim-task.ts";
import type { JournalPage } from "../store/verbs/reads.ts";
import { openToolCatalog } from "../tools/builtin-tools.ts";
import { OutputGate } from "./drive-guest.ts";
import { RunClock } from "./run-clock.ts";
import { StopSwitch } from "./stop-switch.ts";

export interface RunDeps {
  store: Store;
  runtime: Runtime;
  providers: readonly ToolProvider[];
  host: Host;
  limits: Limits;
  /** Tells the line of the submitted code from a line of the script, for errors and for what is asked. */
  mapLine(code: string, script: string, line: number): number | undefined;
}

export interface Run {
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

export async function openRun(deps: RunDeps, claim: Claim, workerId: string, signal: AbortSignal): Promise<Run> {
  const { store, host, limits } = deps;
  const { task } = claim;
  const fence: Fence = { taskId: task.taskId, workspaceId: task.workspaceId, workerId, attempt: task.attempt };
  const moves = createMoves();
  const stop = new StopSwitch(signal, moves.wake);
  const journal = new Journal({ store, host, fence, onFailure: (error) => stop.fail(error) });
  if (task.callCount > 0 || task.attempt > 1) await loadJournal(store, task, journal);
  const clock = new RunClock(host, Math.max(task.runMs, journal.runMsAfter(journal.deliveryCount)));
  let policies: readonly PolicyRow[] = claim.policies;
  const catalog = await openToolCatalog(deps.providers, task, () => policies);
  const late: Promise<void>[] = [];
  const desk = new CallDesk({
    task,
    journal,
    catalog,
    limits,
    host,
    interactions: [...claim.interactions],
    lines: new CodeLines((line) => deps.mapLine(task.code, task.script, line)),
    runMs: () => clock.nowMs(),
    // Not those of the claim: a rule written since then counts.
    readPolicies: async () => (policies = await store.listPolicies({ workspaceId: task.workspaceId })),
    onMove: moves.wake,
    onFailure: (error) => stop.fail(error),
    onLate: (call, outcome) => {
      // A run that is out of time is still to be settled, and takes it along.
      if (stop.reason === "time" && !journal.isOver) {
        journal.done(call, outcome, {
          denied: false,
          why: "came after the time limit",
          runMs: clock.nowMs(),
          deliver: false,
          urgent: false,
        });
        return;
      }
      const [outcomeKind, outcomeJson] = outcome.ok
        ? (["result", outcome.json] as const)
        : (["error", JSON.stringify({ code: outcome.code, message: outcome.message })] as const);
      late.push(
        store
          .recordLateOutcome({ taskId: task.taskId, callId: call.callId, outcomeKind, outcomeJson, now: host.now() })
          .catch(() => undefined),
      );
    },
    signal: stop.signal,
    isStopped: () => stop.isStopped,
  });
  const close = (): void => {
    journal.abandon();
    stop.close();
  };
  return {
    deps,
    task,
    fence,
    journal,
    desk,
    clock,
    output: new OutputGate(task.outputLines),
    stop,
    nextMove: moves.next,
    late,
    close,
  };
}

async function loadJournal(store: Store, { taskId, seenDeliveries }: TaskRow, journal: Journal): Promise<void> {
  const calls = [];
  const timers = [];
  for (let from: JournalPage["next"] = { afterOrdinal: -1, afterTimer: -1 }; from !== null;) {
    const page: JournalPage = await store.readJournal({ taskId, ...from, limit: 1_000 });
    calls.push(...page.calls);
    timers.push(...page.timers);
    from = page.next;
  }
  journal.load(calls, timers, seenDeliveries);
}

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
