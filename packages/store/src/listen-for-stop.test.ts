import { expect, test } from "bun:test";
import { isAlive } from "./listen-for-stop.ts";

test("this process is alive, and one that ended is not, even before its parent collects it", async () => {
  expect(isAlive(process.pid)).toBe(true);
  // The shell never collects its child: it ends at once and stays a zombie for as long as the shell sleeps.
  const shell = Bun.spawn(["sh", "-c", "true & echo $!; exec sleep 5"], { stdout: "pipe" });
  const { value } = await shell.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value).trim());
  for (let n = 0; n < 50 && isAlive(pid); n++) await Bun.sleep(10);
  expect(isAlive(pid)).toBe(false);
  shell.kill();
  await shell.exited;
});
