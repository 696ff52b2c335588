/**
 * The client of the official conformance suite: not a bare MCP client, but the product. It makes the suite's server a source of a
 * running installation, signs in where that is asked, and calls the tools through a task, as a person with the SDK would.
 * Started by the suite once per scenario: the server's URL is the last argument, the scenario is in the environment.
 */
import { bootstrap, createExecutor, type Executor, ExecutorError } from "@executor/client";
import type { Source, SourceDefinition } from "@executor/contracts/source";
import type { Task } from "@executor/contracts/task";
import { inputFor, type ToolCallPlan } from "./plan-calls.ts";

const url = Bun.argv.at(-1) ?? "";
const installation = Bun.env["CONFORMANCE_INSTALLATION"] ?? "";
const context = JSON.parse(Bun.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  client_id?: string;
  client_secret?: string;
  toolCalls?: ToolCallPlan[];
};
const NAMESPACE = "suite";
const TASK_MS = 20_000;
const MAX_SIGN_INS = 2;
/** With the client that was registered by hand, where the scenario has one. */
const auth: SourceDefinition["auth"] = {
  mode: "workspace",
  type: "oauth2",
  ...(context.client_id !== undefined && { clientId: context.client_id }),
  ...(context.client_secret !== undefined && { clientSecret: context.client_secret }),
};

const session = await bootstrap({ baseUrl: installation });
const executor = createExecutor({
  baseUrl: installation,
  token: session.sessionId,
  workspaceId: session.workspaceId,
});

class Refused extends Error {}

try {
  await main();
} catch (error) {
  // Some scenarios want the client to give up: then this is how it does.
  console.error(error instanceof ExecutorError || error instanceof Refused ? error.message : error);
  process.exitCode = 1;
} finally {
  // Its sessions end with it: the suite waits for its connections.
  for (const { sourceId } of (await executor.sources.list()).items) await executor.sources.remove(sourceId);
}

async function main(): Promise<void> {
  const source = await connectSource();
  const { items } = await executor.tools.list({ namespace: NAMESPACE });
  console.log(`${source.health}: ${items.map(({ path }) => path).join(", ")}`);
  const plans: ToolCallPlan[] =
    context.toolCalls ?? items.map(({ path }) => ({ name: path.slice(NAMESPACE.length + 1) }));
  const pathOf = (name: string): string => `${NAMESPACE}.${name.replace(/[^A-Za-z0-9_]+/g, "_")}`;
  const schemaOf = async (name: string) => (await executor.tools.describe(pathOf(name))).inputSchema;
  for (const { name, arguments: given } of plans) {
    const path = pathOf(name);
    // The suite's echo tool wants the schema of its first tool back, as we have kept it.
    const echoed = name === "json_schema_echo" ? { schema: await schemaOf("json_schema_2020_12_tool") } : undefined;
    const input = JSON.stringify(given ?? echoed ?? inputFor(await schemaOf(name)));
    const code = `return await tools.${path}(${input})`;
    const result = await executor.tasks.run(code, { onWaiting, timeoutMs: TASK_MS });
    console.log(`${path}: ${JSON.stringify(result)?.slice(0, 500)}`);
  }
}

/** Without auth first, as somebody would who knows nothing but the URL; then with a sign-in, where the server wants one. */
async function connectSource(): Promise<Source> {
  const { sourceId } = await executor.sources.add({ type: "mcp", name: "Suite", namespace: NAMESPACE, url });
  let source = await executor.sources.waitUntilRead(sourceId);
  for (let signIns = 0; source.lastError?.code === "credential.missing" && signIns < MAX_SIGN_INS; signIns++) {
    if (signIns === 0) await executor.sources.update(sourceId, { auth });
    await signIn({ sourceKey: NAMESPACE });
    source = await executor.sources.waitUntilRead(sourceId);
  }
  if (source.health !== "ok") throw new Refused(source.lastError?.message ?? "not read");
  return source;
}

/** As a browser would, but it stops at our callback to see what it says. */
async function signIn(what: Parameters<Executor["credentials"]["connect"]>[0]): Promise<void> {
  const { authorizationUrl } = await executor.credentials.connect(what);
  const sent = await fetch(authorizationUrl, { redirect: "manual" });
  const back = sent.headers.get("location") ?? "";
  if (!back.startsWith(`${installation}/oauth/callback`)) throw new Refused(`sent to ${back} (${sent.status})`);
  const page = await fetch(back);
  if (page.status !== 200) throw new Refused((await page.text()).replace(/<[^>]*>|\s+/g, " "));
}

async function onWaiting(task: Task): Promise<void> {
  for (const { interactionId, kind } of task.pending) {
    if (kind === "approval") await executor.approvals.approve(interactionId);
    else if (kind === "oauth") await signIn({ sourceKey: NAMESPACE, interactionId });
    else if (kind === "elicitation") await executor.interactions.answer(interactionId, {});
    else throw new Refused(`asked for ${kind}`);
  }
}
