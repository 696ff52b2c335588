/** The browser server of Playwright as a source: its annotations as policies, and a call. A page is opened only where there is a browser. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Source } from "@executor/contracts/source";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { type Person, signIn } from "./support/api.ts";
import { until } from "./support/until.ts";

const cli = join(dirname(Bun.resolveSync("@playwright/mcp/package.json", import.meta.dir)), "cli.js");
const browser =
  Bun.env["CHROME_PATH"] ??
  ["chromium", "chromium-browser", "google-chrome", "chrome"].map((name) => Bun.which(name)).find((path) => path);
if (!browser)
  console.warn("No browser here (CHROME_PATH, chromium): Playwright's tools are called, but no page is opened.");
const folder = mkdtempSync(join(tmpdir(), "executor-playwright-"));
const args = ["--headless", "--isolated", "--no-sandbox", "--output-dir", folder];

let installation: Installation;
let person: Person;
let source: Source;
beforeAll(async () => {
  const executable = ["--executable-path", browser ?? join(folder, "no-browser")];
  const definition = {
    type: "mcp",
    name: "browser",
    command: process.execPath,
    args: [cli, ...args, ...executable],
    cwd: folder,
  };
  installation = await startInstallation({ env: { EXECUTOR_TOOL_SOURCES: JSON.stringify([definition]) } });
  person = await signIn(installation);
  source = await until("the source to be read", async () => {
    const [found] = (await person.executor.sources.list()).items;
    return found && found.health !== "indexing" ? found : false;
  });
}, 60_000);
afterAll(async () => {
  await installation.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Listed {
  name: string;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
}

test("every tool is there, and its annotations decide whether a person is asked", async () => {
  expect(source).toMatchObject({ health: "ok", toolCount: 25, warnings: [] });
  const { text } = await person.executor.sources.document(source.sourceId);
  const { tools } = JSON.parse(text) as { tools: Listed[] };
  expect(tools.filter(({ annotations }) => annotations?.destructiveHint)).toHaveLength(18);
  const { items } = await person.executor.tools.list({ namespace: "browser", limit: 100 });
  const approvals = Object.fromEntries(items.map(({ path, approval }) => [path, approval]));
  const expected = tools.map(({ name, annotations }) => [
    `browser.${name}`,
    annotations?.readOnlyHint && !annotations.destructiveHint ? "auto" : "required",
  ]);
  expect(approvals).toEqual(Object.fromEntries(expected));
  expect(Object.values(approvals).filter((approval) => approval === "auto")).toHaveLength(7);
});

test("a destructive tool asks first, and then it is called", async () => {
  const asked: string[] = [];
  const html = "data:text/html,<title>Hello from a page</title>";
  const run = person.executor.tasks.run(
    `try { return { page: await tools.browser.browser_navigate({ url: ${JSON.stringify(html)} }) } }
     catch (error) { return { refused: error.message, code: error.code } }`,
    {
      timeoutMs: 25_000,
      onWaiting: async ({ pending }) => {
        for (const { interactionId, title } of pending) {
          asked.push(title);
          await person.executor.approvals.approve(interactionId);
        }
      },
    },
  );
  const result = await run;
  expect(asked).toEqual(["Call browser.browser_navigate"]);
  if (browser) expect(JSON.stringify(result)).toContain("Hello from a page");
  else
    expect(result).toMatchObject({
      code: "call.upstream_error",
      refused: expect.stringMatching(/executable|browser/i),
    });
}, 30_000);
