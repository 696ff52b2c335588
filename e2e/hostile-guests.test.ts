/**
 * Code that means harm. Each program ends in an error that has a name, within its limits; its neighbours hardly notice, the
 * worker is never lost, and afterwards the memory and the cores are free again.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CreateTaskOptions, Task } from "@executor/client";
import { cpuMs, processTree, pssBytes, rssBytes } from "@executor/testkit/installation/process-tree";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { hostileGuests, macroImports, parserBombs } from "./support/hostile-code.ts";
import { until } from "./support/until.ts";

const MB = 1_000_000;
const RUN_MS = 25_000;

let installation: Installation;
let attacker: Person;
let neighbour: Person;
let workerPid = 0;
let bytesBefore = 0;
let idleMs = 0;
const ends = new Map<string, Promise<Task>>();

beforeAll(async () => {
  installation = await startInstallation({
    env: { EXECUTOR_LIMIT_CPU_MS: "1000", EXECUTOR_LIMIT_RUN_MS: String(RUN_MS) },
  });
  [attacker, neighbour] = await Promise.all([signIn(installation), signIn(installation)]);
  workerPid = installation.workers[0]?.pid ?? 0;
  idleMs = median(await sample(30));
  bytesBefore = pssBytes(processTree(workerPid));
  for (const { title, code, timeoutMs } of hostileGuests) ends.set(title, endOf(attacker, { code, timeoutMs }));
});
afterAll(() => installation.stop());

test("while they all run at once, a neighbour's tasks are hardly slower", async () => {
  let areOver = false;
  void Promise.allSettled(ends.values()).then(() => (areOver = true));
  const startedAt = Date.now();
  const times: number[] = [];
  while (!areOver) {
    times.push(...(await sample(1)));
    await Bun.sleep(20);
  }
  const p50 = median(times);
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? 0;
  console.log(
    `  ${hostileGuests.length} hostile guests took ${((Date.now() - startedAt) / 1000).toFixed(1)} s; a neighbour's p50 was ${idleMs.toFixed(1)} ms idle, ${p50.toFixed(1)} ms meanwhile (p95 ${p95.toFixed(0)} ms, n=${times.length}); peak memory of all processes ${Math.round(installation.peakBytes / MB)} MB`,
  );
  expect(p50).toBeLessThanOrEqual(Math.max(3 * idleMs, 250));
}, 90_000);

describe("each ends in its named error when it", () => {
  for (const { title, ends: codes } of hostileGuests) {
    test(title, async () => {
      const task = await ends.get(title);
      expect(codes).toContain(task?.error?.code ?? "");
      expect(task?.status).toBe(
        task?.error === undefined ? "completed" : task.error.code === "task.timed_out" ? "timed_out" : "failed",
      );
      const tookMs = Date.parse(task?.finishedAt ?? "") - Date.parse(task?.startedAt ?? "");
      expect(tookMs).toBeLessThan(2 * RUN_MS);
    });
  }
});

test("a flooded log is cut once, and says so once", async () => {
  const { taskId } = (await ends.get("floods the log")) ?? { taskId: "" };
  let bytes = 0;
  let cuts = 0;
  for await (const event of attacker.executor.tasks.events(taskId)) {
    if (event.type === "task.stdout") bytes += Buffer.byteLength(String(event.data["text"]));
    if (event.type === "task.stderr" && /dropped/.test(String(event.data["text"]))) cuts++;
  }
  expect(bytes).toBeGreaterThan(0.5 * MB);
  expect(bytes).toBeLessThanOrEqual(1 * MB);
  expect(cuts).toBe(1);
});

test("afterwards the same worker runs on, its memory is free again, and nothing burns a core", async () => {
  expect(installation.workers.map(({ pid }) => pid)).toEqual([workerPid]);
  expect(await neighbour.executor.tasks.run<number>("return 1 + 1")).toBe(2);
  let bytes = 0;
  // A child that is no longer needed stays for ten seconds, in case it is.
  await until("free memory", () => (bytes = pssBytes(processTree(workerPid))) < bytesBefore + 60 * MB, 20_000).catch(
    () => undefined,
  );
  console.log(`  worker and children: ${Math.round(bytesBefore / MB)} MB before, ${Math.round(bytes / MB)} MB after`);
  expect(bytes).toBeLessThan(bytesBefore + 60 * MB);
  const tree = processTree(workerPid);
  const before = cpuMs(tree);
  await Bun.sleep(500);
  expect(cpuMs(tree) - before).toBeLessThan(150);
}, 40_000);

test("a macro never runs: the code is refused, whichever way it names one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "executor-macro-"));
  const file = join(folder, "macro.ts");
  const trace = join(folder, "it-ran");
  writeFileSync(
    file,
    `import { writeFileSync } from "node:fs"; export function boom() { writeFileSync(${JSON.stringify(trace)}, "1"); return 1; }`,
  );
  try {
    for (const code of macroImports) {
      const answer = await attacker.ask("POST /api/tasks?wait=5000", {
        body: { workspaceId: attacker.workspaceId, code: code.replaceAll("FILE", file) },
      });
      expect([code, answer.status, answer.body.code]).toEqual([code, 422, "task.syntax_error"]);
    }
    expect(existsSync(trace)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("code made to break the parser is refused at once, and the server goes on", async () => {
  for (const code of parserBombs) {
    const startedAt = Date.now();
    const answer = await attacker.ask("POST /api/tasks", { body: { workspaceId: attacker.workspaceId, code } });
    expect([code.slice(0, 30), answer.status, answer.body.code]).toEqual([code.slice(0, 30), 422, "task.syntax_error"]);
    expect(Date.now() - startedAt).toBeLessThan(2_000);
  }
  expect(installation.server.isRunning).toBe(true);
});

test("a task whose calls carry megabytes does not make the worker keep them all", async () => {
  const code = `const s = "x".repeat(9_000_000); for (let i = 0; i < 150; i++) await tools.executor.echo({ value: s + i }); await new Promise((done) => setTimeout(done, 700)); return 1`;
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, rssBytes([workerPid]))), 50);
  const task = await endOf(attacker, code);
  clearInterval(watch);
  console.log(
    `  1,350 MB through one task (${task.status} ${task.error?.code ?? ""}, ${task.counts.calls} calls): the worker alone grew to ${Math.round(peak / MB)} MB`,
  );
  expect(peak).toBeLessThan(700 * MB);
}, 40_000);

test("many timers cost the worker itself no more than a little each", async () => {
  const before = cpuMs([workerPid]);
  const code =
    "for (let i = 0; i < 40_000; i++) setTimeout(() => {}, 1); await new Promise((done) => setTimeout(done, 50)); return 1";
  const task = await endOf(attacker, { code, timeoutMs: 20_000 });
  const usedMs = cpuMs([workerPid]) - before;
  console.log(`  40,000 timers (${task.status}) cost the worker ${usedMs} ms of CPU`);
  expect(usedMs).toBeLessThan(4_000);
}, 40_000);

test("tasks that ask long questions do not make the list of tasks large", async () => {
  const code = `const s = "x".repeat(500_000); await Promise.all(Array.from({ length: 50 }, (_, k) => tools.human.ask({ question: "q" + k + s })))`;
  await Promise.all([1, 2, 3].map(() => attacker.executor.tasks.create(code, { waitMs: 10_000 })));
  const response = await fetch(`${installation.url}/api/tasks?limit=200`, {
    headers: { authorization: `Bearer ${attacker.token}` },
  });
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.length;
  expect(bytes).toBeLessThan(20 * MB);
}, 40_000);

async function endOf({ executor }: Person, code: string | CreateTaskOptions): Promise<Task> {
  const { taskId } = await executor.tasks.create(code);
  return await executor.tasks.wait(taskId, { timeoutMs: 80_000 });
}

/** How long a small task takes, from request to answer. */
async function sample(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedAt = performance.now();
    const task = await neighbour.executor.tasks.create("return 1 + 1", { waitMs: 20_000 });
    expect(task.status).toBe("completed");
    times.push(performance.now() - startedAt);
  }
  return times;
}

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
