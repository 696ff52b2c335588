/**
 * What server, worker and CLI must agree on about one installation: where its data lies, which store holds it, its limits.
 * Pure: the environment, the platform and the home directory come in; nothing is created or opened here.
 */
import { limitTable, type LimitName, type Limits } from "@executor/contracts/limits";

export interface Installation {
  /** Data directory: database, keys. Only its owner may enter it. */
  home: string;
  /** Run state: sockets and the like, gone after a reboot without loss. */
  runDir: string;
  store: { kind: "sqlite"; path: string } | { kind: "convex"; url: string; serviceToken: string };
  limits: Limits;
}

/** The environment asks for something that cannot be. The message names the variable; apps print it and exit with 78. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";
}

/** One line a problem, with the value that was found. For variables that hold no secret. */
export function explainVariables(
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
  found: Record<string, unknown>,
): string {
  return issues
    .map(
      ({ path, message }) => `${path.join(".")} ${message}; it is "${String(found[String(path[0])]).slice(0, 100)}".`,
    )
    .join("\n");
}

export type Environment = Record<string, string | undefined>;

export function readInstallation(env: Environment, platform: string, homedir: string): Installation {
  const places = readPlaces(env, platform, homedir);
  return { ...places, store: readStore(env, places.home, platform), limits: readLimits(env) };
}

/** EXECUTOR_LIMIT_<NAME> for a row of the limits table: `runMs` is EXECUTOR_LIMIT_RUN_MS. */
export const limitVariable = (name: LimitName): string =>
  `EXECUTOR_LIMIT_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** An empty variable counts as one that is not set: that is how shells and compose files leave things out. */
export const readVariable = (env: Environment, name: string): string | null => env[name]?.trim() || null;

function readPlaces(env: Environment, platform: string, homedir: string): { home: string; runDir: string } {
  const asked = readVariable(env, "EXECUTOR_HOME");
  if (asked !== null) {
    const home = asked.startsWith("~/") ? join(platform, homedir, asked.slice(2)) : join(platform, asked);
    if (!isAbsolute(home, platform))
      throw new EnvironmentError(`EXECUTOR_HOME must be an absolute path; it is "${asked}".`);
    return { home, runDir: join(platform, home, "run") };
  }
  if (platform === "darwin") {
    const home = join(platform, homedir, "Library/Application Support/executor");
    return { home, runDir: join(platform, home, "run") };
  }
  if (platform === "win32") {
    const home = join(
      platform,
      readVariable(env, "LOCALAPPDATA") ?? join(platform, homedir, "AppData/Local"),
      "executor",
    );
    return { home, runDir: join(platform, home, "run") };
  }
  const data = readVariable(env, "XDG_DATA_HOME") ?? join(platform, homedir, ".local/share");
  const state = readVariable(env, "XDG_STATE_HOME") ?? join(platform, homedir, ".local/state");
  return { home: join(platform, data, "executor"), runDir: join(platform, state, "executor/run") };
}

function readStore(env: Environment, home: string, platform: string): Installation["store"] {
  const url = readVariable(env, "CONVEX_URL");
  if (url === null) return { kind: "sqlite", path: join(platform, home, "executor.db") };
  if (!/^https?:\/\/[^\s]+$/.test(url))
    throw new EnvironmentError("CONVEX_URL must be an http or https URL, as `convex dev` prints it.");
  const serviceToken = readVariable(env, "EXECUTOR_CONVEX_SERVICE_TOKEN");
  if (serviceToken === null)
    throw new EnvironmentError(
      "EXECUTOR_CONVEX_SERVICE_TOKEN must be set with CONVEX_URL: the token the deployment's functions expect.",
    );
  return { kind: "convex", url, serviceToken };
}

function readLimits(env: Environment): Limits {
  const names = Object.keys(limitTable) as LimitName[];
  refuseUnknownLimits(env, names);
  return Object.fromEntries(names.map((name) => [name, readLimit(env, name)])) as Limits;
}

function readLimit(env: Environment, name: LimitName): number {
  const { value, min, max } = limitTable[name];
  const variable = limitVariable(name);
  const asked = readVariable(env, variable);
  if (asked === null) return value;
  const number = /^\d{1,15}$/.test(asked.replaceAll("_", "")) ? Number(asked.replaceAll("_", "")) : Number.NaN;
  if (!(number >= min && number <= max))
    throw new EnvironmentError(
      `${variable} must be a whole number from ${min} to ${max}; it is "${asked.slice(0, 100)}".`,
    );
  return number;
}

/** A limit that is misspelt would silently not hold. */
function refuseUnknownLimits(env: Environment, names: LimitName[]): void {
  const known = new Set(names.map(limitVariable));
  const unknown = Object.keys(env).find((name) => name.startsWith("EXECUTOR_LIMIT_") && !known.has(name));
  if (unknown !== undefined)
    throw new EnvironmentError(`${unknown} is not a limit. There are: ${[...known].join(", ")}.`);
}

const isAbsolute = (path: string, platform: string): boolean =>
  path.startsWith("/") || (platform === "win32" && /^([A-Za-z]:)?[\\/]/.test(path));

function join(platform: string, ...parts: string[]): string {
  const separator = platform === "win32" ? "\\" : "/";
  const joined = parts.map((part) => part.replace(/[\\/]+$/, "")).join(separator);
  return platform === "win32" ? joined.replaceAll("/", "\\") : joined;
}
