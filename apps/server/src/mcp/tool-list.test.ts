import { expect, test } from "bun:test";
import { createSegment } from "@executor/core/tools/tool-segment";
import type { Tool } from "@executor/core/tools/tool";
import type { Bearer } from "../http/authenticate.ts";
import { openTestApp } from "../testing/open-test-app.ts";
import { listTools } from "./tool-list.ts";

const tool = (path: string): Tool => ({
  path,
  source: path,
  description: "",
  keywords: "",
  schemaHash: "",
  effect: "safe",
  idempotent: true,
  approval: "auto",
  neverAsks: false,
  shape: async () => ({ signature: "", inputSchema: {}, outputSchema: {} }),
  prepare: async () => ({ kind: "ready", send: async () => ({ ok: true, json: "1" }) }),
});

async function listWith(namespaces: string[]) {
  const segments = namespaces.map((name) => createSegment(name, [tool(`${name}.one`), tool(`${name}.two`)]));
  await using app = await openTestApp({ deps: { tools: { openCatalog: async () => ({ segments }) } } });
  const caller = { workspaceId: "ws_1", actorId: "actor_1", clientId: "client_1" } as Bearer;
  return await listTools(app.deps, caller);
}

/** Three characters a token is less than any tokenizer makes of such text. */
const tokensOf = (value: unknown): number => JSON.stringify({ tools: value }).length / 3;

test("the list stays under 1,200 tokens whatever is connected", async () => {
  for (const count of [0, 1, 50, 3_000]) {
    const list = await listWith(Array.from({ length: count }, (_, index) => `a_namespace_with_a_long_name_${index}`));
    expect(list.map(({ name }) => name)).toEqual(["execute", "resume"]);
    expect([count, tokensOf(list) < 1_200]).toEqual([count, true]);
  }
});

test("it names what is connected, counts the rest, and says so when there is nothing", async () => {
  expect((await listWith(["github", "linear"]))[0]?.description).toContain("Connected: github, linear.");
  const many = (await listWith(Array.from({ length: 200 }, (_, index) => `service_${index}`)))[0]?.description ?? "";
  expect(many).toMatch(/, and \d+ more \(tools\.catalog\.namespaces\(\)\)\.$/);
  expect((await listWith([]))[0]?.description).toContain("Nothing is connected yet");
});

test("names of strangers cannot smuggle in what is not seen", async () => {
  const description = (await listWith(["evil\u202e\u200b\nname"]))[0]?.description ?? "";
  expect(description).toContain("evil\\u202e\\u200b");
});
