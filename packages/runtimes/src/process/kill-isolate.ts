/** Sends a signal to all of an isolate: to the group it leads, or through sudo where it belongs to somebody else. */
import type { JailUser } from "./jail.ts";

export function killIsolate(
  child: { pid: number } | undefined,
  enginePid: number,
  signal: "SIGTERM" | "SIGKILL",
  user: JailUser | undefined,
): void {
  if (child === undefined) return;
  if (user?.kind === "sudo") {
    // sudo itself belongs to root and may not be signalled by us; it goes when its child does.
    Bun.spawn(["sudo", "-n", "-u", user.name, "--", "kill", `-${signal.slice(3)}`, String(enginePid)], {
      stdio: ["ignore", "ignore", "ignore"],
    }).unref();
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Gone already.
  }
}
