/** What the machine has to put around an engine, tried for real: in many containers bubblewrap is there and may not do its work. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jailCommand, type JailParts } from "./jail.ts";
import { seccompFilter } from "./seccomp-filter.ts";

type SandboxParts = Pick<JailParts, "bubblewrap" | "setpriv" | "seccompPath">;
export type FoundSandbox = SandboxParts & { why: string };

const tryTimeoutMs = 10_000;

export async function findSandbox(
  parts: Omit<JailParts, keyof SandboxParts | "socketDirectory">,
  directory: string,
  wanted: boolean,
): Promise<FoundSandbox> {
  const setpriv = Bun.which("setpriv") ?? undefined;
  if (parts.user?.kind === "root" && setpriv === undefined)
    throw new Error(
      "EXECUTOR_ISOLATE_USER needs the program setpriv (package util-linux) when executor runs as root; install it",
    );
  const none: SandboxParts = { bubblewrap: undefined, seccompPath: undefined, setpriv };
  if (!wanted) return { ...none, why: "switched off" };
  const bubblewrap = process.platform === "linux" ? (Bun.which("bwrap") ?? undefined) : undefined;
  if (bubblewrap === undefined)
    return { ...none, why: process.platform === "linux" ? "bubblewrap is not installed" : "none on this system" };
  const filtered: SandboxParts = { bubblewrap, setpriv, seccompPath: writeFilter(directory, parts.user !== undefined) };
  if (filtered.seccompPath !== undefined && (await tryEngine({ ...parts, ...filtered }, directory)) === undefined)
    return { ...filtered, why: "" };
  const problem = await tryEngine({ ...parts, ...none, bubblewrap }, directory);
  if (problem === undefined) return { ...none, bubblewrap, why: "" };
  return { ...none, why: `bubblewrap does not work here (${problem})` };
}

/** Undefined where no filter is known for the machine. */
function writeFilter(directory: string, isReadByOther: boolean): string | undefined {
  const filter = seccompFilter(process.arch);
  if (filter === undefined) return undefined;
  const path = join(directory, "seccomp.bpf");
  // No secret: where guests run as another user, that one opens it.
  writeFileSync(path, filter, { mode: isReadByOther ? 0o444 : 0o400 });
  return path;
}

/** The engine only has to say its version; it needs all of the jail for that. */
async function tryEngine(parts: Omit<JailParts, "socketDirectory">, directory: string): Promise<string | undefined> {
  const socketDirectory = join(directory, "try");
  mkdirSync(socketDirectory, { mode: 0o700 });
  try {
    const { command, env } = jailCommand({ ...parts, socketDirectory });
    const version = [...command.slice(0, command.lastIndexOf("run")), "--version"];
    const child = Bun.spawn(version, { env, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: tryTimeoutMs });
    const stderr = await new Response(child.stderr).text();
    return (await child.exited) === 0 ? undefined : stderr.trim().slice(0, 300) || `exit ${child.exitCode}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(socketDirectory, { recursive: true, force: true });
  }
}
