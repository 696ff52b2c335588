/**
 * Notices that whoever started this process is gone, so that nothing runs on as an orphan.
 * It only tells; the caller decides how to stop.
 */
const POLL_MS = 500;

/** Calls `onGone` once. Watches the direct parent, and the launcher above it: `bun run` in between would outlive its death. */
export function watchParent(onGone: () => void): void {
  const parent = process.ppid;
  const launcher = Number(process.env["EXECUTOR_LAUNCHER_PID"] ?? 0);
  const timer = setInterval(() => {
    if (process.ppid === parent && (launcher === 0 || isAlive(launcher))) return;
    clearInterval(timer);
    onGone();
  }, POLL_MS);
  timer.unref();
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
