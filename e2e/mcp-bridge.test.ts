/** A host that only speaks stdio, with the SDK's own stdio client, through the bridge to a real installation. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { revisions } from "./support/mcp-client.ts";

let installation: Installation;
let person: Person;
beforeAll(async () => {
  installation = await startInstallation({ env: { MCP_CALL_WAIT_MS: "5000" } });
  person = await signIn(installation);
  await person.executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
}, 30_000);
afterAll(() => installation.stop());

for (const revision of revisions)
  test(`a stdio client of ${revision} runs code, is asked, and goes on after kill -9 of the server`, async () => {
    const { token } = await person.executor.keys.create({ role: "agent", label: "bridge", mayElicit: true });
    const client = new Client(
      { name: "host", version: "1" },
      {
        capabilities: { elicitation: { form: {} } },
        ...(revision === "2026-07-28" && { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
      },
    );
    const asked: string[] = [];
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      return { action: "accept", content: { decision: "approve" } };
    });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(import.meta.dir, "../packages/mcp-bridge/src/main.ts")],
      env: { EXECUTOR_MCP_URL: `${installation.url}/mcp`, EXECUTOR_API_KEY: token },
    });
    const run = async (code: string) => {
      const { structuredContent } = await client.callTool(
        { name: "execute", arguments: { code } },
        { timeout: 20_000 },
      );
      return structuredContent as { status: string; result?: unknown };
    };
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["execute", "resume"]);
    expect(await run("return await tools.executor.echo({ value: 42 })")).toMatchObject({
      status: "completed",
      result: 42,
    });
    expect(asked).toHaveLength(1);
    await installation.killServer();
    const waiting = run("return 'while it was away'");
    await installation.startServer();
    expect(await waiting).toMatchObject({ result: "while it was away" });
    await client.close();
  }, 30_000);
