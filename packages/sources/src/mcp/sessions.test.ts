/** Sessions that end while they are used: what may be sent again is, and what may not is never sent twice. */
import { afterEach, expect, test } from "bun:test";
import type { Answered } from "@executor/core/tools/tool";
import { type OpenServer, openServer } from "@executor/testkit/mcp/open-server";
import {
  type RawHandler,
  type RawServer,
  result,
  type RpcMessage,
  startRawServer,
  textResult,
  toolList,
} from "@executor/testkit/mcp/raw-server";

const running: { server: RawServer; opened: OpenServer }[] = [];
afterEach(async () => {
  for (const { server, opened } of running.splice(0)) {
    await opened.close();
    await server.stop();
  }
});

const tools = toolList({ name: "look", annotations: { readOnlyHint: true } }, { name: "change" });

/** A server with sessions that forgets them all on `restart`. */
async function withSessions(call: RawHandler = () => textResult("done")) {
  let count = 0;
  let known = new Set<string>();
  const server = startRawServer((message, request) => {
    if (message.method === "initialize") {
      const session = `s${++count}`;
      known.add(session);
      const body = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "x", version: "1" },
      };
      return Response.json(
        { jsonrpc: "2.0", id: message.id, result: body },
        { headers: { "mcp-session-id": session } },
      );
    }
    const session = request.headers.get("mcp-session-id");
    if (session !== null && !known.has(session)) return new Response("no such session", { status: 404 });
    if (message.method === "tools/list") return tools;
    if (message.method === "ping") return result({});
    return message.method === "tools/call" ? call(message, request) : undefined;
  });
  const opened = await openServer(server.url);
  running.push({ server, opened });
  const calls = () => server.seen.filter(({ method }) => method === "tools/call");
  return { server, opened, calls, restart: () => void (known = new Set()) };
}

test("a safe call into a dead session opens a new one and is sent again, once", async () => {
  const { opened, calls, restart } = await withSessions();
  expect(await opened.call("look")).toMatchObject({ ok: true });
  restart();
  expect(await opened.call("look")).toMatchObject({ ok: true });
  expect(calls()).toHaveLength(3);
});

test("an unsafe call into a dead session is not sent again, and the next one works", async () => {
  const { opened, calls, restart } = await withSessions();
  expect(await opened.call("change")).toMatchObject({ ok: true });
  restart();
  const sent = await opened.call("change");
  expect(sent).toMatchObject({ ok: false, status: 404, message: expect.stringContaining("not sent a second time") });
  expect(calls()).toHaveLength(2);
  expect(await opened.call("change")).toMatchObject({ ok: true });
});

test("a session that rested is asked before an unsafe call, so that a restart costs nothing", async () => {
  const { opened, calls, restart, server } = await withSessions();
  expect(await opened.call("change")).toMatchObject({ ok: true });
  restart();
  await Bun.sleep(1_100);
  expect(await opened.call("change")).toMatchObject({ ok: true });
  expect(calls()).toHaveLength(2);
  expect(server.seen.filter(({ method }) => method === "ping")).toHaveLength(1);
});

test("that another request of the session was refused says nothing about a call", async () => {
  const calls: RpcMessage[] = [];
  const { opened } = await withSessions((message) => {
    calls.push(message);
    return Response.json({ jsonrpc: "2.0", id: message.id, error: { code: -32_603, message: "broken" } });
  });
  // The GET stream is answered with 405 by this server.
  const sent = await opened.call("look");
  expect(sent).toMatchObject({ ok: false, code: "call.upstream_error" });
  expect(sent).not.toHaveProperty("status");
  expect(calls).toHaveLength(1);
});

test("a server that says that headers and body differ is not called a second time behind our back", async () => {
  const { opened, calls } = await withSessions(({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32_020, message: "header mismatch" } }),
  );
  expect(await opened.call("change")).toMatchObject({ ok: false });
  expect(calls()).toHaveLength(1);
});

/** What a server asks in the middle of a call, and what it was answered. */
async function withQuestion(method: string, params: object) {
  const answers: unknown[] = [];
  const waiting = new Map<unknown, (answer: unknown) => void>();
  const server = startRawServer((message) => {
    if (message.method === undefined && message.id !== undefined) {
      waiting.get(message.id)?.(message);
      return new Response(null, { status: 202 });
    }
    if (message.method === "tools/list") return tools;
    if (message.method !== "tools/call") return undefined;
    const body = new ReadableStream({
      async start(controller) {
        const push = (value: object) => controller.enqueue(`data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}\n\n`);
        const id = `q${waiting.size}`;
        const { promise, resolve } = Promise.withResolvers<unknown>();
        waiting.set(id, resolve);
        push({ id, method, params });
        answers.push(await promise);
        push({ id: message.id, ...textResult("went on") });
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  const opened = await openServer(server.url);
  running.push({ server, opened });
  return { opened, answers, calls: () => server.seen.filter((each) => each.method === "tools/call") };
}

const form = {
  mode: "form",
  message: "Which?",
  requestedSchema: {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number", default: 7 } },
    required: ["a", "b"],
  },
};

const asking = async () => {
  const parts = await withQuestion("elicitation/create", form);
  const asked = await parts.opened.call("change");
  if (!("kind" in asked)) throw new Error(`not asked: ${JSON.stringify(asked)}`);
  const about = { kind: "elicitation", stateJson: asked.ask.stateJson ?? null } as const;
  return { ...parts, asked, answer: (answer: unknown): Answered => ({ ...about, answer }), about };
};

test("a question in the middle keeps the call open; with the answer that very call goes on", async () => {
  const { opened, answers, calls, asked, answer } = await asking();
  expect(asked).toMatchObject({ isOpen: true, ask: { title: "Pets asks: Which?", answerSchema: { required: ["a"] } } });
  expect(answers).toEqual([]);
  expect(await opened.goOn("change", { answers: [answer({ a: "x" })] })).toEqual({ ok: true, json: '"went on"' });
  expect(answers).toMatchObject([{ result: { action: "accept", content: { a: "x", b: 7 } } }]);
  expect(calls()).toHaveLength(1);
  expect(await opened.goOn("change", { answers: [answer({ a: "x" })] })).toBeNull();
});

test("when the open call is gone nothing goes on by itself; sent anew it has the answer, and the person is not asked twice", async () => {
  const { opened, answers, calls, answer } = await asking();
  await opened.close();
  expect(await opened.goOn("change", { answers: [answer({ a: "x" })] })).toBeNull();
  expect(calls()).toHaveLength(1);
  expect(await opened.call("change", { answers: [answer({ a: "x" })] })).toEqual({ ok: true, json: '"went on"' });
  expect(calls()).toHaveLength(2);
  expect(answers.at(-1)).toMatchObject({ result: { action: "accept" } });
});

test.each(["decline", "cancel"] as const)("a server hears at once that nobody answers: %s", async (refused) => {
  const { opened, answers, about } = await asking();
  const sent = await opened.goOn("change", { answers: [{ ...about, answer: undefined, refused }] });
  expect(sent).toEqual({ ok: true, json: '"went on"' });
  expect(answers).toMatchObject([{ result: { action: refused } }]);
});

const password = {
  mode: "form",
  message: "Log in",
  requestedSchema: { type: "object", properties: { password: { type: "string" } } },
};
const refusals: [what: string, method: string, params: object, says: string, answer: object][] = [
  [
    "a model",
    "sampling/createMessage",
    { messages: [], maxTokens: 1 },
    "",
    { error: { code: -32_601, message: expect.stringContaining("sampling/createMessage is not offered") } },
  ],
  [
    "its roots",
    "roots/list",
    {},
    "",
    { error: { code: -32_601, message: expect.stringContaining("roots/list is not offered") } },
  ],
  [
    "a secret in a form",
    "elicitation/create",
    password,
    "asked for a secret in a form",
    { result: { action: "decline" } },
  ],
  [
    "a page that is none",
    "elicitation/create",
    { mode: "url", elicitationId: "e", message: "Go", url: "javascript:alert(1)" },
    "no http or https URL",
    { result: { action: "decline" } },
  ],
];
test.each(refusals)("a server that asks for %s is refused, and told so", async (_, method, params, says, answer) => {
  const { opened, answers } = await withQuestion(method, params);
  const sent = await opened.call("change");
  expect(answers).toMatchObject([answer]);
  if (says === "") expect(sent).toEqual({ ok: true, json: '"went on"' });
  else expect(sent).toMatchObject({ ok: false, code: "call.upstream_error", message: expect.stringContaining(says) });
});
