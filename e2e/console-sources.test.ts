/** Sources as a person connects and looks at them, in a real browser against servers on loopback. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type OpenapiServer, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { findBarriers } from "./support/axe.ts";
import { shoot } from "./support/browser.ts";
import { type ConsoleLab, type ConsolePerson, openConsole, openConsoleLab } from "./support/console.ts";
import { type HttpMcpServer, startEverything } from "./support/everything-server.ts";
import { until } from "./support/until.ts";

let lab: ConsoleLab;
let api: OpenapiServer;
let mcp: HttpMcpServer;
const people: ConsolePerson[] = [];
beforeAll(async () => {
  api = startOpenapiServer();
  [lab, mcp] = await Promise.all([openConsoleLab(), startEverything()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([lab.stop(), mcp.stop(), api.stop()]);
});
afterEach(async () => {
  const present = people.splice(0);
  const problems = present.flatMap((person) => person.problems);
  await Promise.all(present.map((person) => person.close()));
  expect(problems).toEqual([]);
});

async function arrive(options?: Parameters<typeof openConsole>[1]): Promise<ConsolePerson> {
  const person = await openConsole(lab, options);
  people.push(person);
  return person;
}

describe("adding a source", () => {
  test("an OpenAPI document by its address: looked at, reviewed, connected, its tools at hand", async () => {
    const { page } = await arrive();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "No sources yet" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "sources-empty");
    await page.getByRole("link", { name: "Add a source" }).first().click();
    await page.getByRole("heading", { name: "Well-known ones" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "sources-add");
    await page.getByLabel("Address").fill(`${api.url}/openapi.json`);
    await page.keyboard.press("Enter");
    await page.getByText("looks like an OpenAPI document").waitFor();
    expect(await page.getByLabel("Namespace").inputValue()).toBe("pets");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "sources-review");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("healthy").waitFor();
    await page.getByRole("treeitem", { name: /^pets/ }).first().waitFor();
    await page.getByRole("searchbox", { name: "Search by intent" }).fill("create a pet");
    await page.getByRole("list", { name: "Found tools" }).getByRole("button").first().click();
    await page.getByRole("article", { name: /Tool pets\./ }).waitFor();
    await page.getByText("Promise<").first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "source-tool");
    for (const name of ["Input schema", "Changes", "Document", "Settings"]) {
      await page.getByRole("tab", { name }).click();
      await until(
        `${name} is calm`,
        async () => (await page.getByRole("status").filter({ hasText: "Loading" }).count()) === 0,
      );
      expect(await findBarriers(page)).toEqual([]);
    }
    await page.getByRole("link", { name: "All sources" }).click();
    await page.getByRole("list", { name: "Sources" }).getByText("healthy").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "sources");
  });

  test("an MCP server by its address; a taken namespace and an unreachable address are said, and nothing typed is lost", async () => {
    const { page } = await arrive({ path: "/sources/add" });
    await page.getByLabel("Address").fill("http://127.0.0.1:9/nothing");
    await page.getByRole("button", { name: "Look what is there" }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Address").inputValue()).toBe("http://127.0.0.1:9/nothing");
    await page.getByLabel("Address").fill(mcp.url);
    await page.getByRole("button", { name: "Look what is there" }).click();
    await page.getByText("looks like MCP").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Everything");
    await page.getByLabel("Namespace").fill("Not A Name");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("Lower-case letters, digits and _").waitFor();
    await page.getByLabel("Namespace").fill("everything");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("healthy").waitFor();
    await page.getByRole("treeitem", { name: "echo" }).waitFor();
    await page.goto(`${lab.installation.url}/sources/add`);
    await page.getByRole("button", { name: "MCP server" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Again");
    await page.getByLabel("Namespace").fill("everything");
    await page.getByLabel("Address of the server").fill(mcp.url);
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("alert").getByText("is taken").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Again");
  });

  test("a document that is pasted", async () => {
    const { page } = await arrive({ path: "/sources/add" });
    await page.getByRole("button", { name: "Paste a document" }).click();
    await page.getByLabel("The document").fill(JSON.stringify(api.document));
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Pasted");
    await page.getByRole("button", { name: "Connect" }).click();
    await page.getByText("healthy").waitFor();
  });
});

describe("a source that is there", () => {
  test("settings are kept, a failure stays in sight with its last tools, and it is removed only after asking", async () => {
    const { page, executor } = await arrive();
    const { sourceId } = await executor.sources.add({ type: "openapi", name: "Own", spec: `${api.url}/openapi.json` });
    await executor.sources.waitUntilRead(sourceId);
    await page.goto(`${lab.installation.url}/sources/${sourceId}/edit`);
    await page.getByLabel("Name", { exact: true }).fill("Renamed");
    await page.getByLabel("Calls that only read").selectOption("required");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "source-edit");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /Renamed/ }).waitFor();
    await until("reads ask", async () =>
      (await executor.tools.names({ namespace: "own" })).items.every(({ approval }) => approval === "required"),
    );
    const { document } = api;
    api.document = { broken: true };
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("The tools as they were last read stay in use").waitFor();
    await page.getByRole("treeitem").first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "source-failing");
    api.document = { ...document, paths: { "/pets": (document["paths"] as Record<string, unknown>)["/pets"] } };
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("healthy").waitFor();
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.getByRole("heading", { name: /^Went/ }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "source-changes");
    api.document = document;
    await page.getByRole("button", { name: "Remove …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep it" }).click();
    await page.getByRole("button", { name: "Remove …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("heading", { name: "No sources yet" }).waitFor();
  });

  test("5,000 tools in a tree answer at once, by mouse and by key", async () => {
    const { page, executor } = await arrive();
    const { sourceId } = await executor.sources.add({ type: "openapi", name: "Huge", spec: hugeDocument(5_000) });
    await executor.sources.waitUntilRead(sourceId);
    await page.goto(`${lab.installation.url}/sources/${sourceId}`);
    const tree = page.getByRole("tree", { name: "Tools" });
    await tree.getByRole("treeitem").first().waitFor();
    const slowest = await page.evaluate(measureKeys);
    expect(slowest).toBeLessThan(100);
    await page.getByRole("searchbox", { name: "Filter tools by name" }).fill("tag_7 operation_4207");
    await page.getByRole("treeitem", { name: /operation_4207/ }).click();
    await page.getByRole("article", { name: /operation_4207/ }).waitFor();
    expect(await tree.getByRole("treeitem").count()).toBeLessThan(60);
  });

  test("names and descriptions made to deceive are shown for what they are, and nothing in them runs", async () => {
    const { page, executor } = await arrive();
    const evil = "<img src=x onerror=alert(1)>\u202egnihtemos\u200b <script>alert(2)</script> [x](javascript:alert(3))";
    const document = {
      openapi: "3.1.0",
      info: { title: evil, version: "1" },
      paths: { "/a": { get: { operationId: "a", tags: ["t"], summary: evil, description: evil, responses: {} } } },
    };
    const { sourceId } = await executor.sources.add({
      type: "openapi",
      name: "Evil",
      namespace: "evil",
      spec: document,
    });
    await executor.sources.waitUntilRead(sourceId);
    page.on("dialog", (dialog) => {
      people[0]?.problems.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${lab.installation.url}/sources/${sourceId}?tool=evil.t.a`);
    await page.getByRole("article", { name: /Tool evil/ }).waitFor();
    expect(await page.locator("main img, main script, main a[href^='javascript']").count()).toBe(0);
    expect(await page.getByText("U+202E").count()).toBeGreaterThan(0);
    await shoot(page, "source-hostile");
  });
});

/** Long enough for every arrow key to be drawn. Runs in the page. */
async function measureKeys(): Promise<number> {
  const tree = document.querySelector('[role="tree"]') as HTMLElement;
  tree.focus();
  let slowest = 0;
  for (const key of ["ArrowRight", "End", "Home", ...Array<string>(20).fill("ArrowDown"), "ArrowRight"]) {
    const from = performance.now();
    tree.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    slowest = Math.max(slowest, performance.now() - from);
  }
  return slowest;
}

function hugeDocument(operations: number): Record<string, unknown> {
  const paths = Array.from({ length: operations }, (_, at) => [
    `/things/${at}`,
    { get: { operationId: `operation_${at}`, tags: [`tag_${at % 100}`], summary: `Read thing ${at}`, responses: {} } },
  ]);
  return { openapi: "3.0.0", info: { title: "Huge", version: "1" }, paths: Object.fromEntries(paths) };
}
