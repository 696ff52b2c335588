/**
 * What the environment says about the isolated executor process. Server and worker must agree on it, so both read it here. Pure.
 */
import { EnvironmentError, readVariable, type Environment } from "./installation-env.ts";

export interface IsolateEnv {
  /** Unix user the isolates run as. */
  user: string | null;
  /** Another build of the engine. */
  enginePath: string | null;
  /** Run guests also where nothing confines them. */
  unsandboxed: boolean;
  maxProcesses: number;
  warm: number;
  idleMs: number;
  tokenLifetimeMs: number;
  /** 0: as often as it takes. */
  tokenMaxUses: number;
}

export function readIsolateEnv(env: Environment): IsolateEnv {
  const enginePath = readVariable(env, "EXECUTOR_ISOLATE_ENGINE");
  if (enginePath !== null && !enginePath.startsWith("/") && !/^[A-Za-z]:/.test(enginePath))
    throw new EnvironmentError(
      `EXECUTOR_ISOLATE_ENGINE must be an absolute path; it is "${enginePath.slice(0, 100)}".`,
    );
  return {
    user: readVariable(env, "EXECUTOR_ISOLATE_USER"),
    enginePath,
    unsandboxed: readFlag(env, "EXECUTOR_ISOLATE_UNSANDBOXED"),
    maxProcesses: readCount(env, "EXECUTOR_ISOLATE_MAX_PROCESSES", 32, 1, 1_000),
    warm: readCount(env, "EXECUTOR_ISOLATE_WARM", 1, 0, 100),
    idleMs: readCount(env, "EXECUTOR_ISOLATE_IDLE_MS", 600_000, 100, 86_400_000),
    tokenLifetimeMs: readCount(env, "EXECUTOR_ISOLATE_TOKEN_MS", 86_400_000, 1_000, 604_800_000),
    tokenMaxUses: readCount(env, "EXECUTOR_ISOLATE_TOKEN_USES", 0, 0, 1_000_000_000),
  };
}

function readFlag(env: Environment, name: string): boolean {
  const value = readVariable(env, name) ?? "0";
  if (value !== "0" && value !== "1")
    throw new EnvironmentError(`${name} must be 0 or 1; it is "${value.slice(0, 100)}".`);
  return value === "1";
}

function readCount(env: Environment, name: string, usual: number, min: number, max: number): number {
  const value = readVariable(env, name);
  if (value === null) return usual;
  const number = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max))
    throw new EnvironmentError(`${name} must be a whole number from ${min} to ${max}; it is "${value.slice(0, 100)}".`);
  return number;
}
