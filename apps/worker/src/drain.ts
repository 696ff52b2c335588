/**
 * The claim loop: while slots are free, look at the queue, choose fairly, claim by id, run. Woken by hints and by the end
 * of a run; a slow poll is the truth. Looking is read-only, so an idle worker never takes the write lock.
 */
import type { Logger } from "@executor/core/log";
import type { Host } from "@executor/core/ports/host";
import type { Store } from "@executor/core/ports/store";
import { type Claim, type QueuedTask, WORKSPACES_PER_PEEK } from "@executor/core/store/verbs/claim-task";
import { chooseTasks, workspaceShare } from "./choose-tasks.ts";
import type { RunningTasks } from "./running-tasks.ts";

export interface DrainDeps {
  store: Pick<Store, "peekQueue" | "claimTask">;
  host: Host;
  log: Logger;
  workerId: string;
  /** What it can run now: some runtimes become usable only later. */
  runtimeIds(): string[];
  concurrency: number;
  leaseMs: number;
  pollMs: number;
  running: RunningTasks;
  run(claim: Claim, signal: AbortSignal): Promise<void>;
}

/** How long a look at the queue counts as new: short enough that a newcomer hardly waits. */
const FRESH_MS = 10;

export class Drain {
  readonly #deps: DrainDeps;
  #cursor = "";
  /** What the last look found and nobody claimed yet. */
  #candidates: QueuedTask[] = [];
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #looking = false;
  #again = false;
  #stopped = false;
  #cancelPoll = (): void => undefined;

  constructor(deps: DrainDeps) {
    this.#deps = deps;
  }

  /** Look now. Calls that come while it looks make it look once more. */
  wake(): void {
    this.#again = true;
    if (this.#looking || this.#stopped) return;
    this.#looking = true;
    void this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelPoll();
  }

  async #look(): Promise<void> {
    this.#cancelPoll();
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false;
        if (await this.#claimSome()) this.#again = true;
      }
    } catch (error) {
      this.#deps.log.warn("worker.claim_failed", { error });
    }
    this.#looking = false;
    if (!this.#stopped) this.#cancelPoll = this.#deps.host.setTimer(this.#deps.pollMs, () => this.wake());
  }

  /** True when it is worth looking again at once. */
  async #claimSome(): Promise<boolean> {
    const { running, concurrency } = this.#deps;
    const freeSlots = concurrency - running.size;
    if (freeSlots <= 0) return false;
    const isOldLook = await this.#refreshCandidates();
    // A task of our own whose lease was lost is not for us until its old run has ended.
    this.#candidates = this.#candidates.filter(({ taskId }) => !running.has(taskId));
    const share = workspaceShare(concurrency);
    const chosen = chooseTasks({ queued: this.#candidates, running: running.countByWorkspace(), freeSlots, share });
    if (chosen.length === 0) {
      // None of those we knew may go; a newcomer may have come since.
      this.#candidates = [];
      return isOldLook;
    }
    this.#candidates = this.#candidates.filter((task) => !chosen.includes(task));
    const claimed = await Promise.all(chosen.map((task) => this.#claim(task)));
    // Others were faster: look anew, but let everything else have its turn first.
    if (!claimed.includes(true)) {
      this.#candidates = [];
      await new Promise<void>((resolve) => this.#deps.host.setTimer(1, resolve));
    }
    return true;
  }

  /** Under load many slots come free one by one: a look serves several of them, for a moment. True when it did again. */
  async #refreshCandidates(): Promise<boolean> {
    const { store, host, runtimeIds } = this.#deps;
    const isFresh = this.#candidates.length > 0 && host.monotonicMs() - this.#lookedAtMs < FRESH_MS;
    if (isFresh) return true;
    this.#candidates = await store.peekQueue({ runtimeIds: runtimeIds(), afterWorkspaceId: this.#cursor });
    // Where the walk was cut off, the next one goes on; else it starts anew. What it found behind the wrap does not count.
    const walked = new Set(this.#candidates.map(({ workspaceId }) => workspaceId).filter((id) => id > this.#cursor));
    this.#cursor = walked.size < WORKSPACES_PER_PEEK ? "" : ([...walked].toSorted().at(-1) ?? "");
    this.#lookedAtMs = host.monotonicMs();
    return false;
  }

  async #claim({ taskId }: QueuedTask): Promise<boolean> {
    const { store, host, workerId, leaseMs } = this.#deps;
    const claim = await store.claimTask({ taskId, workerId, leaseMs, now: host.now() });
    if (claim) this.#start(claim);
    return claim !== null;
  }

  #start(claim: Claim): void {
    const { running, run } = this.#deps;
    const controller = new AbortController();
    const { taskId, workspaceId, attempt } = claim.task;
    const ended = run(claim, controller.signal).finally(() => {
      running.remove(task);
      this.wake();
    });
    const task = { taskId, workspaceId, attempt, controller, ended };
    running.add(task);
  }
}
