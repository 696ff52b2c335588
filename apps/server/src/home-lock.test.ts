import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockHome } from "./home-lock.ts";

test("a second server is refused while the first lives, and let in when it has released or died (R02)", async () => {
  const home = mkdtempSync(join(tmpdir(), "executor-lock-"));
  const first = Bun.spawn(
    [
      process.execPath,
      "-e",
      `import { lockHome } from ${JSON.stringify(join(import.meta.dir, "home-lock.ts"))}; console.log(lockHome(${JSON.stringify(home)}).ok); setInterval(() => {}, 1000);`,
    ],
    { stdout: "pipe" },
  );
  for await (const _ of first.stdout) break;
  expect(lockHome(home)).toEqual({ ok: false, pid: first.pid });
  first.kill("SIGKILL");
  await first.exited;
  const lock = lockHome(home);
  expect(lock.ok).toBe(true);
  if (lock.ok) lock.release();
  expect(existsSync(join(home, "server.lock"))).toBe(false);
  rmSync(home, { recursive: true });
});

test("a lock of a process whose number is used again, of ourselves, or of nobody is stale", () => {
  const home = mkdtempSync(join(tmpdir(), "executor-lock-"));
  for (const text of [
    '{"pid":1,"startedAt":"not when it started"}',
    `{"pid":${process.pid},"startedAt":"1"}`,
    '{"pid":999999999}',
    "",
    "garbage",
  ]) {
    writeFileSync(join(home, "server.lock"), text);
    const lock = lockHome(home);
    // Where the system does not tell start times, a living number counts.
    if (!text.includes('"pid":1,') || process.platform === "linux") expect([text, lock.ok]).toEqual([text, true]);
    if (lock.ok) lock.release();
  }
  rmSync(home, { recursive: true });
});
