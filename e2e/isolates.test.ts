/** Tasks on runtime `process` in a whole installation: kill -9 of isolate, worker and server in every state leaves nothing and loses nothing. */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { commandLine, isRunning, processTree } from "@executor/testkit/installation/process-tree";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

const started: Installation[] = [];
const seen = new Set<number>();
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()));
  await until("no isolate is left", () => [...seen].every((pid) => !isRunning(pid)));
  seen.clear();
});

async function start(): Promise<{ installation: Installation; person: Person }> {
  const installation = await startInstallation({ workers: 1 });
  started.push(installation);
  return { installation, person: await signIn(installation) };
}

/** The processes that run guests: Deno itself, without its wrappers. */
function isolatesOf(installation: Installation): number[] {
  const pids = installation.workers.flatMap(({ pid }) => processTree(pid));
  const found = pids.filter((pid) => /^\S*(deno|engine) run /.test(commandLine(pid)));
  for (const pid of found) seen.add(pid);
  return found;
}

const submit = async (person: Person, code: string): Promise<string> =>
  (await person.executor.tasks.create({ code, runtimeId: "process" })).taskId;

/** Its CPU budget is the installation's; each of these is killed long before. */
const states: [name: string, code: string, reached: string][] = [
  [
    "in the middle of its own code",
    "console.log('on'); let x = 0; for (let i = 0; i < 1.5e9; i++) x ^= i; return await tools.executor.echo({ value: 'done' })",
    "running",
  ],
  [
    "while it waits for a timer",
    "console.log('on'); await new Promise((done) => setTimeout(done, 1500)); return await tools.executor.echo({ value: 'done' })",
    "running",
  ],
  [
    "while a person thinks",
    "console.log('on'); const answer = await tools.human.ask({ question: 'Well?' }); return answer === 'yes' ? 'done' : answer",
    "waiting",
  ],
];
const victims = ["isolate", "worker", "server"] as const;

describe("kill -9", () => {
  for (const [name, code, reached] of states) {
    for (const victim of victims) {
      test(`of the ${victim} ${name}`, async () => {
        const { installation, person } = await start();
        const taskId = await submit(person, code);
        await until(
          "it is on its way",
          async () => (await person.executor.tasks.get(taskId)).status === reached,
          15_000,
        );
        if (reached === "running") await until("its isolate runs", () => isolatesOf(installation).length > 0);
        await Bun.sleep(200);
        const isolates = isolatesOf(installation);
        if (victim === "isolate") for (const pid of isolates) process.kill(pid, "SIGKILL");
        else if (victim === "worker") {
          await installation.killWorker();
          await until("its isolates went with it", () => isolates.every((pid) => !isRunning(pid)));
          await installation.startWorker();
        } else {
          await installation.killServer();
          await installation.startServer();
        }
        if (reached === "waiting") await answer(person, taskId);
        await until(
          "the task has ended",
          async () => (await person.executor.tasks.get(taskId)).finishedAt !== undefined,
          30_000,
        );
        const task = await person.executor.tasks.get(taskId);
        expect({ status: task.status, result: task.result, error: task.error }).toMatchObject({
          status: "completed",
          result: "done",
        });
        const { items } = await person.executor.tasks.calls(taskId);
        expect(items.length).toBe(1);
        await until("one directory, for the living worker", () => directoriesOf(installation) === 1);
      }, 60_000);
    }
  }
});

test("the runtime target says what confines a guest, from a server that runs none", async () => {
  const { installation, person } = await start();
  const { items } = await person.executor.runtimes.list();
  const target = items.find(({ id }) => id === "process");
  expect(target).toMatchObject({ available: true, confinement: expect.stringContaining("engine permissions") });
  expect(processTree(installation.server.pid).filter((pid) => / run --quiet /.test(commandLine(pid)))).toEqual([]);
}, 30_000);

test("cancelling a task that spins ends its process", async () => {
  const { installation, person } = await start();
  const taskId = await submit(person, "for (;;) {}");
  await until("it runs", async () => (await person.executor.tasks.get(taskId)).status === "running", 15_000);
  await Bun.sleep(300);
  const before = isolatesOf(installation);
  await person.executor.tasks.cancel(taskId);
  // All but a warm one, which may have been there or come since.
  await until("it is gone", () => before.filter(isRunning).length <= 1);
  expect((await person.executor.tasks.get(taskId)).status).toBe("cancelled");
}, 30_000);

function directoriesOf(installation: Installation): number {
  const runDir = join(installation.home, "run");
  return existsSync(runDir) ? readdirSync(runDir).filter((name) => name.startsWith("executor-isolates-")).length : 0;
}

async function answer(person: Person, taskId: string): Promise<void> {
  const { items } = await person.executor.interactions.list({ status: "pending" });
  const asked = items.find((item) => item.taskId === taskId);
  await person.executor.interactions.answer(asked?.interactionId ?? "", "yes");
}
