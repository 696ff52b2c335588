/** The promise of the product: a task that waits for a person survives kill -9 of everything and goes on where it stopped. */
import { afterEach, expect, test } from "bun:test";
import type { Approval, TaskEvent } from "@executor/client";
import {
  type Installation,
  type InstallationOptions,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { openSse } from "./support/read-sse.ts";
import { until } from "./support/until.ts";

let installation: Installation | undefined;
afterEach(async () => {
  await installation?.stop();
  installation = undefined;
});

const CODE = `
  console.log("before");
  const [a, b] = await Promise.all([tools.executor.echo({ value: { n: 1, text: "ä\\u202e😀" } }), tools.executor.echo({ value: [2, null] })]);
  console.log("between");
  const c = await tools.executor.echo({ value: "third" });
  return { a, b, c };
`;

for (const store of ["sqlite", "convex"] as const) {
  test(`approvals survive kill -9 of server and worker, and every call is performed once (${store})`, async () => {
    await playApprovals({ store });
  }, 60_000);
}

test("an approval that was decided while no worker was alive is used when one comes", async () => {
  installation = await startInstallation();
  const person = await signIn(installation);
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
  const { taskId } = await person.executor.tasks.create("return await tools.executor.echo({ value: 7 })");
  const [approval] = await pendingOf(person, taskId, 1);
  await installation.killWorker();
  await person.executor.approvals.approve(approval?.approvalId ?? "");
  expect((await person.executor.tasks.get(taskId)).status).toBe("queued");
  await installation.startWorker();
  expect((await person.executor.tasks.get(taskId, { waitMs: 10_000 })).result).toBe(7);
});

async function playApprovals(options: InstallationOptions): Promise<void> {
  installation = await startInstallation(options);
  const person = await signIn(installation);
  const { executor } = person;
  expect((await executor.health()).store).toEqual({ kind: options.store ?? "sqlite", ok: true });

  const sum = await person.ask("POST /api/tasks?wait=10000", {
    body: { code: "return 1 + 1", workspaceId: person.workspaceId },
  });
  expect(sum.status).toBe(201);
  expect(sum.body).toMatchObject({ status: "completed", result: 2 });
  expect(sum.headers.get("location")).toBe(`/api/tasks/${String(sum.body["taskId"])}`);

  await executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
  const { taskId } = await executor.tasks.create(CODE);
  const first = await openSse(`${installation.url}/api/tasks/${taskId}/events`, person.token);
  const pending = await pendingOf(person, taskId, 2);
  expect(pending.map(({ toolPath, input, mayHaveRun }) => ({ toolPath, input, mayHaveRun }))).toEqual([
    { toolPath: "executor.echo", input: { value: { n: 1, text: "ä\u202e😀" } }, mayHaveRun: false },
    { toolPath: "executor.echo", input: { value: [2, null] }, mayHaveRun: false },
  ]);
  expect((await executor.tasks.get(taskId)).status).toBe("waiting");
  await until("the pause in the stream", () => first.events.some(({ type }) => type === "task.waiting"));

  await installation.restart();
  await first.ended;
  expect((await pendingOf(person, taskId, 2)).map(({ approvalId }) => approvalId)).toEqual(
    pending.map(({ approvalId }) => approvalId),
  );
  const seen = first.events.at(-1)?.sequence ?? 0;
  const second = await openSse(`${installation.url}/api/tasks/${taskId}/events`, person.token, seen);

  for (const { approvalId } of pending) await executor.approvals.approve(approvalId);
  const third = await until("the third question", async () => {
    const [asked] = await pendingOf(person, taskId, 1);
    return JSON.stringify(asked?.input) === '{"value":"third"}' && asked;
  });
  await executor.approvals.approve(third.approvalId);

  const task = await until("the end", async () => {
    const read = await executor.tasks.get(taskId, { waitMs: 5_000 });
    return read.status !== "waiting" && read.status !== "queued" && read.status !== "running" && read;
  });
  expect(task).toMatchObject({
    status: "completed",
    result: { a: { n: 1, text: "ä\u202e😀" }, b: [2, null], c: "third" },
    pending: [],
  });

  const calls = (await executor.tasks.calls(taskId)).items;
  expect(calls.map(({ ordinal, status, sends }) => ({ ordinal, status, sends }))).toEqual(
    [0, 1, 2].map((ordinal) => ({ ordinal, status: "completed", sends: 1 })),
  );
  expect(calls.map(({ approvalId }) => approvalId)).toEqual([
    ...pending.map(({ approvalId }) => approvalId),
    third.approvalId,
  ]);

  await second.ended;
  checkEvents([...first.events, ...second.events]);
  const whole = await openSse(`${installation.url}/api/tasks/${taskId}/events`, person.token);
  await whole.ended;
  expect(whole.events).toEqual([...first.events, ...second.events]);
  expect(whole.ids).toEqual(whole.events.map(({ sequence }) => String(sequence)));
}

function checkEvents(events: TaskEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  const count = (type: TaskEvent["type"]) => events.filter((event) => event.type === type).length;
  expect(events[0]?.type).toBe("task.created");
  expect(events.at(-1)?.type).toBe("task.completed");
  expect(count("approval.requested")).toBe(3);
  expect(count("approval.resolved")).toBe(3);
  expect(count("tool.call.started")).toBe(3);
  expect(count("tool.call.completed")).toBe(3);
  expect(events.filter(({ type }) => type === "task.stdout").map(({ data }) => data["text"])).toEqual([
    "before",
    "between",
  ]);
}

async function pendingOf({ executor }: Person, taskId: string, count: number): Promise<Approval[]> {
  return await until(`${count} pending approvals`, async () => {
    const { items } = await executor.approvals.list({ status: "pending", taskId });
    return items.length === count && items.toSorted(byInput);
  });
}

/** Those asked for in the same millisecond come in no order that is promised. */
const byInput = (a: Approval, b: Approval): number => (JSON.stringify(a.input) > JSON.stringify(b.input) ? -1 : 1);
