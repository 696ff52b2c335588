/** `bun run screenshots`: the images of docs/how-to, made by doing what it tells, on a real installation in a real browser. */
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "@executor/testkit/installation/product-process";
import { startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import type { Page } from "playwright-core";
import { openConsole, openConsoleLab } from "../support/console.ts";

const folder = join(repositoryRoot, "docs/images");
const MAX_BYTES = 60_000;

mkdirSync(folder, { recursive: true });
const lab = await openConsoleLab();
const api = startOpenapiServer();
try {
  const { page, executor } = await openConsole(lab, { width: 1040, height: 600 });
  await writeTask(page);
  await addSource(page);
  const { taskId } = await executor.tasks.create(
    'const name = "Fido";\n\n// Writes ask a person first.\nreturn await tools.pets.pets.create_pet({ name });',
  );
  await approve(page);
  await executor.tasks.wait(taskId, { timeoutMs: 20_000 });
  await connect(page);
  await writeRule(page);
} finally {
  await Promise.all([lab.stop(), api.stop()]);
}

async function writeTask(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  await page.keyboard.press("c");
  await page.getByRole("textbox", { name: "Code of the task" }).waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(
    'const words = ["one", "two", "three"];\nconst answers = await Promise.all(\n  words.map((value) => tools.executor.echo({ value })),\n);\nconsole.log("all three are back");\n\nreturn answers;\n',
  );
  await shoot(page, "first-task");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("region", { name: "Result" }).getByText("three").waitFor();
  await page.getByText("completed").first().waitFor();
  await shoot(page, "first-task-result");
}

async function addSource(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Sources" }).first().click();
  await page.getByRole("link", { name: "Add a source" }).first().click();
  await page.getByLabel("Address").fill(`${api.url}/openapi.json`);
  await page.keyboard.press("Enter");
  await page.getByText("looks like an OpenAPI document").waitFor();
  await shoot(page, "first-source");
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("healthy").waitFor();
  await page.getByRole("treeitem", { name: /create_pet/ }).click();
  await page.getByText("Promise<").first().waitFor();
  await shoot(page, "first-source-tools");
}

async function approve(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Approvals" }).first().click();
  await page.getByRole("region", { name: "Selected" }).getByText("line 4").waitFor();
  await shoot(page, "first-approval");
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await page.getByRole("button", { name: "Send now" }).click();
}

async function connect(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Connect" }).first().click();
  await page.getByLabel("For", { exact: true }).fill("my assistant");
  await page.getByRole("button", { name: "Make a key" }).click();
  await page.getByRole("tab", { name: "Claude Code" }).waitFor();
  await shoot(page, "connect-an-assistant");
}

async function writeRule(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Policies" }).first().click();
  await page.getByRole("button", { name: "New rule" }).click();
  await page.getByLabel("Tools").fill("pets.pets.create_pet");
  await page.getByLabel("Their calls").selectOption("allow");
  await page.getByRole("button", { name: "Add a condition" }).click();
  await page.getByLabel("Value at").fill("name");
  await page.getByLabel("This", { exact: true }).fill("Fido");
  await page.getByText('when name is "Fido"').waitFor();
  await shoot(page, "policies");
}

async function shoot(page: Page, name: string): Promise<void> {
  const path = join(folder, `${name}.png`);
  await page.mouse.move(0, 0);
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.screenshot({ path });
  const { size } = statSync(path);
  console.log(`${name}.png ${size} bytes`);
  if (size > MAX_BYTES) throw new Error(`${name}.png is over ${MAX_BYTES} bytes: make its window smaller.`);
}
