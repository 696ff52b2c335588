/** The console as a person meets it, in a real browser on the real product. Screenshots are left in e2e/screenshots. */
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { findBarriers } from "./support/axe.ts";
import { createExecutor } from "@executor/client";
import { openVisitor, shoot } from "./support/browser.ts";
import {
  askForApproval,
  type ConsoleLab,
  type ConsolePerson,
  makeEchoAsk,
  openConsole,
  openConsoleLab,
  tokenOf,
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

describe("coming in", () => {
  test("the page works at once, and a reload keeps the workspace", async () => {
    const { page } = await arrive();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "inbox-empty");
    const token = await tokenOf(page);
    await page.reload();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(await tokenOf(page)).toBe(token);
    expect(page.url()).not.toContain(token);
  });

  test("an invite joins with its role, only after asking, and its code leaves the address at once", async () => {
    const host = await arrive();
    const { url } = await host.executor.invites.create({ role: "reviewer" });
    const guest = await arrive();
    await guest.page.goto(url);
    await guest.page.reload();
    const { workspaceId } = await host.executor.me();
    await guest.page.goto((await host.executor.invites.create({ role: "reviewer" })).url);
    await guest.page.getByRole("heading", { name: "Join another workspace?" }).waitFor();
    expect(guest.page.url()).not.toContain("#");
    await shoot(guest.page, "join");
    await guest.page.getByRole("button", { name: "Join it" }).click();
    await guest.page.getByRole("button", { name: /Account: reviewer/ }).waitFor();
    const me = await host.executor.me();
    expect(me.workspaceId).toBe(workspaceId);
  });

  test("a link that was used already is said to be, and takes nobody out of his own workspace", async () => {
    const host = await arrive();
    const { url } = await host.executor.invites.create({ role: "reviewer" });
    const first = await arrive();
    await first.page.goto(url);
    await first.page.getByRole("button", { name: "Join it" }).click();
    await first.page.getByRole("button", { name: /Account: reviewer/ }).waitFor();
    const { page } = await arrive();
    const token = await tokenOf(page);
    await page.goto(url);
    await page.getByText("The link does not work.").waitFor();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(await tokenOf(page)).toBe(token);
    expect(page.url()).not.toContain("#");
  });

  test("who signs out is out, here and on the server", async () => {
    const { page, executor } = await arrive();
    await page.getByRole("button", { name: /^Account/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "sign-in");
    await until("the session is revoked", () =>
      executor.me().then(
        () => false,
        () => true,
      ),
    );
  });
});

test("a session that is revoked elsewhere ends here, and says so", async () => {
  const { page, executor } = await arrive();
  await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  await executor.logout();
  // Heard by the stream at the latest; by the first thing that is read, sooner.
  await page.getByRole("link", { name: "Tasks" }).first().click();
  await page.getByText("Your session has ended").waitFor({ timeout: 20_000 });
});

describe("where nobody comes in without a key", () => {
  test("the page says so, refuses a wrong key, and takes a right one", async () => {
    const closed = await openConsoleLab({ env: { EXECUTOR_ANONYMOUS: "0" } });
    try {
      const visitor = await openVisitor(closed.browser, closed.installation.url);
      const { page } = visitor;
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.getByRole("button", { name: /without signing in/ }).count()).toBe(0);
      const field = page.getByLabel("API key, or login or invite link");
      await field.fill("exk_not-a-key-of-anyone");
      await page.keyboard.press("Enter");
      await page.getByText("This key is unknown, expired or revoked.").waitFor();
      expect(await findBarriers(page)).toEqual([]);
      const { token } = (await Bun.file(join(closed.installation.home, "owner-key")).json()) as { token: string };
      await field.fill(token);
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Account: Owner Signed in by key" }).waitFor();
      // The owner's key is forgotten here, not revoked: others use it.
      await page.getByRole("button", { name: /^Account/ }).click();
      await page.getByRole("menuitem", { name: "Forget the key and sign out" }).click();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      const owner = createExecutor({ baseUrl: closed.installation.url, token });
      expect((await owner.me()).installationAdmin).toBe(true);
      expect(visitor.problems).toEqual([]);
    } finally {
      await closed.stop();
    }
  });
});

describe("finding the way", () => {
  test("keys lead everywhere: help, screens, the palette that finds tools by what they do", async () => {
    const { page } = await arrive();
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).getByText("Approve what is selected").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "keys");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByRole("heading", { name: "No tasks yet" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search" }).fill("return the given value");
    await page.getByRole("option", { name: /executor\.echo/ }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "palette");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Code of the task" }).getByText("tools.executor.echo").waitFor();
  });

  test("tabs of one browser share one stream, and each hears the news", async () => {
    const { page, executor, context } = await arrive();
    await makeEchoAsk(executor);
    const second = await context.newPage();
    let streams = 0;
    second.on("request", (request) => (streams += request.url().endsWith("/api/events") ? 1 : 0));
    await second.goto(lab.installation.url);
    await second.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await askForApproval(executor, 1);
    for (const each of [page, second]) await each.getByRole("link", { name: /executor\.echo/ }).waitFor();
    expect(streams).toBe(0);
    // The one that reads goes; the other goes on.
    await page.close();
    await askForApproval(executor, 2);
    await until("the second row", async () => (await second.locator("[id^=row-]").count()) === 2);
    expect(streams).toBe(1);
  });
});

describe("deciding", () => {
  test("an approval arrives live, shows all there is to know, and is given by keys alone", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, { to: "ops@example.com", subject: "Deploy finished" });
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    expect(await page.title()).toBe("(1) Approvals · Executor");
    const detail = page.getByRole("region", { name: "Selected" });
    await detail.getByText("ops@example.com").first().waitFor();
    await detail.getByText("line 2").waitFor();
    await detail.getByText(/expires in/).waitFor();
    expect(await detail.locator("[data-marked]").textContent()).toContain("tools.executor.echo");
    expect((await executor.approvals.list({ status: "pending" })).items.map(({ line }) => line)).toEqual([2]);
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "inbox-one");
    await page.getByRole("link", { name: /executor\.echo/ }).click();
    await shoot(page, "inbox-one-open");
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    await shoot(page, "inbox-one-dark");
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    await page.goto(lab.installation.url);
    await detail.getByText("ops@example.com").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    // Not sent yet: it can be taken back.
    expect((await executor.tasks.get(taskId)).counts.pending).toBe(1);
    await page.getByRole("button", { name: "Send now" }).press("Enter");
    expect((await executor.tasks.wait(taskId)).status).toBe("completed");
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
  });

  test("undo takes a decision back before it is sent", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, 1);
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await page.keyboard.press("u");
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await Bun.sleep(5_500);
    expect((await executor.tasks.get(taskId)).status).toBe("waiting");
  });

  test("what was decided is sent when the page is closed", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, 1);
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("a");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.goto("about:blank");
    expect((await executor.tasks.wait(taskId, { timeoutMs: 4_000 })).status).toBe("completed");
  });

  test("a denial with its reason reaches the code", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, 1);
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("d");
    await page.getByRole("dialog", { name: "Deny this call" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.type("not on a Friday");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Send now" }).click();
    const task = await executor.tasks.wait(taskId);
    expect(task.status).toBe("denied");
    expect(task.error?.message).toContain("not on a Friday");
    await page.goto(`${lab.installation.url}/tasks/${taskId}`);
    await page.getByText("not on a Friday").first().waitFor();
    await shoot(page, "task-denied");
  });

  test("always allow writes a rule as narrow as it says", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    await askForApproval(executor, "narrow");
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("w");
    const dialog = page.getByRole("dialog", { name: "Always allow" });
    await dialog.getByText(/From now on/).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "always-allow");
    await dialog.getByRole("button", { name: "Approve, and allow from now on" }).click();
    await page.getByRole("button", { name: "Send now" }).click();
    const { items } = await until("the rule", async () => {
      const policies = await executor.policies.list();
      return policies.items.some(({ decision }) => decision === "allow") && policies;
    });
    const me = await executor.me();
    expect(items.find(({ decision }) => decision === "allow")).toMatchObject({
      toolPathPattern: "executor.echo",
      actorId: me.actorId,
      conditions: [
        { path: "at", op: "equals", value: 0 },
        { path: "value", op: "equals", value: "narrow" },
      ],
    });
  });

  test("many alike are one group, decided together after one question", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, "bulk", 40);
    await page.getByText("40 alike").waitFor();
    await page.getByRole("link", { name: /40 alike/ }).click();
    await page.getByRole("heading", { name: "Input 1 of 40" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "inbox-group");
    // One key must not approve forty calls.
    await page.keyboard.press("a");
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    await page.getByRole("button", { name: "Approve all 40 …" }).click();
    await page.getByRole("button", { name: "Approve 40 calls" }).click();
    await page.getByRole("button", { name: "Send now" }).click();
    expect((await executor.tasks.wait(taskId, { timeoutMs: 20_000 })).status).toBe("completed");
  });

  test("a decision in one browser is seen in the other in under a second", async () => {
    const first = await arrive();
    await makeEchoAsk(first.executor);
    const second = await arrive();
    const token = await tokenOf(first.page);
    await second.page.evaluate(
      (value) => localStorage.setItem("executor.session", JSON.stringify({ token: value, kind: "login" })),
      token,
    );
    await second.page.reload();
    await askForApproval(first.executor, 1);
    await Promise.all([first, second].map(({ page }) => page.getByRole("link", { name: /executor\.echo/ }).waitFor()));
    await first.page.keyboard.press("a");
    const startedAt = performance.now();
    await first.page.getByRole("button", { name: "Send now" }).click();
    await second.page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });
});

describe("what goes wrong in the middle", () => {
  test("a restart of the server is survived: the page says so quietly, comes back by itself, and misses nothing", async () => {
    const { page, executor } = await arrive();
    await makeEchoAsk(executor);
    const taskId = await askForApproval(executor, "before");
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.reload();
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await until("the other screens are loaded", () =>
      page.evaluate(() => performance.getEntriesByType("resource").some(({ name }) => name.includes("/task-list-"))),
    );
    await lab.installation.killServer();
    await page.getByText("Reconnecting …").waitFor();
    await shoot(page, "reconnecting");
    // Screens that were not opened yet open all the same.
    await page.getByRole("link", { name: "Tasks" }).first().click();
    await page.getByRole("heading", { name: "Tasks", exact: true }).waitFor();
    await page.getByRole("link", { name: "Approvals" }).first().click();
    await lab.installation.startServer();
    await page.getByText("Reconnecting …").waitFor({ state: "detached", timeout: 15_000 });
    await page.getByRole("link", { name: /executor\.echo/ }).waitFor();
    await page.keyboard.press("a");
    await page.getByRole("button", { name: "Send now" }).click();
    expect((await executor.tasks.wait(taskId, { timeoutMs: 15_000 })).status).toBe("completed");
  });
});

describe("a call whose answer was lost in a crash", () => {
  test("says plainly that it may already have happened, and is sent again only when a person says so", async () => {
    const charges: number[] = [];
    const hung = Promise.withResolvers<void>();
    const bank = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      idleTimeout: 0,
      async fetch(request) {
        if (request.method === "GET") return Response.json(BANK);
        charges.push(charges.length + 1);
        if (charges.length === 1) await hung.promise;
        return Response.json({ charged: charges.length });
      },
    });
    try {
      const { page, executor } = await arrive();
      const { sourceId } = await executor.sources.add({
        type: "openapi",
        name: "Bank",
        spec: `${bank.url}openapi.json`,
        baseUrl: bank.url.origin,
        defaultWriteApproval: "auto",
      });
      await executor.sources.waitUntilRead(sourceId);
      const { items } = await executor.tools.list({ namespace: "bank" });
      const { taskId } = await executor.tasks.create(`return await tools.${items[0]?.path}({ amount: 3 })`);
      await until("the call has left", () => charges.length === 1);
      await lab.installation.restart();
      hung.resolve();
      await page.getByText("This call may already have happened.").waitFor({ timeout: 20_000 });
      expect(await findBarriers(page)).toEqual([]);
      // Sending again is a matter of this one call, never of a rule.
      expect(await page.getByRole("button", { name: "Always allow …" }).count()).toBe(0);
      await shoot(page, "may-have-run");
      await page.getByRole("button", { name: "Send it again" }).click();
      await page.getByRole("button", { name: "Send now" }).click();
      expect((await executor.tasks.wait(taskId, { timeoutMs: 15_000 })).result).toEqual({ charged: 2 });
    } finally {
      await bank.stop(true);
    }
  });
});

const BANK = {
  openapi: "3.0.0",
  info: { title: "Bank", version: "1" },
  paths: {
    "/charge": {
      post: {
        operationId: "charge",
        tags: ["payments"],
        requestBody: {
          content: {
            "application/json": { schema: { type: "object", properties: { amount: { type: "number" } } } },
          },
        },
        responses: { 200: { description: "done" } },
      },
    },
  },
};

describe("tasks", () => {
  test("one is written with completion, run by Ctrl-Enter, and followed to its result", async () => {
    const { page } = await arrive({ path: "/tasks" });
    await page.getByRole("heading", { name: "No tasks yet" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("c");
    const editor = page.getByRole("textbox", { name: "Code of the task" });
    await editor.waitFor();
    // Not typed over: the browser would style what it inserts there like what it replaced, and log that it may not.
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.type('console.log("hello from the task");\nreturn await tools.exec');
    await page.getByRole("option", { name: /executor/ }).click();
    await page.keyboard.type(".ec");
    await page.getByRole("option", { name: /echo/ }).waitFor();
    await shoot(page, "composer");
    await page.getByRole("option", { name: /echo/ }).click();
    await page.keyboard.type('({ value: { a: [1, 2, 3], text: "done" } })');
    expect(await findBarriers(page)).toEqual([]);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Result" }).getByText("done").waitFor();
    await page.getByRole("log").getByText("hello from the task").waitFor();
    await page.getByRole("region", { name: "Calls" }).getByText("executor.echo").click();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "task-completed");
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Copy as curl" }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain("$EXECUTOR_TOKEN");
    expect(copied).not.toContain(await tokenOf(page));
  });

  test("an error is shown at its line, a long task is cancelled, and the list tells of both", async () => {
    const { page, executor } = await arrive();
    const failing = await executor.tasks.create("const a = 1;\nconst b: any = null;\nreturn b.c + a;");
    await executor.tasks.wait(failing.taskId);
    await page.goto(`${lab.installation.url}/tasks/${failing.taskId}`);
    await page.getByRole("region", { name: "Error" }).waitFor();
    expect(await page.locator("[data-marked]").textContent()).toContain("return b.c");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "task-failed");
    const long = await executor.tasks.create('return await tools.human.ask({ question: "Go on?" })');
    await page.goto(`${lab.installation.url}/tasks/${long.taskId}`);
    await page.getByRole("region", { name: "Waits for" }).waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("cancelled").first().waitFor();
    await page.goto(`${lab.installation.url}/tasks`);
    await page.getByText("cancelled", { exact: true }).last().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "tasks");
  });

  test("a question of the code is answered on its page", async () => {
    const { page, executor } = await arrive();
    const { taskId } = await executor.tasks.create(
      'return await tools.human.ask({ question: "Which colour?", options: ["red", "green"] })',
    );
    const attention = page.getByRole("region", { name: "Needs attention" });
    await attention.getByText("Which colour?").waitFor();
    await shoot(page, "needs-attention");
    await attention.getByRole("link").click();
    await page.getByLabel("Your answer").selectOption("green");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "question");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The task goes on.").waitFor();
    expect((await executor.tasks.wait(taskId)).result).toBe("green");
  });
});
