/** Real MCP servers as sources of a real installation: over stdio and over HTTP, listed, gated by their annotations, called. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Source } from "@executor/contracts/source";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { processTree } from "@executor/testkit/installation/process-tree";
import { type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

const script = (name: string): string =>
  join(dirname(Bun.resolveSync(`@modelcontextprotocol/${name}/package.json`, import.meta.dir)), "dist/index.js");
const folder = realpathSync(mkdtempSync(join(tmpdir(), "executor-mcp-")));
writeFileSync(join(folder, "hello.txt"), "hello from a file");
const stdio = (name: string, server: string, ...args: string[]) => ({
  type: "mcp",
  name,
  command: process.execPath,
  args: [script(server), ...args],
  ...(name === "memory" && { env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") } }),
});

const webs: Bun.Subprocess[] = [];
let installation: Installation;
let person: Person;
beforeAll(async () => {
  const [port, ssePort] = [await startWeb("streamableHttp"), await startWeb("sse")];
  const sources = [
    stdio("everything", "server-everything", "stdio"),
    stdio("files", "server-filesystem", folder),
    stdio("memory", "server-memory"),
    { type: "mcp", name: "web", url: `http://127.0.0.1:${port}/mcp` },
    { type: "mcp", name: "old", url: `http://127.0.0.1:${ssePort}/sse` },
  ];
  installation = await startInstallation({ env: { EXECUTOR_TOOL_SOURCES: JSON.stringify(sources) } });
  person = await signIn(installation);
}, 60_000);
afterAll(async () => {
  await installation.stop();
  for (const web of webs) web.kill("SIGKILL");
  await Promise.all(webs.map((web) => web.exited));
  rmSync(folder, { recursive: true, force: true });
});

const source = (namespace: string): Promise<Source> =>
  until(`${namespace} to be read`, async () => {
    const { items } = await person.executor.sources.list();
    return items.find((each) => each.namespace === namespace && each.health !== "indexing") ?? false;
  });

test("each is listed with its tools, and stdio commands are shown in full", async () => {
  for (const namespace of ["everything", "files", "memory", "web", "old"]) {
    const found = await source(namespace);
    expect([namespace, found.health, found.lastError?.message]).toEqual([namespace, "ok", undefined]);
    expect(found.toolCount).toBeGreaterThan(5);
  }
  expect((await source("files")).command).toContain("server-filesystem");
  expect((await source("files")).command).toContain(folder);
});

test("what a server says is read-only goes, the rest asks", async () => {
  await source("files");
  const { items } = await person.executor.tools.list({ namespace: "files" });
  const approvals = Object.fromEntries(items.map(({ path, approval }) => [path, approval]));
  expect(approvals).toMatchObject({
    "files.read_text_file": "auto",
    "files.write_file": "required",
    "files.move_file": "required",
  });
  const { items: memory } = await person.executor.tools.list({ namespace: "memory" });
  expect(memory.find(({ path }) => path === "memory.delete_entities")?.approval).toBe("required");
});

test("they are called: structured results, texts, errors, and a write after a person said yes", async () => {
  const approve = {
    onWaiting: async (task: { pending: { interactionId: string }[] }) => {
      for (const { interactionId } of task.pending) await person.executor.approvals.approve(interactionId);
    },
  };
  const path = JSON.stringify(join(folder, "hello.txt"));
  const made = JSON.stringify(join(folder, "made.txt"));
  const result = await person.executor.tasks.run(
    `const read = await tools.files.read_text_file({ path: ${path} });
     await tools.files.write_file({ path: ${made}, content: "made" });
     const sum = [await tools.everything.get_sum({ a: 2, b: 3 }), await tools.web.get_sum({ a: 20, b: 30 }), await tools.old.get_sum({ a: 200, b: 300 })];
     let refused; try { await tools.files.read_text_file({ path: "/etc/passwd" }) } catch (error) { refused = error.code }
     return { read, sum, refused };`,
    approve,
  );
  expect(JSON.stringify(result)).toContain("hello from a file");
  for (const sum of ["is 5.", "is 50.", "is 500."]) expect(JSON.stringify(result)).toContain(sum);
  expect(result).toMatchObject({ refused: "call.upstream_error" });
  expect(await Bun.file(join(folder, "made.txt")).text()).toBe("made");
}, 30_000);

test("a server of 2025-11-25 that asks a person in the middle of a call makes the task wait, and gets the answer", async () => {
  const asked: string[] = [];
  const result = await person.executor.tasks.run("return await tools.web.trigger_elicitation_request({})", {
    onWaiting: async (task) => {
      for (const { interactionId, kind, title, schema } of task.pending) {
        if (kind === "approval") await person.executor.approvals.approve(interactionId);
        else {
          asked.push(title);
          expect(schema).toMatchObject({ properties: { name: { type: "string" } } });
          await person.executor.interactions.answer(interactionId, { name: "Ada of the test" });
        }
      }
    },
    timeoutMs: 20_000,
  });
  expect(asked).toHaveLength(1);
  expect(asked[0]).toStartWith("web asks:");
  expect(JSON.stringify(result)).toContain("Ada of the test");
}, 30_000);

test("the processes of stdio servers have nothing of ours in their environment, and end with the installation", async () => {
  await person.executor.tasks.run(`return await tools.files.list_allowed_directories()`);
  const worker = installation.workers[0];
  const children = processTree(worker?.pid ?? 0).filter((pid) => {
    const line = readText(`/proc/${pid}/cmdline`);
    return line.includes("server-filesystem");
  });
  expect(children.length).toBeGreaterThan(0);
  for (const pid of children) {
    expect(readText(`/proc/${pid}/environ`)).not.toContain("EXECUTOR_");
    expect(readText(`/proc/${pid}/environ`)).not.toContain("CONVEX");
  }
  worker?.kill("SIGTERM");
  await worker?.finish();
  for (const pid of children) await until(`${pid} to end`, () => readText(`/proc/${pid}/cmdline`) === "");
});

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The server of examples over HTTP, in one of its two ways. */
async function startWeb(way: "streamableHttp" | "sse"): Promise<number> {
  const port = await freePort();
  const env = { PATH: process.env["PATH"] ?? "", PORT: String(port) };
  const args = [process.execPath, script("server-everything"), way];
  webs.push(Bun.spawn(args, { env, stdio: ["ignore", "ignore", "ignore"] }));
  const look = () =>
    fetch(`http://127.0.0.1:${port}/nothing`).then(
      () => true,
      () => false,
    );
  await until(`the ${way} server`, look);
  return port;
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return port ?? 0;
}
