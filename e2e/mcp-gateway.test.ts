/** Two gateways beside a server: one session is served by all of them, and survives any of them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createExecutor } from "@executor/client";
import { environmentOn, type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ProductProcess } from "@executor/testkit/installation/product-process";
import { ask, type Person, signIn } from "./support/api.ts";
import { connectMcp, revisions } from "./support/mcp-client.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let person: Person;
let gateways: { url: string; process: ProductProcess }[];

async function startGateway(): Promise<{ url: string; process: ProductProcess }> {
  const ports = { EXECUTOR_PORT: String(installation.port), EXECUTOR_GATEWAY_PORT: "0" };
  const env = environmentOn(installation.home, { ...ports, MCP_CALL_WAIT_MS: "5000" });
  const started = new ProductProcess({ name: "gateway", args: ["apps/server/src/gateway/main.ts"], env });
  const { port } = await started.waitForLine(({ msg }) => msg === "gateway.listening");
  return { url: `http://127.0.0.1:${Number(port)}`, process: started };
}

beforeAll(async () => {
  installation = await startInstallation();
  person = await signIn(installation);
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
  gateways = await Promise.all([startGateway(), startGateway()]);
}, 30_000);
afterAll(async () => {
  for (const { process } of gateways) {
    process.kill("SIGTERM");
    await process.finish();
  }
  await installation.stop();
});

const ECHO = "return await tools.executor.echo({ value: 42 })";
const marked = () => person.executor.keys.create({ role: "agent", label: "agent", mayElicit: true });
const urlOf = (index: number): string => gateways[index]?.url ?? "";

async function post(url: string, body: unknown, token: string, session?: string) {
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(session !== undefined && { "mcp-session-id": session }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const messages = [...text.matchAll(/^data: (\{.+)$/gm)].map(([, data]) => JSON.parse(data ?? "") as Message);
  return { status: response.status, messages, session: response.headers.get("mcp-session-id") ?? "" };
}
interface Message {
  id?: string;
  method?: string;
  result?: { structuredContent?: { taskId: string; status: string; result?: unknown }; tools?: unknown[] };
}

async function openAt(url: string, token: string): Promise<string> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "x", version: "1" },
  };
  const { session } = await post(url, { jsonrpc: "2.0", id: 0, method: "initialize", params }, token);
  return session;
}
const executeCall = (id: number, code: string) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "execute", arguments: { code } },
});

for (const revision of revisions)
  test(`a client of ${revision} works through a gateway, with links to the console of the server`, async () => {
    const client = await connectMcp({
      url: urlOf(0),
      revision,
      token: (await person.executor.keys.create({ role: "agent", label: "a" })).token,
    });
    const { data } = await client.call("execute", { code: ECHO });
    const [pending] = data["waitingFor"] as { interactionId: string; url: string }[];
    expect(pending?.url).toBe(`${installation.url}/interactions/${pending?.interactionId}`);
    await person.executor.approvals.approve(pending?.interactionId ?? "");
    expect((await client.call("resume", { taskId: data.taskId })).data).toMatchObject({
      status: "completed",
      result: 42,
    });
    await client.close();
  }, 20_000);

test("a session that one opened is served by the others, and by the server; closed at one it is gone at all", async () => {
  const { token } = await marked();
  const session = await openAt(urlOf(0), token);
  for (const url of [urlOf(1), installation.url, urlOf(0)]) {
    const { status, messages } = await post(url, { jsonrpc: "2.0", id: 7, method: "tools/list" }, token, session);
    expect([status, messages[0]?.result?.tools?.length]).toEqual([200, 2]);
  }
  const headers = { "mcp-session-id": session };
  expect((await ask(urlOf(1), "DELETE /mcp", { token, headers })).status).toBe(200);
  for (const url of [urlOf(0), urlOf(1), installation.url])
    expect((await post(url, { jsonrpc: "2.0", id: 8, method: "ping" }, token, session)).status).toBe(404);
});

test("a question asked by one is answered through the other, and the call at the first goes on", async () => {
  const { token } = await marked();
  const session = await openAt(urlOf(0), token);
  const response = await fetch(`${urlOf(0)}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-session-id": session,
    },
    body: JSON.stringify(executeCall(1, ECHO)),
  });
  let text = "";
  const decoder = new TextDecoder();
  let isAnswered = false;
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const question = /^data: (\{.*"elicitation\/create".*)$/m.exec(text)?.[1];
    if (question === undefined || isAnswered) continue;
    isAnswered = true;
    const result = { action: "accept", content: { decision: "approve" } };
    const { id } = JSON.parse(question) as { id: string };
    expect((await post(urlOf(1), { jsonrpc: "2.0", id, result }, token, session)).status).toBe(202);
  }
  expect(text).toContain('"status":"completed","result":42');
}, 20_000);

test("a cancellation that reaches the other one cancels the task", async () => {
  const { token, actorId } = await marked();
  const session = await openAt(urlOf(0), token);
  const running = post(urlOf(0), executeCall(9, "await new Promise((go) => setTimeout(go, 60_000))"), token, session);
  const find = async () => (await person.executor.tasks.list({ actorId })).items[0];
  await until("it to run", async () => (await find())?.status === "running");
  await post(urlOf(1), { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } }, token, session);
  await until("the task to be cancelled", async () => (await find())?.status === "cancelled");
  await running;
}, 20_000);

test("kill -9 of the gateway that held the session: another takes it over", async () => {
  const { token } = await marked();
  const session = await openAt(urlOf(0), token);
  const { messages } = await post(urlOf(0), executeCall(1, ECHO), token, session);
  const { taskId = "" } = messages.at(-1)?.result?.structuredContent ?? {};
  gateways[0]?.process.kill("SIGKILL");
  await gateways[0]?.process.finish();
  const { items } = await person.executor.approvals.list({ taskId });
  await person.executor.approvals.approve(items[0]?.approvalId ?? "");
  const resume = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "resume", arguments: { taskId } } };
  const resumed = await post(urlOf(1), resume, token, session);
  expect(resumed.messages.at(-1)?.result?.structuredContent).toMatchObject({ taskId, status: "completed", result: 42 });
}, 20_000);

test("no source leads back to any of them: the server knows the ports of all", async () => {
  const third = await startGateway();
  const { token } = JSON.parse(readFileSync(join(installation.home, "owner-key"), "utf8")) as { token: string };
  const owner = createExecutor({ baseUrl: installation.url, token });
  const reasonFor = (url: string) =>
    owner.sources.probe(`${url}/mcp`).then(
      (found) => JSON.stringify(found),
      (error: unknown) => String(error),
    );
  for (const url of [installation.url, urlOf(0), urlOf(1), third.url]) {
    const { port } = new URL(url);
    await until(`port ${port} to be known`, async () => (await reasonFor(url)).includes("itself"));
  }
  const files = () => readdirSync(join(installation.home, "run")).filter((name) => name.startsWith("gateway-port"));
  expect(files()).toHaveLength(3);
  third.process.kill("SIGTERM");
  await third.process.finish();
  expect(files()).toHaveLength(2);
}, 20_000);

test("a gateway serves nothing else", async () => {
  for (const route of ["GET /api/health", "GET /", "GET /api/tasks", "GET /interactions/x"])
    expect([route, (await ask(urlOf(1), route)).status]).toEqual([route, 404]);
  expect((await ask(urlOf(1), "GET /health")).status).toBe(200);
  expect((await ask(urlOf(1), "GET /health", { headers: { host: "evil.example.com" } })).status).toBe(403);
});
