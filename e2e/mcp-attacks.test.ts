/**
 * A client that tries to approve by every means it has: arguments, answers nobody asked for, states that were changed, borrowed
 * or used before, answers from another session. Nothing it sends decides; what was waiting goes on waiting.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { ask, type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

let installation: Installation;
let person: Person;
beforeAll(async () => {
  installation = await startInstallation({ env: { MCP_CALL_WAIT_MS: "1500" } });
  person = await signIn(installation);
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
}, 30_000);
afterAll(() => installation.stop());

const ECHO = "return await tools.executor.echo({ value: 42 })";
const APPROVE = { action: "accept", content: { decision: "approve" } };
const newKey = (mayElicit: boolean) => person.executor.keys.create({ role: "agent", label: "agent", mayElicit });
let token: string;
beforeEach(async () => {
  ({ token } = await newKey(true));
});

const pendingOf = async (taskId: string) =>
  until("an approval", async () => (await person.executor.approvals.list({ status: "pending", taskId })).items[0]);
async function expectStillWaiting(taskId: string): Promise<void> {
  await Bun.sleep(150);
  expect((await person.executor.tasks.get(taskId)).status).toBe("waiting");
  expect((await person.executor.approvals.list({ taskId })).items.map(({ status }) => status)).not.toContain(
    "approved",
  );
}

interface Rpc {
  status: number;
  messages: Message[];
  session: string | null;
}
interface Message {
  id?: string | number;
  method?: string;
  result?: Record<string, never> & {
    structuredContent?: { taskId: string; status: string };
    requestState?: string;
    inputRequests?: object;
    resultType?: string;
  };
  error?: { code: number; message: string };
}

async function post(body: unknown, headers: Record<string, string>, bearer = token): Promise<Rpc> {
  const response = await fetch(`${installation.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${bearer}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const lines = (response.headers.get("content-type") ?? "").includes("event-stream")
    ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data ?? "")
    : [text].filter(Boolean);
  return {
    status: response.status,
    messages: lines.map((line) => JSON.parse(line) as Message),
    session: response.headers.get("mcp-session-id"),
  };
}

/** Revision 2026-07-28: a request for itself. */
function stateless(name: string, input: object, more: object = {}, bearer = token): Promise<Rpc> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "attacker", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  return post(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input, _meta, ...more } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name },
    bearer,
  );
}

async function askedState(bearer = token): Promise<{ requestState: string; interactionId: string; taskId: string }> {
  const { messages } = await stateless("execute", { code: ECHO }, {}, bearer);
  const { result } = messages[0] ?? {};
  expect(result?.resultType).toBe("input_required");
  const interactionId = Object.keys(result?.inputRequests ?? {})[0] ?? "";
  const { taskId } = await person.executor.approvals.get(interactionId);
  return { requestState: result?.requestState ?? "", interactionId, taskId };
}

describe("2026-07-28", () => {
  const code = { code: ECHO };

  test("the honest way works: so what fails below fails for its own reason", async () => {
    const { requestState, interactionId } = await askedState();
    const { messages } = await stateless("execute", code, {
      requestState,
      inputResponses: { [interactionId]: APPROVE },
    });
    expect(messages[0]?.result?.structuredContent).toMatchObject({ status: "completed", result: 42 });
  });

  test("a state that was changed, cut, swapped or made up is refused as a bad parameter", async () => {
    const { requestState, interactionId, taskId } = await askedState();
    const [version, body = ""] = requestState.split(".");
    const flipped = body.slice(0, 40) + (body[40] === "A" ? "B" : "A") + body.slice(41);
    const forged = [
      `${version}.${flipped}`,
      requestState.slice(0, -4),
      `${requestState}A`,
      `v2.${body}`,
      "",
      Buffer.from(JSON.stringify({ taskId, asked: [{ interactionId }] })).toString("base64url"),
      `v1.${Buffer.from(JSON.stringify({ until: 9e15, content: { taskId } })).toString("base64url")}`,
      "A".repeat(40_000),
    ];
    for (const state of forged) {
      const { messages } = await stateless("execute", code, {
        requestState: state,
        inputResponses: { [interactionId]: APPROVE },
      });
      expect([state.slice(0, 20), messages[0]?.error?.code]).toEqual([state.slice(0, 20), -32_602]);
    }
    await expectStillWaiting(taskId);
  });

  test("another key's state does not open, not even in the same workspace and for a marked key", async () => {
    const { requestState, interactionId, taskId } = await askedState();
    const { token: other } = await newKey(true);
    const { messages } = await stateless(
      "execute",
      code,
      { requestState, inputResponses: { [interactionId]: APPROVE } },
      other,
    );
    expect(messages[0]?.error?.code).toBe(-32_602);
    const stranger = await signIn(installation);
    const foreign = await stranger.executor.keys.create({ role: "agent", label: "x", mayElicit: true });
    expect(
      (await stateless("execute", code, { requestState, inputResponses: { [interactionId]: APPROVE } }, foreign.token))
        .messages[0]?.error?.code,
    ).toBe(-32_602);
    await expectStillWaiting(taskId);
  });

  test("a state goes with its own request only", async () => {
    const { requestState, interactionId, taskId } = await askedState();
    const inputResponses = { [interactionId]: APPROVE };
    for (const [name, input] of [
      ["execute", { code: `${ECHO};` }],
      ["run_code", code],
      ["resume", { taskId }],
    ] as const)
      expect((await stateless(name, input, { requestState, inputResponses })).messages[0]?.error?.code).toBe(-32_602);
    await expectStillWaiting(taskId);
  });

  test("answers without a state, and for what was not asked in it, count for nothing", async () => {
    const [first, second] = [await askedState(), await askedState()];
    await stateless("resume", { taskId: first.taskId }, { inputResponses: { [first.interactionId]: APPROVE } });
    await stateless("execute", code, {
      requestState: first.requestState,
      inputResponses: { [second.interactionId]: APPROVE, ["__proto__"]: APPROVE },
    });
    await expectStillWaiting(first.taskId);
    await expectStillWaiting(second.taskId);
  });

  test("a state that was used decides nothing more: the next approval of the task waits", async () => {
    const twice = { code: "await tools.executor.echo({ value: 1 }); return await tools.executor.echo({ value: 2 })" };
    const { messages } = await stateless("execute", twice);
    const interactionId = Object.keys(messages[0]?.result?.inputRequests ?? {})[0] ?? "";
    const requestState = messages[0]?.result?.requestState ?? "";
    const { taskId } = await person.executor.approvals.get(interactionId);
    const answer = { requestState, inputResponses: { [interactionId]: APPROVE } };
    await stateless("execute", twice, answer);
    const next = await pendingOf(taskId);
    expect(next.approvalId).not.toBe(interactionId);
    await stateless("execute", twice, answer);
    await stateless("execute", twice, { requestState, inputResponses: { [next.approvalId]: APPROVE } });
    expect((await person.executor.approvals.get(next.approvalId)).status).toBe("pending");
  });

  test("a denial cannot be turned around by sending the state again", async () => {
    const { requestState, interactionId, taskId } = await askedState();
    await person.executor.approvals.deny(interactionId);
    await stateless("execute", code, { requestState, inputResponses: { [interactionId]: APPROVE } });
    expect((await person.executor.approvals.get(interactionId)).status).toBe("denied");
    await until("the end", async () => (await person.executor.tasks.get(taskId)).status === "denied");
  });

  test("a key that nobody marked is never asked, and its answers count for nothing", async () => {
    const { token: plain } = await newKey(false);
    const { messages } = await stateless("execute", code, {}, plain);
    const { taskId, status } = messages[0]?.result?.structuredContent ?? { taskId: "", status: "" };
    expect(status).toBe("waiting");
    const { approvalId } = await pendingOf(taskId);
    await stateless("resume", { taskId }, { inputResponses: { [approvalId]: APPROVE } }, plain);
    await expectStillWaiting(taskId);
  });

  test("a key that was revoked after it was asked decides nothing", async () => {
    const { token: short, keyId } = await newKey(true);
    const { requestState, interactionId, taskId } = await askedState(short);
    await person.executor.keys.remove(keyId);
    const { status } = await stateless(
      "execute",
      code,
      { requestState, inputResponses: { [interactionId]: APPROVE } },
      short,
    );
    expect(status).toBe(401);
    await expectStillWaiting(taskId);
  });
});

describe("2025-11-25", () => {
  async function openSession(bearer = token): Promise<Record<string, string>> {
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: { elicitation: { form: {} } },
      clientInfo: { name: "a", version: "1" },
    };
    const { session } = await post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, {}, bearer);
    const headers = { "mcp-session-id": session ?? "", "mcp-protocol-version": "2025-11-25" };
    await post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers, bearer);
    return headers;
  }
  /** Until the call comes back; it waits for an answer as long as it may. */
  async function askIn(headers: Record<string, string>, bearer = token) {
    const { messages } = await post(
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "execute", arguments: { code: ECHO } } },
      headers,
      bearer,
    );
    const question = messages.find(({ method }) => method === "elicitation/create");
    const { taskId, status } = messages.at(-1)?.result?.structuredContent ?? { taskId: "", status: "" };
    expect(status).toBe("waiting");
    return { id: question?.id, taskId };
  }
  const answer = (id: unknown) => ({ jsonrpc: "2.0", id, result: APPROVE });

  test("an answer that comes after the call gave up waiting still counts, once", async () => {
    const headers = await openSession();
    const { id, taskId } = await askIn(headers);
    expect((await post(answer(id), headers)).status).toBe(202);
    await until("the end", async () => (await person.executor.tasks.get(taskId)).status === "completed");
    expect((await post(answer(id), headers)).status).toBe(202);
  });

  test("an answer from another session does not count: same key, other key, other workspace", async () => {
    const headers = await openSession();
    const { id, taskId } = await askIn(headers);
    const { token: other } = await newKey(true);
    const stranger = await signIn(installation);
    const foreign = await stranger.executor.keys.create({ role: "agent", label: "x", mayElicit: true });
    for (const bearer of [token, other, foreign.token]) await post(answer(id), await openSession(bearer), bearer);
    await expectStillWaiting(taskId);
    // Nor in the session itself by another key: it is not there for it.
    expect((await post(answer(id), headers, other)).status).toBe(404);
    await expectStillWaiting(taskId);
  });

  test("answers to questions that were never asked count for nothing", async () => {
    const headers = await openSession();
    const { id, taskId } = await askIn(headers);
    const { approvalId } = await pendingOf(taskId);
    const ids = [
      approvalId,
      0,
      1,
      null,
      "ask.",
      `ask.${approvalId}`,
      `${String(id)}x`,
      String(id).slice(0, -2),
      `ask.v1.${"A".repeat(80)}`,
    ];
    for (const guess of ids) await post(answer(guess), headers);
    await post([answer(approvalId), answer(`ask.${approvalId}`)], headers);
    await expectStillWaiting(taskId);
  });

  test("an unmarked key is not asked; what it borrows from a marked one does not count", async () => {
    const { token: plain } = await newKey(false);
    const own = await openSession(plain);
    const unasked = await askIn(own, plain);
    expect(unasked.id).toBeUndefined();
    const { id, taskId } = await askIn(await openSession());
    await post(answer(id), own, plain);
    await expectStillWaiting(taskId);
    await expectStillWaiting(unasked.taskId);
  });

  test("several messages in one body are each counted, and never too many", async () => {
    const headers = await openSession();
    const many = (count: number) => Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    const { status, messages } = await post(many(32), headers);
    expect([status, messages.filter(({ result }) => result).length]).toEqual([200, 32]);
    expect((await post(many(33), headers)).status).toBe(400);
    const strict = await startInstallation({ workers: 0, env: { EXECUTOR_LIMIT_REQUESTS_PER_MINUTE: "60" } });
    const batch = () =>
      ask(strict.url, "POST /mcp", { body: many(32), headers: { accept: "application/json, text/event-stream" } });
    // No session: what is told apart here is only whether it was counted.
    expect([(await batch()).status, (await batch()).status]).toEqual([400, 429]);
    await strict.stop();
  }, 20_000);

  test("sessions: guessed and closed ones are not found, and a bearer has a bounded number", async () => {
    const headers = await openSession();
    const ping = { jsonrpc: "2.0", id: 5, method: "ping" };
    expect((await post(ping, headers)).status).toBe(200);
    expect((await post(ping, {})).status).toBe(400);
    expect((await post(ping, { ...headers, "mcp-session-id": `mcp_${"A".repeat(43)}` })).status).toBe(404);
    const gone = await ask(installation.url, "DELETE /mcp", { token, headers });
    expect(gone.status).toBe(200);
    expect((await post(ping, headers)).status).toBe(404);
    expect((await ask(installation.url, "DELETE /mcp", { token, headers })).status).toBe(404);
    const first = await openSession();
    for (let count = 0; count < 100; count++) await openSession();
    expect((await post(ping, first)).status).toBe(404);
  }, 30_000);
});

test("no tool, argument, metadata or REST route decides for a marked agent key either", async () => {
  const { taskId } = await askedState();
  const { approvalId } = await pendingOf(taskId);
  const extras = [
    { decision: "approved" },
    { approve: true },
    { answer: "approve" },
    { inputResponses: { [approvalId]: APPROVE } },
  ];
  for (const extra of extras) {
    await stateless("resume", { taskId, ...extra });
    await stateless("execute", { code: "return 1", ...extra });
    await stateless("execute", { code: "return 1", metadata: { taskId, approvalId, ...extra } });
  }
  for (const name of ["approve", "decide", "tools.executor.approve", "approvals.decide"])
    expect((await stateless(name, { taskId, approvalId })).messages[0]?.error?.code).toBe(-32_602);
  const body = { workspaceId: person.workspaceId, decision: "approved" };
  expect((await ask(installation.url, `POST /api/approvals/${approvalId}`, { token, body })).status).toBe(403);
  const inside = await stateless("execute", {
    code: `return await tools.executor.approvals.approve({ approvalId: "${approvalId}" })`,
  });
  expect(JSON.stringify(inside.messages)).toContain("There is no tool");
  await expectStillWaiting(taskId);
});
