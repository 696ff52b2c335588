/** Our own MCP endpoint with real clients of both revisions, on a real installation. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask, type Person, signIn } from "./support/api.ts";
import { type Answer, type ClientOptions, connectMcp, type McpClient, revisions } from "./support/mcp-client.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let person: Person;
const open: McpClient[] = [];
beforeAll(async () => {
  installation = await startInstallation({ env: { MCP_CALL_WAIT_MS: "4000" } });
  person = await signIn(installation);
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
}, 30_000);
afterAll(async () => {
  await Promise.all(open.map((each) => each.close().catch(() => undefined)));
  await installation.stop();
});

const keyFor = (mayElicit: boolean) => person.executor.keys.create({ role: "agent", label: "agent", mayElicit });

async function connect(options: Partial<ClientOptions> & { mayElicit?: boolean }): Promise<McpClient> {
  const { token } = options.token === undefined ? await keyFor(options.mayElicit === true) : { token: options.token };
  const client = await connectMcp({ url: installation.url, ...options, token });
  open.push(client);
  return client;
}

const accept = (content: Record<string, unknown>): Answer => ({ action: "accept", content });
const ECHO = "return await tools.executor.echo({ value: 42 })";

for (const revision of revisions) {
  describe(`a client of ${revision}`, () => {
    test("finds two small tools and runs code, with logs, calls and progress", async () => {
      const { client, call } = await connect({ revision });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["execute", "resume"]);
      const said: string[] = [];
      const answer = await call(
        "execute",
        {
          code: `console.log("on the way");\nawait new Promise((go) => setTimeout(go, 900));\nreturn (await tools.discover({ query: "echo" })).total`,
        },
        { onprogress: ({ message }) => said.push(message ?? "") },
      );
      expect(answer.isError).toBe(false);
      expect(answer.data).toMatchObject({
        status: "completed",
        logs: { lines: ["on the way"] },
        calls: [{ toolPath: "discover", status: "completed" }],
      });
      expect(answer.text).toContain("on the way");
      expect(said.length).toBeGreaterThan(0);
      // The old name.
      expect((await call("run_code", { code: "return 1 + 1" })).data).toMatchObject({ status: "completed", result: 2 });
    });

    test("code that does not fit its tools comes back with places and hints, and nothing has run", async () => {
      const { call } = await connect({ revision });
      const before = (await person.executor.tasks.list({ limit: 200 })).items.length;
      const answer = await call("execute", {
        code: `const x = 1;\nawait tools.executor.ecko({ value: x });\nawait tools.discover({ limit: 3 });\nreturn fetch("https://a.b")`,
      });
      expect(answer.isError).toBe(true);
      expect(answer.text.split("\n")).toEqual([
        expect.stringMatching(/^2:22 There is no tool executor\.ecko\. Nearest: tools\.executor\.echo\.$/),
        expect.stringMatching(/^3:22 .*query.* tools\.discover is \(input: \{ query: string;/),
        expect.stringMatching(/^4:8 Cannot find name 'fetch'.*no network/),
      ]);
      expect((await person.executor.tasks.list({ limit: 200 })).items.length).toBe(before);
    });

    test("failures, unknown tools and wrong arguments are told as such", async () => {
      const { client, call } = await connect({ revision });
      const failed = await call("execute", { code: `throw new Error("not today")` });
      expect([failed.isError, failed.data.status]).toEqual([true, "failed"]);
      expect(failed.text).toContain("not today");
      expect((await call("execute", { code: "return 1", approve: true })).text).toContain("arguments");
      expect((await call("resume", { taskId: "task_nobody" })).text).toContain("There is no task task_nobody");
      await expect(client.callTool({ name: "approve", arguments: {} })).rejects.toThrow(/Unknown tool/);
    });

    test("a large result is cut, and read on with resume", async () => {
      const { call } = await connect({ revision });
      const whole = JSON.stringify(Array.from({ length: 6_000 }, (_, index) => `row ${index}`));
      const first = await call("execute", { code: "return Array.from({ length: 6000 }, (_, i) => `row ${i}`)" });
      expect(first.data["result"]).toBeUndefined();
      expect(JSON.stringify(first.data).length).toBeLessThan(12_000);
      let text = String(first.data["resultPreview"]);
      let more = first.data["more"] as { taskId: string; offset: number } | undefined;
      while (more) {
        const part = await call("resume", { taskId: more.taskId, offset: more.offset });
        text += part.text;
        more = part.data["more"] as typeof more;
      }
      expect(text).toBe(whole);
    });

    test("where the person cannot be asked: the link at once, and resume has the outcome after a decision elsewhere", async () => {
      // The client could ask, but nobody said that a person is behind this key.
      const { call, asked } = await connect({ revision, answer: () => accept({ decision: "approve" }) });
      const startedAt = performance.now();
      const waiting = await call("execute", { code: ECHO });
      expect(performance.now() - startedAt).toBeLessThan(3_500);
      expect([waiting.isError, waiting.data.status, asked]).toEqual([false, "waiting", []]);
      const [pending] = waiting.data["waitingFor"] as { interactionId: string; url: string }[];
      expect(pending?.url).toBe(`${installation.url}/interactions/${pending?.interactionId}`);
      expect(waiting.text).toContain(pending?.url ?? "-");
      const resumed = call("resume", { taskId: waiting.data.taskId });
      await Bun.sleep(300);
      await person.executor.approvals.approve(pending?.interactionId ?? "");
      expect((await resumed).data).toMatchObject({ taskId: waiting.data.taskId, status: "completed", result: 42 });
      expect((await call("resume", { taskId: waiting.data.taskId })).data).toMatchObject({ result: 42 });
    });

    test("resume of a task that keeps waiting comes back in time", async () => {
      const { call } = await connect({ revision });
      const { data } = await call("execute", { code: ECHO });
      const startedAt = performance.now();
      expect((await call("resume", { taskId: data.taskId })).data.status).toBe("waiting");
      expect(performance.now() - startedAt).toBeLessThan(8_000);
    }, 15_000);

    test("behind a marked key the person sees tool, input and reason, and approves", async () => {
      const { call, asked } = await connect({
        revision,
        mayElicit: true,
        answer: () => accept({ decision: "approve", reason: "fine" }),
      });
      const { data } = await call("execute", { code: ECHO });
      expect(data).toMatchObject({ status: "completed", result: 42 });
      expect(asked).toHaveLength(1);
      for (const part of ["executor.echo", `{"value":42}`, "require_approval"])
        expect(asked[0]?.message).toContain(part);
      const { items } = await person.executor.approvals.list({ taskId: data.taskId });
      expect(items).toMatchObject([{ status: "approved", reason: "fine" }]);
      const audit = await person.executor.audit.list({ action: "approval.approved" });
      expect(audit.items.find(({ subject }) => subject === items[0]?.approvalId)?.clientId).toBe("mcp-elicitation");
    });

    for (const [name, answer] of [
      ["declined", { action: "decline" }],
      ["denied in the form", accept({ decision: "deny", reason: "no" })],
    ] as const)
      test(`${name}: the code gets the denial`, async () => {
        const { call } = await connect({ revision, mayElicit: true, answer: () => answer as Answer });
        const { data, isError } = await call("execute", { code: ECHO });
        expect([isError, data.status]).toEqual([true, "denied"]);
      });

    test("cancelled: it waits on, is asked no more in this call, and the console still decides", async () => {
      const { call, asked } = await connect({ revision, mayElicit: true, answer: () => ({ action: "cancel" }) });
      const { data } = await call("execute", { code: ECHO });
      expect([data.status, asked.length]).toEqual(["waiting", 1]);
      const [pending] = data["waitingFor"] as { interactionId: string }[];
      await person.executor.approvals.approve(pending?.interactionId ?? "");
      expect((await call("resume", { taskId: data.taskId })).data).toMatchObject({ status: "completed", result: 42 });
    });

    test("several approvals, one after the other and at once, and a question with options", async () => {
      const { call, asked } = await connect({
        revision,
        mayElicit: true,
        answer: ({ message }) =>
          message.includes("Which one") ? accept({ answer: "b" }) : accept({ decision: "approve" }),
      });
      const { data } = await call("execute", {
        code: `const echo = (value: number) => tools.executor.echo({ value });
          const both = await Promise.all([echo(1), echo(2)]);
          const third = await echo(3);
          return [...both, third, await tools.human.ask({ question: "Which one?", options: ["a", "b"] })];`,
      });
      expect(data).toMatchObject({ status: "completed", result: [1, 2, 3, "b"] });
      expect(asked).toHaveLength(4);
    });

    test("a client that can open links gets one, and what is done there is what counts", async () => {
      const { call, asked } = await connect({
        revision,
        modes: { url: {} },
        answer: async ({ url }) => {
          const id = decodeURIComponent(String(url).split("/").at(-1) ?? "");
          setTimeout(() => void person.executor.approvals.approve(id), 300);
          return { action: "accept" };
        },
      });
      expect((await call("execute", { code: ECHO })).data).toMatchObject({ status: "completed", result: 42 });
      expect(asked).toMatchObject([{ mode: "url" }]);
    });

    test("a call that is cancelled cancels its task", async () => {
      const { call } = await connect({ revision });
      const giveUp = new AbortController();
      const label = crypto.randomUUID();
      const running = call(
        "execute",
        { code: "await new Promise((go) => setTimeout(go, 60_000))", metadata: { label } },
        { signal: giveUp.signal },
      ).catch(() => "gave up");
      const find = async () =>
        (await person.executor.tasks.list()).items.find(({ metadata }) => metadata["label"] === label);
      await until("it to run", async () => (await find())?.status === "running");
      giveUp.abort();
      expect(await running).toBe("gave up");
      await until("the task to be cancelled", async () => (await find())?.status === "cancelled");
    });

    test("kill -9 of the server: the same client goes on, and resumes the same task", async () => {
      const { call } = await connect({ revision, mayElicit: true, answer: () => ({ action: "cancel" }) });
      const { data } = await call("execute", { code: ECHO });
      const [pending] = data["waitingFor"] as { interactionId: string }[];
      await installation.killServer();
      await installation.startServer();
      await person.executor.approvals.approve(pending?.interactionId ?? "");
      expect((await call("resume", { taskId: data.taskId })).data).toMatchObject({
        taskId: data.taskId,
        status: "completed",
        result: 42,
      });
      expect((await call("execute", { code: "return 'again'" })).data).toMatchObject({ result: "again" });
    }, 30_000);
  });
}

test("2025-11-25: a stream that breaks in the middle of a call is taken up again where it broke", async () => {
  const { token } = await keyFor(false);
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (message: object, signal: AbortSignal | null = null) =>
    fetch(`${installation.url}/mcp`, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      signal,
    });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const opened = await post({ id: 0, method: "initialize", params });
  await opened.text();
  headers["mcp-session-id"] = opened.headers.get("mcp-session-id") ?? "";
  headers["mcp-protocol-version"] = "2025-11-25";
  const broken = new AbortController();
  const code = "await new Promise((go) => setTimeout(go, 1_000)); return 'after the break'";
  const call = await post(
    { id: 1, method: "tools/call", params: { name: "execute", arguments: { code } } },
    broken.signal,
  );
  const first = await call.body?.getReader().read();
  const lastId = /^id: (.+)$/m.exec(new TextDecoder().decode(first?.value))?.[1] ?? "";
  broken.abort();
  const again = await fetch(`${installation.url}/mcp`, { headers: { ...headers, "last-event-id": lastId } });
  expect(again.status).toBe(200);
  expect(await again.text()).toContain("after the break");
  const unknown = await fetch(`${installation.url}/mcp`, { headers: { ...headers, "last-event-id": "made-up_1" } });
  expect(unknown.status).toBe(400);
  await unknown.body?.cancel();
}, 15_000);

test("nobody without a bearer gets in through a proxy, another name, or where it was switched off", async () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
  };
  const accepts = { accept: "application/json, text/event-stream" };
  const say = (headers: Record<string, string>, url = installation.url) =>
    ask(url, "POST /mcp", { body: initialize, headers: { ...accepts, ...headers } });
  expect((await say({})).status).toBe(200);
  for (const name of [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-real-ip",
    "via",
    "cf-connecting-ip",
    "tailscale-user-login",
  ]) {
    const { status, headers } = await say({ [name]: "127.0.0.1" });
    expect([name, status, headers.get("www-authenticate")]).toEqual([name, 401, "Bearer"]);
  }
  expect((await say({ host: "evil.example.com" })).status).toBe(403);
  expect((await say({ origin: "https://evil.example.com" })).status).toBe(403);
  expect((await say({ authorization: `Bearer ex_key_${"A".repeat(43)}` })).status).toBe(401);
  const settings: Record<string, string>[] = [
    { MCP_GATEWAY_REQUIRE_AUTH: "1" },
    { EXECUTOR_PUBLIC_URL: "https://executor.example.com" },
  ];
  for (const env of settings) {
    const strict = await startInstallation({ workers: 0, env });
    expect([env, (await say({}, strict.url)).status]).toEqual([env, 401]);
    await strict.stop();
  }
}, 30_000);

test("over the Convex store: sessions, questions and kill -9 are the same", async () => {
  const convex = await startInstallation({ store: "convex", env: { MCP_CALL_WAIT_MS: "8000" } });
  try {
    const admin = await signIn(convex);
    await admin.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
    const { token } = await admin.executor.keys.create({ role: "agent", label: "agent", mayElicit: true });
    for (const revision of revisions) {
      const answer = () => accept({ decision: "approve" });
      const client = await connectMcp({ url: convex.url, token, revision, answer });
      expect((await client.call("execute", { code: ECHO })).data).toMatchObject({ status: "completed", result: 42 });
      await convex.killServer();
      await convex.startServer();
      expect((await client.call("execute", { code: ECHO })).data).toMatchObject({ status: "completed", result: 42 });
      await client.close();
    }
  } finally {
    await convex.stop();
  }
}, 60_000);

test("a server that is told to stop answers calls that wait, and their tasks go on", async () => {
  const stopping = await startInstallation();
  try {
    const clients = await Promise.all(revisions.map((revision) => connectMcp({ url: stopping.url, revision })));
    const code = "await new Promise((go) => setTimeout(go, 1_500)); return 'done'";
    const calls = clients.map(({ call }) => call("execute", { code }));
    await Bun.sleep(500);
    stopping.server.kill("SIGTERM");
    const answers = await Promise.all(calls);
    expect(answers.map(({ data }) => data.status)).toEqual(["running", "running"]);
    await stopping.server.finish();
    await stopping.startServer();
    for (const [index, { call, close }] of clients.entries()) {
      const { taskId } = answers[index]?.data ?? { taskId: "" };
      expect((await call("resume", { taskId })).data).toMatchObject({ status: "completed", result: "done" });
      await close();
    }
  } finally {
    await stopping.stop();
  }
}, 30_000);

test("who comes without a bearer is an agent of the owner's workspace, and sees nobody else's", async () => {
  const client = await connectMcp({ url: installation.url, answer: () => accept({ decision: "approve" }) });
  open.push(client);
  const { data } = await client.call("execute", { code: "return 7" });
  expect(data).toMatchObject({ status: "completed", result: 7 });
  expect((await person.executor.tasks.list({ limit: 200 })).items.map(({ taskId }) => taskId)).not.toContain(
    data.taskId,
  );
  const theirs = await person.executor.tasks.create("return 1");
  expect((await client.call("resume", { taskId: theirs.taskId })).text).toContain("There is no task");
});
