/** A call that is asked something in the middle, and the worker that holds it is killed before the answer: nothing runs twice in silence. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Task } from "@executor/client";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { type McpServer, startMcpServer } from "./support/mcp-server.ts";
import { until } from "./support/until.ts";

const sure = {
  mode: "form",
  message: "Sure?",
  requestedSchema: { type: "object", properties: { sure: { type: "boolean" } }, required: ["sure"] },
};
const inputSchema = { type: "object" };
let server: McpServer;
let installation: Installation;
let person: Person;
beforeAll(async () => {
  const tools = [
    { name: "buy", inputSchema },
    { name: "look", inputSchema, annotations: { readOnlyHint: true } },
  ];
  server = startMcpServer(tools, { buy: sure, look: sure });
  installation = await startInstallation();
  person = await signIn(installation);
  const { sourceId } = await person.executor.sources.add({ type: "mcp", name: "shop", url: server.url });
  await person.executor.sources.waitUntilRead(sourceId);
}, 30_000);
afterAll(async () => {
  await installation.stop();
  await server.stop();
});

const effects = (name: string): number => server.calls.filter((each) => each.name === name).length;
const waitsFor = (taskId: string, kind: string): Promise<Task["pending"][number]> =>
  until(`${taskId} to wait for an ${kind}`, async () => {
    const { status, pending } = await person.executor.tasks.get(taskId);
    return (status === "waiting" && pending.find((each) => each.kind === kind)) || false;
  });

/** Up to the question in the middle of the call. */
async function start(tool: string): Promise<{ taskId: string; questionId: string }> {
  server.calls.length = 0;
  const code = `try { return await tools.shop.${tool}({}) } catch (error) { return { code: error.code, message: error.message } }`;
  const { taskId } = await person.executor.tasks.create(code);
  if (tool === "buy") await person.executor.approvals.approve((await waitsFor(taskId, "approval")).interactionId);
  const { interactionId } = await waitsFor(taskId, "elicitation");
  expect(effects(tool)).toBe(1);
  return { taskId, questionId: interactionId };
}

async function killWorker(): Promise<void> {
  await installation.killWorker();
  await installation.startWorker();
}
const result = async (taskId: string) => (await person.executor.tasks.wait(taskId, { timeoutMs: 20_000 })).result;

test("left alone, the very call goes on with the answer", async () => {
  const { taskId, questionId } = await start("buy");
  await person.executor.interactions.answer(questionId, { sure: true });
  expect(JSON.stringify(await result(taskId))).toContain("accept");
  expect(effects("buy")).toBe(1);
}, 30_000);

test.each(["approve", "deny"] as const)(
  "killed, an unsafe call may have happened: a person is asked, and may %s",
  async (decision) => {
    const { taskId, questionId } = await start("buy");
    await killWorker();
    await person.executor.interactions.answer(questionId, { sure: true });
    const asked = await waitsFor(taskId, "approval");
    const { items } = await person.executor.approvals.list({ status: "pending" });
    expect(items).toMatchObject([{ approvalId: asked.interactionId, mayHaveRun: true }]);
    expect(asked).toMatchObject({ detail: expect.stringContaining("may already have happened") });
    expect(effects("buy")).toBe(1);
    await person.executor.approvals[decision](asked.interactionId);
    const ended = await result(taskId);
    if (decision === "approve") expect(JSON.stringify(ended)).toContain("accept");
    else expect(ended).toMatchObject({ code: "call.outcome_unknown" });
    expect(effects("buy")).toBe(decision === "approve" ? 2 : 1);
  },
  30_000,
);

test("killed, a read-only call is sent again with the answer, and nobody is asked", async () => {
  const { taskId, questionId } = await start("look");
  await killWorker();
  await person.executor.interactions.answer(questionId, { sure: true });
  expect(JSON.stringify(await result(taskId))).toContain("accept");
  expect(effects("look")).toBe(2);
}, 30_000);

test("a person who declines ends the call at the server too, at once", async () => {
  const { taskId, questionId } = await start("buy");
  await person.executor.interactions.decline(questionId, { reason: "not today" });
  expect(JSON.stringify(await result(taskId))).toContain("decline");
  expect(server.calls).toEqual([{ name: "buy", finished: true }]);
}, 30_000);
