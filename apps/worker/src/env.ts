/** The worker's environment, read once by main.ts. Anything wrong is one message that names the variable. */
import { z } from "zod";
import {
  EnvironmentError,
  explainVariables,
  readInstallation,
  type Environment,
  type Installation,
} from "@executor/core/installation-env";
import { defaultWorkerSettings, type WorkerSettings } from "./worker.ts";

export interface WorkerEnv {
  settings: WorkerSettings;
  parentPid: number | null;
}

export function readWorkerEnv(
  env: Environment,
  platform: string,
  homedir: string,
): { worker: WorkerEnv; installation: Installation } {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""));
  const parsed = WorkerVariables.safeParse(set);
  if (!parsed.success) throw new EnvironmentError(explainVariables(parsed.error.issues, set));
  const variables = parsed.data;
  const settings: WorkerSettings = {
    concurrency: variables.EXECUTOR_WORKER_CONCURRENCY,
    leaseMs: variables.EXECUTOR_WORKER_LEASE_MS,
    pollMs: variables.EXECUTOR_WORKER_POLL_MS,
    sweepMs: variables.EXECUTOR_WORKER_SWEEP_MS,
    drainMs: variables.EXECUTOR_WORKER_DRAIN_MS,
  };
  return {
    worker: { settings, parentPid: variables.EXECUTOR_PARENT_PID ?? null },
    installation: readInstallation(env, platform, homedir),
  };
}

const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, message)
    .transform(Number)
    .pipe(z.int(message).min(min, message).max(max, message));
};

const WorkerVariables = z.object({
  EXECUTOR_WORKER_CONCURRENCY: wholeNumber(1, 1_000).default(defaultWorkerSettings.concurrency),
  EXECUTOR_WORKER_LEASE_MS: wholeNumber(300, 600_000).default(defaultWorkerSettings.leaseMs),
  EXECUTOR_WORKER_POLL_MS: wholeNumber(10, 60_000).default(defaultWorkerSettings.pollMs),
  EXECUTOR_WORKER_SWEEP_MS: wholeNumber(50, 60_000).default(defaultWorkerSettings.sweepMs),
  EXECUTOR_WORKER_DRAIN_MS: wholeNumber(0, 60_000).default(defaultWorkerSettings.drainMs),
  EXECUTOR_PARENT_PID: wholeNumber(1, 999_999_999).optional(),
});
