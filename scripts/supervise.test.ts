/** Drives the supervisor as a real process with small real children, for signals and deaths are what it is about. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./parent.ts";
import { backoffMs } from "./supervise.ts";

const folders: string[] = [];
const supervisors: Bun.Subprocess[] = [];
afterEach(() => {
  for (const supervisor of supervisors.splice(0)) supervisor.kill("SIGKILL");
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

test("back-off doubles from half a second to ten", () => {
  expect([1, 2, 3, 4, 5, 6, 60].map(backoffMs)).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test("a child that crashes is started again", async () => {
  const { folder, supervisor } = start({ a: "process.exit(1)" });
  await until(() => starts(folder, "a").length >= 2);
  supervisor.kill("SIGTERM");
  expect(await supervisor.exited).toBe(0);
});

test("SIGTERM ends every child and waits for it", async () => {
  const slow = `process.on("SIGTERM", () => setTimeout(() => { log("a.bye"); process.exit(0); }, 300)); setInterval(() => {}, 1000);`;
  const { folder, supervisor } = start({ a: slow, b: "setInterval(() => {}, 1000)" });
  await until(() => starts(folder, "a").length === 1 && starts(folder, "b").length === 1);
  supervisor.kill("SIGTERM");
  expect(await supervisor.exited).toBe(0);
  expect(starts(folder, "a.bye")).toHaveLength(1);
  expect(starts(folder, "b").some(isAlive)).toBe(false);
});

test("a configuration error (78) ends everything with that code, without a restart", async () => {
  const { folder, supervisor } = start({ a: "process.exit(78)", b: "setInterval(() => {}, 1000)" });
  expect(await supervisor.exited).toBe(78);
  expect(starts(folder, "a")).toHaveLength(1);
  expect(starts(folder, "b").some(isAlive)).toBe(false);
});

test("children are told whom to watch, for a killed supervisor cannot tell them", async () => {
  const { folder, supervisor } = start({
    a: "log('parent.' + process.env.EXECUTOR_PARENT_PID); setInterval(() => {}, 1000)",
  });
  await until(() => starts(folder, `parent.${supervisor.pid}`).length === 1);
  supervisor.kill("SIGTERM");
  await supervisor.exited;
});

/** Starts a supervisor over one child per entry; a child first leaves its pid in a file named after it. */
function start(children: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "executor-supervise-"));
  folders.push(folder);
  const log = `import { appendFileSync } from "node:fs";
    const log = (name) => appendFileSync(${JSON.stringify(folder)} + "/" + name, process.pid + "\\n");\n`;
  const specs = Object.entries(children).map(([name, body]) => {
    const file = join(folder, `${name}.js`);
    writeFileSync(file, `${log}log("${name}");\n${body}\n`);
    return { name, args: [file] };
  });
  const main = join(folder, "main.js");
  const supervise = join(import.meta.dir, "supervise.ts");
  writeFileSync(
    main,
    `import { supervise } from ${JSON.stringify(supervise)};\nprocess.exit(await supervise(${JSON.stringify(specs)}));`,
  );
  const supervisor = Bun.spawn([process.execPath, main], { stdio: ["ignore", "ignore", "ignore"] });
  supervisors.push(supervisor);
  return { folder, supervisor };
}

function starts(folder: string, name: string): number[] {
  try {
    return readFileSync(join(folder, name), "utf8").trim().split("\n").map(Number);
  } catch {
    return [];
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(20);
}
