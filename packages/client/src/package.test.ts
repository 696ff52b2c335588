/** The package as others get it: built, unpacked, run by Node and read by a strict compiler. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json, startLoopback } from "./testing/loopback.ts";
import { caller, sampleEvent, sampleTask, sseOf } from "./testing/samples.ts";

const packageDir = join(import.meta.dir, "..");
const root = join(packageDir, "../..");
let home = "";
const dist = () => join(home, "node_modules/@executor/client");

async function run(...command: string[]) {
  const child = Bun.spawn(command, { cwd: home, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, output: (out + err).trim() };
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "executor-client-"));
  expect(await run(process.execPath, join(packageDir, "build.ts"), dist())).toEqual({ code: 0, output: "" });
}, 60_000);
afterAll(() => rm(home, { recursive: true, force: true }));

test("the bundle stands alone and is small", async () => {
  const text = await Bun.file(join(dist(), "index.js")).text();
  expect(text).not.toMatch(/^\s*import[\s{*"']/m);
  expect(text).not.toMatch(/\brequire\(|node:|\bBun\b|\bprocess\b/);
  expect(text.length).toBeLessThan(60_000);
});

test("the manifest names nothing of the workspace", async () => {
  const manifest = (await Bun.file(join(dist(), "package.json")).json()) as Record<string, unknown>;
  expect(JSON.stringify(manifest)).not.toContain("workspace:");
  expect(manifest).not.toHaveProperty("private");
});

test.skipIf(!Bun.which("node"))(
  "Node runs a task, its events and its errors with it",
  async () => {
    const events = [sampleEvent(1, "task.stdout", { text: "grüße 🦊" }), sampleEvent(2, "task.completed")];
    let isDropped = false;
    await using server = startLoopback(({ method, path }) => {
      if (path === "/api/auth/me") return json(caller);
      if (path.endsWith("/events")) {
        const sent = isDropped ? events : events.slice(0, 1);
        isDropped = true;
        return new Response(sent.map((event) => sseOf(event)).join(""), {
          headers: { "content-type": "text/event-stream" },
        });
      }
      if (path === "/api/tools/gone") return json({ code: "tool.not_found", detail: "none" }, 404);
      return json(sampleTask({ status: "completed", result: { sum: 3 } }), method === "POST" ? 201 : 200);
    });
    await Bun.write(
      join(home, "try.mjs"),
      `import { createExecutor, ExecutorError } from "@executor/client";
     import { inspect } from "node:util";
     const executor = createExecutor({ baseUrl: process.argv[2], token: "secret-token" });
     const seen = [];
     const result = await executor.tasks.run("return 1 + 2", { onEvent: (event) => seen.push(event.data.text ?? event.type) });
     const error = await executor.tools.describe("gone").catch((caught) => caught);
     const away = await createExecutor({ baseUrl: "http://127.0.0.1:1", token: "secret-token" }).health().catch((caught) => caught);
     const leaks = inspect([executor, error, away], { depth: 20, showHidden: true }).includes("secret-token");
     console.log(JSON.stringify({ result, seen, isError: error instanceof ExecutorError, code: error.code, away: away.code, leaks }));`,
    );
    const { code, output } = await run("node", join(home, "try.mjs"), server.url);
    expect(JSON.parse(output)).toEqual({
      result: { sum: 3 },
      seen: ["grüße 🦊", "task.completed"],
      isError: true,
      code: "tool.not_found",
      away: "client.unreachable",
      leaks: false,
    });
    expect(code).toBe(0);
  },
  30_000,
);

test("a strict compiler understands its types", async () => {
  await symlink(join(root, "packages/contracts/node_modules/zod"), join(home, "node_modules/zod"));
  await mkdir(join(home, "src"));
  await Bun.write(
    join(home, "src/use.ts"),
    `import { createExecutor, type Task } from "@executor/client";
     const executor = createExecutor({ baseUrl: "http://x", token: "t" });
     export const status: Promise<Task["status"]> = executor.tasks.get("task_1").then((task) => task.status);
     export const items: Promise<string[]> = executor.approvals.list({ status: "pending" }).then((page) => page.items.map((item) => item.toolPath));
     // @ts-expect-error there is no such status
     void executor.approvals.list({ status: "odd" });
     // @ts-expect-error a result is unknown until its type is said
     export const wrong: Promise<number> = executor.tasks.get("task_1").then((task) => task.result);`,
  );
  await Bun.write(
    join(home, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        module: "nodenext",
        target: "es2022",
        lib: ["es2023", "dom"],
        types: [],
        noEmit: true,
        skipLibCheck: false,
      },
      include: ["src"],
    }),
  );
  expect(await run(process.execPath, join(root, "node_modules/.bin/tsc"), "-p", home)).toEqual({ code: 0, output: "" });
}, 60_000);
