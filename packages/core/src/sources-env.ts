/**
 * What the environment says about sources and the way out. Server and worker must agree on it, so both read it here.
 * Pure; anything wrong is one message that names the variable and, in a list, the field.
 */
import { SourceDefinition } from "@executor/contracts/source";
import { EnvironmentError, readVariable, type Environment } from "./installation-env.ts";

export interface SourcesEnv {
  /** Loopback addresses may be reached: on an installation that only this machine can reach. */
  allowLoopback: boolean;
  /** Address ranges and host names that may be reached although they are private. */
  egressAllow: string[];
}

export function readSourcesEnv(env: Environment): SourcesEnv {
  const host = readVariable(env, "EXECUTOR_HOST") ?? "127.0.0.1";
  return {
    allowLoopback: /^(127(\.\d{1,3}){3}|localhost|::1|\[::1\])$/i.test(host),
    egressAllow: readList(env),
  };
}

/** EXECUTOR_TOOL_SOURCES: only the server reads it, and it never reaches a child. Values are not repeated: they may be secrets. */
export function readToolSources(env: Environment): SourceDefinition[] {
  const text = readVariable(env, "EXECUTOR_TOOL_SOURCES");
  if (text === null) return [];
  const list = parse(text);
  if (!Array.isArray(list)) throw new EnvironmentError("EXECUTOR_TOOL_SOURCES must be a JSON array of sources.");
  const sources = list.map((item, at) => {
    const parsed = SourceDefinition.safeParse(item);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues.map(deepest);
    const field = [`[${at}]`, ...(issue?.path ?? []).map(String)].join(".");
    throw new EnvironmentError(`EXECUTOR_TOOL_SOURCES${field}: ${issue?.message ?? "is not a source"}.`);
  });
  return sources;
}

interface Issue {
  code: string;
  path: readonly PropertyKey[];
  message: string;
  errors?: readonly (readonly Issue[])[];
}

/** A union fails as a whole; the member that came furthest says what is wrong. */
function deepest(issue: Issue): Pick<Issue, "path" | "message"> {
  const members = (issue.errors ?? []).flatMap((member) => member.map(deepest));
  const [furthest] = members.toSorted((a, b) => b.path.length - a.path.length);
  return furthest ? { path: [...issue.path, ...furthest.path], message: furthest.message } : issue;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new EnvironmentError("EXECUTOR_TOOL_SOURCES must be JSON; it cannot be parsed.");
  }
}

function readList(env: Environment): string[] {
  const entries = (readVariable(env, "EXECUTOR_EGRESS_ALLOW") ?? "").split(",").map((entry) => entry.trim());
  const listed = entries.filter(Boolean);
  const wrong = listed.find((entry) => !/^([0-9a-fA-F:.]+(\/\d{1,3})?|[A-Za-z0-9*.-]+)$/.test(entry));
  if (wrong !== undefined)
    throw new EnvironmentError(
      `EXECUTOR_EGRESS_ALLOW must be addresses, ranges such as 10.0.0.0/8 or host names, separated by commas; it has "${wrong.slice(0, 100)}".`,
    );
  return listed;
}
