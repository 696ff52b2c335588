/** The process itself: how it starts, refuses, stops, and what it leaves behind. */
import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Caller, Session } from "@executor/contracts/identity";
import type { Task } from "@executor/contracts/task";

const main = join(import.meta.dir, "main.ts");
const homes: string[] = [];
const running: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

test("it says where it listens, keeps one owner key across restarts, and ends cleanly on SIGTERM", async () => {
  const home = newHome();
  const first = await start(home);
  const owner = JSON.parse(readFileSync(join(home, "owner-key"), "utf8")) as { token: string; workspaceId: string };
  const stream = await fetch(`${first.url}/api/events`, { headers: { authorization: `Bearer ${owner.token}` } });
  first.child.kill("SIGTERM");
  expect(await first.child.exited).toBe(0);
  expect(await stream.text()).toMatch(/^: open\nid: \d+\n\n$/);
  expect(existsSync(join(home, "server.lock"))).toBe(false);
  const second = await start(home);
  const caller = (await (
    await fetch(`${second.url}/api/auth/me`, { headers: { authorization: `Bearer ${owner.token}` } })
  ).json()) as Caller;
  expect(caller).toMatchObject({ workspaceId: owner.workspaceId, role: "admin", installationAdmin: true });
});

test("a second server on the same data, a taken port and a bad variable are refused with 78 and one message", async () => {
  const home = newHome();
  const { url } = await start(home);
  expect(await refusal({ EXECUTOR_HOME: home, EXECUTOR_PORT: "0" })).toEqual([
    78,
    expect.stringContaining("Another server"),
  ]);
  expect(await refusal({ EXECUTOR_HOME: newHome(), EXECUTOR_PORT: new URL(url).port })).toEqual([
    78,
    expect.stringContaining("EXECUTOR_PORT"),
  ]);
  expect(await refusal({ EXECUTOR_HOME: newHome(), EXECUTOR_PORT: "x" })).toEqual([
    78,
    expect.stringContaining("EXECUTOR_PORT must be"),
  ]);
  expect(await refusal({ EXECUTOR_HOME: newHome(), EXECUTOR_LIMIT_RUN_MS: "soon" })).toEqual([
    78,
    expect.stringContaining("EXECUTOR_LIMIT_RUN_MS must be"),
  ]);
});

test("after a kill -9 the next server takes over the lock", async () => {
  const home = newHome();
  const first = await start(home);
  first.child.kill("SIGKILL");
  await first.child.exited;
  expect(existsSync(join(home, "server.lock"))).toBe(true);
  const second = await start(home);
  expect((await fetch(`${second.url}/api/health`)).status).toBe(200);
});

test("it ends when its parent is gone", async () => {
  const parent = Bun.spawn(["sleep", "60"]);
  running.push(parent);
  const { child } = await start(newHome(), { EXECUTOR_PARENT_PID: String(parent.pid) });
  parent.kill("SIGKILL");
  expect(await child.exited).toBe(0);
});

test("with auto-execute it runs tasks by itself", async () => {
  const { url } = await start(newHome(), { EXECUTOR_SERVER_AUTO_EXECUTE: "1" });
  const session = (await (await fetch(`${url}/api/auth/anonymous/bootstrap`, { method: "POST" })).json()) as Session;
  const body = JSON.stringify({
    workspaceId: session.workspaceId,
    code: "return await tools.executor.echo({ value: 6 * 7 })",
  });
  const response = await fetch(`${url}/api/tasks?wait=20000`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${session.sessionId}`, "content-type": "application/json" },
  });
  expect((await response.json()) as Task).toMatchObject({ status: "completed", result: 42 });
});

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "executor-main-"));
  homes.push(home);
  return home;
}

const spawn = (env: Record<string, string>) => {
  const child = Bun.spawn([process.execPath, main], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(child);
  return child;
};

async function start(home: string, env: Record<string, string> = {}) {
  const child = spawn({ EXECUTOR_HOME: home, EXECUTOR_PORT: "0", ...env });
  let text = "";
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    const line = text.split("\n").find((each) => each.includes('"server.listening"') && each.endsWith("}"));
    if (line) return { child, url: `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}` };
  }
  throw new Error(`it did not start: ${text} ${await new Response(child.stderr).text()}`);
}

async function refusal(env: Record<string, string>): Promise<[number, string]> {
  const child = spawn(env);
  const [code, message] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  return [code, message];
}
