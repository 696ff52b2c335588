/** One claim, from start to settle. Every way it can end is dealt with here; nothing is thrown. */
import { AppError } from "@executor/contracts/error";
import type { Logger } from "@executor/core/log";
import type { Runtime } from "@executor/core/ports/runtime";
import type { Claim } from "@executor/core/store/verbs/claim-task";
import type { RunDeps } from "@executor/core/tasks/open-run";
import { runTask } from "@executor/core/tasks/run-task";
import { DRAIN } from "@executor/core/tasks/stop-switch";

export interface RunClaimDeps extends Omit<RunDeps, "runtime"> {
  runtimes: ReadonlyMap<string, Runtime>;
  log: Logger;
  workerId: string;
}

export async function runClaim(deps: RunClaimDeps, claim: Claim, signal: AbortSignal): Promise<void> {
  const { log, workerId, store, host } = deps;
  const { taskId, workspaceId, attempt } = claim.task;
  const fence = { taskId, workspaceId, workerId, attempt };
  const startedMs = host.monotonicMs();
  try {
    const runtime = deps.runtimes.get(claim.task.runtimeId);
    if (!runtime)
      throw new Error(`claimed a task for runtime ${claim.task.runtimeId}, which this worker does not have`);
    const end = await runTask({ ...deps, runtime }, claim, workerId, signal);
    if (end.kind === "stopped" && signal.reason === DRAIN) await store.releaseTask({ fence, now: host.now() });
    log.debug("run.ended", {
      taskId,
      attempt,
      end: end.kind,
      ...("status" in end && { status: end.status }),
      ms: Math.round(host.monotonicMs() - startedMs),
    });
  } catch (error) {
    if (error instanceof AppError && (error.code === "lease.lost" || error.code === "store.unavailable")) {
      log.warn("run.abandoned", { taskId, attempt, code: error.code, detail: error.detail });
      return;
    }
    log.error("run.failed", { taskId, attempt, error });
    const message = "Something went wrong on our side while the task ran; the worker's log says what.";
    const end = { status: "failed", resultJson: null, error: { code: "internal.error", message } } as const;
    await store
      .settleTask({ fence, entries: [], end, runMs: claim.task.runMs, now: host.now() })
      .catch((settleError: unknown) => log.error("run.settle_failed", { taskId, error: settleError }));
  }
}
