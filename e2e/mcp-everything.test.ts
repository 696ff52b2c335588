/**
 * What the conformance suite asks of fixture tools, on the path our product is about: a server that has them is a source, and they are
 * called through `execute`.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { connectMcp, type McpClient } from "./support/mcp-client.ts";
import { until } from "./support/until.ts";

const packageOf = (name: string): string => dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir));

let installation: Installation;
let person: Person;
let client: McpClient;
beforeAll(async () => {
  const script = join(packageOf("@modelcontextprotocol/server-everything"), "dist/index.js");
  const source = {
    type: "mcp",
    name: "everything",
    command: process.execPath,
    args: [script, "stdio"],
    defaultApproval: "auto",
  };
  installation = await startInstallation({
    env: { EXECUTOR_TOOL_SOURCES: JSON.stringify([source]), MCP_CALL_WAIT_MS: "20000" },
  });
  person = await signIn(installation);
  const { token } = await person.executor.keys.create({ role: "agent", label: "agent", mayElicit: true });
  client = await connectMcp({
    url: installation.url,
    token,
    answer: ({ message }) =>
      message.startsWith("Allow this call?")
        ? { action: "accept", content: { decision: "approve" } }
        : { action: "accept", content: { name: "Ada of the test" } },
  });
  await until("the source", async () => (await person.executor.sources.list()).items[0]?.health === "ok");
}, 60_000);
afterAll(async () => {
  await client.close();
  await installation.stop();
});

const run = async (code: string): Promise<{ status: string; text: string; result?: unknown }> => {
  const { data, text } = await client.call("execute", { code });
  return { ...data, text };
};

test("the description names it, and its tools are found, described and typechecked", async () => {
  const { tools } = await client.client.listTools();
  expect(tools[0]?.description).toContain("Connected: everything.");
  const found = await run(
    `const { results } = await tools.discover({ query: "add two numbers" }); return results[0]?.path`,
  );
  expect(found.result).toBe("everything.get_sum");
  const wrong = await run(`return await tools.everything.get_sum({ a: 2, b: "3" })`);
  expect(wrong.text).toMatch(/^1:\d+ .*'string'.*'number'.* tools\.everything\.get_sum is \(input/);
  expect((await run(`return await tools.everything.get_summ({ a: 1 })`)).text).toContain(
    "Nearest: tools.everything.get_sum",
  );
});

test("text, images, audio, resources, annotations and structured content come through", async () => {
  const { result, text } = await run(`return {
    echo: await tools.everything.echo({ message: "hello" }),
    sum: await tools.everything.get_sum({ a: 2, b: 3 }),
    image: JSON.stringify(await tools.everything.get_tiny_image({})).includes("image/png"),
    annotated: JSON.stringify(await tools.everything.get_annotated_message({ messageType: "error", includeImage: true })).includes("priority"),
    links: JSON.stringify(await tools.everything.get_resource_links({ count: 2 })).includes("resource_link"),
    reference: JSON.stringify(await tools.everything.get_resource_reference({ resourceType: "Text", resourceId: 1 })).includes("resource"),
    structured: await tools.everything.get_structured_content({ location: "Chicago" }),
  }`);
  expect([text.split("\n")[0], result]).toEqual([
    expect.stringContaining("completed"),
    {
      echo: expect.stringContaining("hello"),
      sum: expect.stringContaining("5"),
      image: true,
      annotated: true,
      links: true,
      reference: true,
      structured: expect.objectContaining({ temperature: expect.any(Number) }),
    },
  ]);
});

test("progress of a long operation, and an error of a tool", async () => {
  const said: string[] = [];
  const { data } = await client.call(
    "execute",
    { code: "return await tools.everything.trigger_long_running_operation({ duration: 1, steps: 2 })" },
    { onprogress: ({ message }) => said.push(message ?? "") },
  );
  expect(data.status).toBe("completed");
  expect(said.length).toBeGreaterThan(1);
  const failed = await run(
    `try { await tools.everything.get_resource_reference({ resourceType: "Text", resourceId: -1 }) } catch (error) { return error.code }`,
  );
  expect(failed.result).toBe("call.upstream_error");
});

test("what the server asks in the middle of a call reaches the person behind our client, and the answer goes back", async () => {
  const { status, result, text } = await run(
    "return JSON.stringify(await tools.everything.trigger_elicitation_request({}))",
  );
  // Its form has more than simple values, so it may also be left to the console; either way it is not lost.
  if (status === "waiting") {
    const { items } = await person.executor.interactions.list({ status: "pending" });
    await person.executor.interactions.answer(items[0]?.interactionId ?? "", { name: "Ada of the test" });
    const resumed = await client.call("resume", { taskId: text.match(/task_\w+/)?.[0] ?? "" });
    expect(JSON.stringify(resumed.data)).toContain("Ada of the test");
  } else expect(String(result)).toContain("Ada of the test");
}, 30_000);
