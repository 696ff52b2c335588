/** MCP servers of both revisions on loopback: the suite of all kinds, and what only MCP has. */
import { describe, expect, test } from "bun:test";
import { createMcpHandler, inputRequired, inputResponse, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Ask, Answered, Sent, ToolCall } from "@executor/core/tools/tool";
import { describeSourceKind } from "@executor/testkit/conformance/source";
import { createLoopbackFetch } from "@executor/testkit/tools/loopback-fetch";
import { indexTools, toolName } from "./index-tools.ts";
import { mcpKind } from "./mcp-kind.ts";

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

function startServer() {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "test-server", version: "1.0.0" });
    const reads = { annotations: { readOnlyHint: true } };
    server.registerTool(
      "get-pet",
      { ...reads, description: "Get a pet", inputSchema: z.object({ id: z.number() }) },
      ({ id }) =>
        id === 1
          ? { ...text("Rex"), structuredContent: { id, name: "Rex" } }
          : { ...text("no such pet"), isError: true },
    );
    server.registerTool(
      "make_pet",
      { description: "Make a pet", inputSchema: z.object({ name: z.string() }) },
      ({ name }) => text(`made ${name}`),
    );
    server.registerTool("echo", { ...reads, description: "Show what was sent" }, (context) =>
      text(JSON.stringify([...(context.http?.req?.headers ?? new Headers())])),
    );
    server.registerTool("choose", { description: "Ask which one" }, (context) => {
      const requestedSchema = {
        type: "object" as const,
        properties: { region: { type: "string" as const } },
        required: ["region"],
      };
      const answer = inputResponse(context.mcpReq.inputResponses, "region");
      if (answer.kind !== "elicit")
        return inputRequired({
          inputRequests: { region: inputRequired.elicit({ message: "Which region?", requestedSchema }) },
        });
      return text(
        answer.action === "accept" ? `chose ${String(answer.content?.["region"])}` : `not chosen: ${answer.action}`,
      );
    });
    return server;
  });
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: (request) => handler.fetch(request),
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) };
}

describeSourceKind("mcp", async () => {
  const server = startServer();
  return {
    kind: mcpKind,
    definition: { type: "mcp", name: "Pets", url: server.url },
    fetch: createLoopbackFetch(),
    probeUrl: server.url,
    reads: { name: "get_pet", input: { id: 1 }, result: { id: 1, name: "Rex" } },
    writes: { name: "make_pet", input: { name: "Tom" } },
    fails: { name: "get_pet", input: { id: 2 } },
    misfit: { name: "make_pet", input: {} },
    echoes: {
      name: "echo",
      input: {},
      auth: (secret) => ({
        parts: [{ in: "header", name: "Authorization", value: `Bearer ${secret}` }],
        secrets: [secret],
      }),
    },
    stop: () => server.stop(),
  };
});

describe("names", () => {
  const cases: [given: string, name: string][] = [
    ["get-sum", "get_sum"],
    ["Get.Sum", "Get_Sum"],
    ["then", "then_tool"],
    ["__proto__", "proto_tool"],
    ["constructor", "constructor_tool"],
    ["日本", "tool"],
    ["2fa", "tool_2fa"],
    ["", "tool"],
  ];
  test.each(cases)("%s becomes %s", (given, name) => {
    expect(toolName(given)).toBe(name);
  });
  test("two that come to the same stay two, with a warning", () => {
    const { tools, warnings } = indexTools([{ name: "a-b" }, { name: "a.b" }, { name: "a_b" }]);
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(3);
    expect(warnings).toHaveLength(2);
  });
  const hints: [what: object | undefined, effect: "safe" | "unsafe", approval: "auto" | "required"][] = [
    [undefined, "unsafe", "required"],
    [{}, "unsafe", "required"],
    [{ readOnlyHint: true }, "safe", "auto"],
    [{ readOnlyHint: true, destructiveHint: false }, "safe", "auto"],
    [{ readOnlyHint: true, destructiveHint: true }, "unsafe", "required"],
    [{ readOnlyHint: false }, "unsafe", "required"],
    [{ destructiveHint: false }, "unsafe", "required"],
    [{ destructiveHint: true }, "unsafe", "required"],
    [{ idempotentHint: true }, "unsafe", "required"],
  ];
  test.each(hints)("the annotations %o", (annotations, effect, approval) => {
    expect(indexTools([{ name: "a", annotations }]).tools[0]).toMatchObject({ effect, approval, idempotent: false });
  });
  test("a changed description or schema changes the hash, and nothing else does", () => {
    const hash = (tool: object) => indexTools([{ name: "a", ...tool }]).tools[0]?.hash;
    expect(hash({ description: "x" })).toBe(hash({ description: "x" }));
    expect(hash({ description: "x" })).not.toBe(hash({ description: "y" }));
    expect(hash({ inputSchema: { type: "object" } })).not.toBe(hash({}));
  });
});

test("a server of 2026-07-28 that wants input first: the call is put off, and sent again with the answer", async () => {
  const server = startServer();
  const call = await open(server.url);
  try {
    const first = await call([]);
    if (!("kind" in first)) throw new Error(`no ask: ${JSON.stringify(first)}`);
    const ask: Ask = first.ask;
    expect(ask).toMatchObject({ kind: "elicitation", title: "Pets asks: Which region?" });
    expect(ask.answerSchema).toMatchObject({ properties: { region: { type: "string" } } });
    const answered: Answered = { kind: "elicitation", answer: { region: "north" }, stateJson: ask.stateJson ?? null };
    expect(await call([answered])).toEqual({ ok: true, json: '"chose north"' });
  } finally {
    await server.stop();
  }
});

async function open(url: string): Promise<(answers: Answered[]) => Promise<Sent>> {
  const fetch = createLoopbackFetch();
  const source = {
    sourceId: "s",
    workspaceId: "w",
    namespace: "pets",
    definition: { type: "mcp" as const, name: "Pets", url },
  };
  const auth = { parts: [], secrets: [] };
  const signal = AbortSignal.timeout(20_000);
  const index = await mcpKind.read(source, {
    fetch,
    auth,
    mayReachMachine: false,
    signal,
    onProgress: () => undefined,
  });
  const tools = mcpKind.open({ source, metaJson: index.metaJson, details: async () => index.details });
  const tool = index.tools.find(({ name }) => name === "choose");
  if (!tool) throw new Error("no tool");
  return async (answers) => {
    const ids = { taskId: "t", callId: "c", workspaceId: "w", actorId: "a", clientId: "l", toolPath: "pets.choose" };
    const call: ToolCall = { ...ids, input: {}, answer: answers.at(-1)?.answer, answers, signal };
    const prepared = await tools.prepare(tool, call, { fetch, auth, maxResultBytes: 1_000_000 });
    return prepared.kind === "ask" ? prepared : await prepared.send();
  };
}
