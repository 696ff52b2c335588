/**
 * The one place that knows how a child is started and what it is told. A compiled binary starts itself with `EXECUTOR_GUEST_CHILD=1`
 * in the environment and must then call `runGuestChild` before anything else.
 * The child's environment is made from nothing: no variable of ours is in it.
 */
import { fileURLToPath } from "node:url";
import type { Subprocess } from "bun";
import { fastMemories, type ChildEnv } from "./env.ts";

export type ChildProcess = Subprocess<"ignore", "ignore", "pipe">;

export function spawnChild(env: ChildEnv, cwd: string): ChildProcess {
  return Bun.spawn({
    cmd: childCommand(),
    // An empty directory: Bun would read .env and bunfig.toml from here.
    cwd,
    env: {
      EXECUTOR_GUEST_CHILD: "1",
      EXECUTOR_GUEST_SOCKET: env.socketPath,
      EXECUTOR_GUEST_TOKEN: env.token,
      EXECUTOR_GUEST_PARENT: String(env.parentPid),
      [fastMemories]: "4000",
      TZ: "UTC",
    },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
}

function childCommand(): string[] {
  const entry = new URL("./guest-child.ts", import.meta.url);
  const compiled = entry.pathname.startsWith("/$bunfs/");
  return compiled ? [process.execPath] : [process.execPath, "--no-install", "--smol", fileURLToPath(entry)];
}
