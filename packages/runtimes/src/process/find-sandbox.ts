/** What the machine has to put around an engine, tried for real: in many containers bubblewrap is there and may not do its work. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { jailCommand, type JailParts } from "./jail.ts";

export type FoundSandbox = Pick<JailParts, "bubblewrap" | "setpriv"> & { why: string };

const tryTimeoutMs = 10_000;

export async function findSandbox(
  parts: Omit<JailParts, "bubblewrap" | "setpriv" | "socketDirectory">,
  directory: string,
  wanted: boolean,
): Promise<FoundSandbox> {
  const setpriv = Bun.which("setpriv") ?? undefined;
  if (parts.user?.kind === "root" && setpriv === undefined)
    throw new Error(
      "EXECUTOR_ISOLATE_USER needs the program setpriv (package util-linux) when executor runs as root; install it",
    );
  if (!wanted) return { bubblewrap: undefined, setpriv, why: "switched off" };
  const bubblewrap = process.platform === "linux" ? (Bun.which("bwrap") ?? undefined) : undefined;
  if (bubblewrap === undefined)
    return {
      bubblewrap,
      setpriv,
      why: process.platform === "linux" ? "bubblewrap is not installed" : "none on this system",
    };
  const problem = await tryEngine({ ...parts, bubblewrap, setpriv }, directory);
  if (problem === undefined) return { bubblewrap, setpriv, why: "" };
  return { bubblewrap: undefined, setpriv, why: `bubblewrap does not work here (${problem})` };
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
