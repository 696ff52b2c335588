/**
 * The examples of README.md, word for word between the marks, compiled and run against a loopback server:
 * a test below fails when the two differ.
 */
import { expect, test } from "bun:test";
import { bootstrap, createExecutor, ExecutorError } from "./index.ts";
import { startContractServer } from "./testing/contract-server.ts";
import { caller, sampleEvent, sampleInteraction, sampleTask, sseOf } from "./testing/samples.ts";
import { startLoopback, json } from "./testing/loopback.ts";

const at = "2026-11-18T08:00:00.000Z";
const session = { ...caller, sessionId: "session_1", createdAt: at, lastSeenAt: at };

async function start(baseUrl: string) {
  // example: start
  const session = await bootstrap({ baseUrl });
  const executor = createExecutor({ baseUrl, token: session.sessionId, workspaceId: session.workspaceId });

  const sum = await executor.tasks.run<number>("return 1 + 2");
  // end
  return sum;
}

async function runWithPeople(baseUrl: string, token: string, print: (text: string) => void) {
  const executor = createExecutor({ baseUrl, token });
  // example: people
  try {
    const issue = await executor.tasks.run("return await tools.github.issues.create({ title: 'Hello' })", {
      onWaiting: (task) => print(`waits for: ${task.pending.map((interaction) => interaction.title).join(", ")}`),
      onEvent: (event) => print(`${event.sequence} ${event.type}`),
      timeoutMs: 10 * 60_000,
      cancelOnAbort: true,
    });
    print(`made ${JSON.stringify(issue)}`);
  } catch (error) {
    if (!(error instanceof ExecutorError)) throw error;
    print(error.code === "approval.denied" ? `denied: ${error.detail}` : `failed: ${error.code} (${error.taskId})`);
  }
  // end
}

async function review(baseUrl: string, token: string) {
  const executor = createExecutor({ baseUrl, token });
  // example: review
  for await (const approval of executor.approvals.each({ status: "pending" })) {
    if (approval.toolPath.startsWith("github.")) await executor.approvals.approve(approval.approvalId);
    else await executor.approvals.deny(approval.approvalId, { reason: "not today" });
  }
  // end
}

test("the README shows these examples", async () => {
  const source = await Bun.file(import.meta.path).text();
  const readme = await Bun.file(`${import.meta.dir}/../README.md`).text();
  const examples = [...source.matchAll(/^ *\/\/ example: \w+\n([^]*?)^ *\/\/ end$/gm)].map(([, text = ""]) =>
    unindent(text),
  );
  expect(examples).toHaveLength(3);
  for (const example of examples) expect(readme).toContain(example);
});

test("start", async () => {
  await using server = startContractServer({
    bootstrap: () => session,
    createTask: () => sampleTask({ status: "completed", result: 3 }),
  });
  expect(await start(server.url)).toBe(3);
});

test("people", async () => {
  const denied = sampleTask({ status: "denied", error: { code: "approval.denied", message: "Ann said no" } });
  const waiting = sampleTask({ status: "waiting", pending: [sampleInteraction("approval_1")] });
  const events = [sampleEvent(1, "task.waiting"), sampleEvent(2, "task.denied")];
  let reads = 0;
  await using server = startLoopback(({ method, path }) => {
    if (path === "/api/auth/me") return json(caller);
    if (method === "POST") return json(waiting, 201);
    if (!path.endsWith("/events")) return json(reads++ === 0 ? waiting : denied);
    return new Response(events.map((event) => sseOf(event)).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const printed: string[] = [];
  await runWithPeople(server.url, "t", (text) => printed.push(text));
  expect(printed.toSorted()).toEqual([
    "1 task.waiting",
    "2 task.denied",
    "denied: Ann said no",
    "waits for: github.issues.create",
  ]);
});

test("review", async () => {
  const approval = { approvalId: "approval_1", toolPath: "github.issues.create" };
  const other = { approvalId: "approval_2", toolPath: "bank.pay" };
  await using server = startContractServer({
    whoami: () => caller,
    listApprovals: () => ({ items: [approval, other] }),
  });
  await review(server.url, "t");
  const decisions = server.calls.flatMap(({ route, body }) => (route === "decideApproval" ? [body] : []));
  expect(decisions).toMatchObject([{ decision: "approved" }, { decision: "denied", reason: "not today" }]);
});

function unindent(text: string): string {
  return text.replaceAll(/^ {2}/gm, "").trimEnd();
}
