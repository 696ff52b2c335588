/**
 * What `npm test` runs: every check, the tests beside the code, then the black-box tests. Ends with `N passed, N failed`.
 * A stage that ran nothing is a failure, for silence is not a pass. Nothing here or below may touch the user's own data:
 * tests get an EXECUTOR_HOME that lives as long as the run.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildWeb } from "./build-web.ts";
import { printCheck, runChecks } from "./check.ts";
import { watchParent } from "./parent.ts";
import { readTestSummary } from "./test-summary.ts";

const root = join(import.meta.dir, "..");
const TEST_TIMEOUT_MS = 30_000;

interface Counts {
  passed: number;
  failed: number;
}

/**
 * One file after the other, each in a fresh global (--isolate). Not --parallel: the black-box tests start real processes
 * and wait for them, and on two cores they would wait for each other.
 */
const TEST_STAGES: Record<string, string[]> = {
  tests: ["./packages", "./apps", "./scripts", "./convex"],
  e2e: ["./e2e"],
};

const home = await mkdtemp(join(tmpdir(), "executor-test-"));
let running: Bun.Subprocess | undefined;
let isStopped = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stop);
watchParent(stop);

const results = [await stage("check", checkStage)];
for (const [name, folders] of Object.entries(TEST_STAGES)) results.push(await stage(name, () => testStage(folders)));
await rm(home, { recursive: true, force: true });

const passed = sum(results.map((result) => result.passed));
const failed = sum(results.map((result) => result.failed));
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = isStopped ? 130 : failed > 0 || passed === 0 ? 1 : 0;

async function stage(name: string, work: () => Promise<Counts>): Promise<Counts> {
  if (isStopped) return { passed: 0, failed: 0 };
  console.log(`\n== ${name}`);
  const startedAt = performance.now();
  const counts = await work();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`== ${name}: ${counts.passed} passed, ${counts.failed} failed, ${seconds} s`);
  return counts;
}

async function checkStage(): Promise<Counts> {
  // Once, before several tests want it at the same time.
  await buildWeb();
  const checks = await runChecks();
  checks.forEach(printCheck);
  const passed = checks.filter((check) => check.ok).length;
  return { passed, failed: checks.length - passed };
}

async function testStage(folders: string[]): Promise<Counts> {
  // --no-orphans: the processes a test forgot, or had no time to end, end with the run.
  const args = ["--no-orphans", "test", "--isolate", "--timeout", String(TEST_TIMEOUT_MS), ...folders];
  running = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...process.env, EXECUTOR_HOME: home },
    stdio: ["ignore", "inherit", "pipe"],
  });
  const tail = await showAndKeepTail(running.stderr as ReadableStream<Uint8Array>);
  const code = await running.exited;
  const { passed, failed } = readTestSummary(tail);
  // A crash, or a file that could not be loaded, may fail without a failed test.
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

/** Bun prints its progress and its summary on stderr; the summary is the end of it. */
async function showAndKeepTail(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of stream) {
    process.stderr.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4_000);
  }
  return tail;
}

function stop(): void {
  isStopped = true;
  running?.kill("SIGTERM");
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
