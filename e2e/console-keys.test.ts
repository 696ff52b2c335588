/** The console without a mouse, without its window in front, and with code that does not fit. In a real browser on the real product. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findBarriers } from "./support/axe.ts";
import { shoot } from "./support/browser.ts";
import {
  askForApproval,
  type ConsoleLab,
  type ConsolePerson,
  makeEchoAsk,
  openConsole,
  openConsoleLab,
} from "./support/console.ts";
import { until } from "./support/until.ts";

let lab: ConsoleLab;
const people: ConsolePerson[] = [];
beforeAll(async () => {
  lab = await openConsoleLab();
}, 60_000);
afterAll(() => lab.stop());
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

describe("by keys alone", () => {
  test("a task is written and run, its call is approved, and its result is reached", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await write(page, 'return await tools.executor.echo({ value: "by keys" });');
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Waits for" }).waitFor();
    const taskId = page.url().split("/").at(-1) ?? "";
    await leave(page, "a");
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("a");
    await tabTo(page, "Send now");
    await page.keyboard.press("Enter");
    expect((await executor.tasks.wait(taskId, { timeoutMs: 15_000 })).result).toBe("by keys");
    await leave(page, "t");
    await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
    await tabTo(page, /tools\.executor\.echo/);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Result" }).getByText("by keys").waitFor();
  });
});

test("the second of two keys is never a key of its own: going to the approvals approves nothing", async () => {
  const { page, executor } = await arrive();
  await makeEchoAsk(executor);
  await askForApproval(executor, 1);
  await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
  for (const second of ["a", "d", "w", "a"]) await leave(page, second);
  await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
  // Alone it does, so the above could have.
  await page.keyboard.press("a");
  await page.getByRole("button", { name: "Undo" }).waitFor();
});

describe("code that does not fit", () => {
  test("is underlined where it does not, with what would fit, once the typing stops; never while it goes on", async () => {
    const { page } = await arrive();
    let checks = 0;
    page.on("request", (request) => (checks += request.url().endsWith("/api/typecheck") ? 1 : 0));
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await write(page, "const n: number = 'text';\nreturn await tools.executor.ecko({ value: n });");
    const problems = page.getByRole("region", { name: "Problems" });
    await problems.getByText("line 2").waitFor();
    const typed = checks;
    expect(typed).toBeLessThan(4);
    await problems.getByText(/executor\.echo/).waitFor();
    const marks = page.locator(".cm-lintRange-error");
    expect(await marks.allTextContents()).toEqual(["n", "ecko"]);
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "composer-problems");
    await problems.getByRole("button", { name: /line 2/ }).press("Enter");
    // The cursor stands at the place itself.
    await page.keyboard.press("Control+Delete");
    await page.keyboard.type("echo");
    await page.keyboard.press("Escape");
    await until("one is left", async () => (await marks.allTextContents()).join() === "n");
    expect(checks).toBe(typed + 1);
  });

  test("what cannot be parsed is refused, and shown at its line until it is changed", async () => {
    const { page } = await arrive();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await write(page, "const a = 1;\nreturn a +;");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("alert").waitFor();
    await page.getByRole("region", { name: "Problems" }).getByText("line 2").first().waitFor();
    await page.keyboard.press("Backspace");
    await page.keyboard.type(" 1;");
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Result" }).getByText("2").waitFor();
  });
});

test("what waits is told by the browser while nobody looks at the page, and not before he was asked", async () => {
  const { page, executor, context } = await arrive();
  await context.grantPermissions(["notifications"], { origin: lab.installation.url });
  await makeEchoAsk(executor);
  await page.evaluate(standInForTheDesktop);
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  const told = () => page.evaluate(() => (globalThis as unknown as { told: string[] }).told);
  await askForApproval(executor, 1);
  await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
  expect(await told()).toEqual([]);
  await page.getByRole("button", { name: /^Account/ }).click();
  await page
    .getByRole("menuitemcheckbox", { name: /notif/i })
    .or(page.getByRole("menuitem", { name: /notif/i }))
    .click();
  await askForApproval(executor, "again");
  await until("it is told", async () => (await told()).length === 1);
  expect(await told()).toEqual(["A task waits for you: executor.echo"]);
});

/** Headless there is no desktop to look at: what is put on it is written down, and the page counts as out of sight. */
function standInForTheDesktop(): void {
  const told: string[] = [];
  Object.assign(globalThis, { told });
  Object.defineProperty(document, "hidden", { get: () => true });
  const Real = globalThis.Notification;
  globalThis.Notification = class extends Real {
    constructor(title: string, options?: NotificationOptions) {
      super(title, options);
      told.push(`${title}: ${options?.body}`);
    }
  };
}

/** Opens the composer and writes over what it begins with. */
async function write(page: Page, code: string): Promise<void> {
  await page.keyboard.press("c");
  await page.getByRole("textbox", { name: "Code of the task" }).waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  // As one piece, for the editor closes brackets by itself; but by keys it counts as typed.
  await page.keyboard.insertText(code);
}

const leave = async (page: Page, to: string): Promise<void> => {
  await page.keyboard.press("g");
  await page.keyboard.press(to);
};

/** As often as it takes, and no oftener than a person would. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    const text = await page.evaluate(() => document.activeElement?.textContent ?? "");
    if (typeof name === "string" ? text.trim() === name : name.test(text)) return;
  }
  throw new Error(`Tab does not lead to ${String(name)}`);
}
