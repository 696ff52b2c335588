/** What an admin does in the console, in a real browser: credentials, sign-ins, policies, keys, invites, the log. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createExecutor } from "@executor/client";
import { type OpenapiServer, startOpenapiServer } from "@executor/testkit/tools/openapi-server";
import { findBarriers } from "./support/axe.ts";
import { shoot } from "./support/browser.ts";
import { type ConsoleLab, type ConsolePerson, openConsole, openConsoleLab } from "./support/console.ts";
import { connectMcp } from "./support/mcp-client.ts";
import { type OauthWorld, startOauthWorld } from "./support/oauth-provider.ts";

interface CursorSetUp {
  mcpServers: { executor: { url: string; headers: { Authorization: string } } };
}

const TOKEN = "canary-token-of-the-pets-0123456789";

let lab: ConsoleLab;
let api: OpenapiServer;
let world: OauthWorld;
const people: ConsolePerson[] = [];
beforeAll(async () => {
  api = startOpenapiServer({ token: TOKEN });
  [lab, world] = await Promise.all([openConsoleLab(), startOauthWorld()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([lab.stop(), world.stop(), api.stop()]);
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

const go = (person: ConsolePerson, path: string) => person.page.goto(`${lab.installation.url}${path}`);

async function addPets({ executor }: ConsolePerson): Promise<void> {
  const { sourceId } = await executor.sources.add({
    type: "openapi",
    name: "Pets",
    spec: `${api.url}/openapi.json`,
    baseUrl: api.url,
    auth: { mode: "workspace", type: "bearer" },
  });
  await executor.sources.waitUntilRead(sourceId);
}

describe("credentials", () => {
  test("a task that needs one waits; a person fills it in on its page, and the task goes on", async () => {
    const person = await arrive();
    const { page, executor } = person;
    await addPets(person);
    const { taskId } = await executor.tasks.create("return await tools.pets.pets.list_pets()");
    const attention = page.getByRole("region", { name: "Needs attention" });
    await attention.getByText("Credential for Pets").waitFor();
    await attention.getByRole("link").click();
    await page.getByLabel("Token").fill(TOKEN);
    expect(await page.getByLabel("Token").getAttribute("type")).toBe("password");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "credential-asked");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("The task goes on.").waitFor();
    expect((await executor.tasks.wait(taskId)).result).toEqual([{ id: 1, name: "Rex" }]);
    await go(person, "/secrets");
    await page.getByRole("region", { name: "Pets" }).getByText("kept").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "credentials");
    expect(await page.content()).not.toContain(TOKEN);
  });

  test("one is given before anything asks, and forgotten after one question", async () => {
    const person = await arrive();
    const { page, executor } = person;
    await go(person, "/secrets");
    await page.getByRole("heading", { name: "No source needs a credential" }).waitFor();
    await shoot(page, "credentials-empty");
    await addPets(person);
    const pets = page.getByRole("region", { name: "Pets" });
    await pets.getByRole("button", { name: "Give …" }).click();
    await page.getByLabel("Token").fill(TOKEN);
    await page.getByLabel("Account").fill("work");
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "credential-give");
    await page.getByRole("button", { name: "Keep it" }).click();
    await pets.getByText("work").waitFor();
    const answer = await executor.tasks.run('return await tools.pets.pets.list_pets({ $account: "work" })');
    expect(answer).toEqual([{ id: 1, name: "Rex" }]);
    await pets.getByRole("button", { name: "Forget work of pets" }).click();
    await page.getByRole("button", { name: "Forget it" }).click();
    await pets.getByText("None yet").waitFor();
    expect((await executor.credentials.list()).items).toEqual([]);
  });

  test("an account is connected with its provider, whose host is shown before anyone goes there", async () => {
    const person = await arrive();
    const { page, executor } = person;
    const { sourceId } = await executor.sources.add({
      type: "openapi",
      name: "Pets",
      spec: `${world.apiUrl}/openapi.json`,
      baseUrl: world.apiUrl,
      auth: { mode: "workspace", type: "oauth2" },
    });
    await executor.sources.waitUntilRead(sourceId);
    const { taskId } = await executor.tasks.create("return await tools.pets.pets.list_pets()");
    await go(person, "/secrets");
    await page.getByRole("button", { name: "Connect …" }).click();
    await page.getByRole("button", { name: "Go on" }).click();
    const link = page.getByRole("link", { name: "Go to the provider" });
    await link.waitFor();
    await page.getByRole("dialog").getByText(new URL(world.issuer).host).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "connect-account");
    const back = await world.signIn((await link.getAttribute("href")) ?? "");
    expect(back.status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("region", { name: "Pets" }).getByText("connected").waitFor();
    expect((await executor.tasks.wait(taskId)).result).toEqual([{ id: 1, name: "Rex" }]);
  });
});

describe("policies", () => {
  test("a rule is written, said in words, tested on a call, and removed", async () => {
    const person = await arrive();
    const { page, executor } = person;
    await page.keyboard.press("g");
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "No rules yet" }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "policies-empty");
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("button", { name: "Keep the rule" }).click();
    await page.getByRole("alert").getByText("Say which tools").waitFor();
    await page.getByLabel("Tools").fill("executor.echo");
    await page.getByLabel("Their calls").selectOption("deny");
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByLabel("Value at").fill("value");
    await page.getByLabel("This", { exact: true }).fill("bad");
    await page.getByText('when value is "bad"').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "policy-new");
    await page.getByRole("button", { name: "Keep the rule" }).click();
    await page.getByRole("list", { name: "Rules, in the order they win" }).getByText("executor.echo").waitFor();
    const test = page.getByRole("region", { name: "Test a call" });
    await test.getByLabel("Tool").fill("executor.echo");
    await test.getByLabel("Input").fill('{"value": "bad"}');
    await test.getByRole("button", { name: "Test" }).click();
    await test.getByText("deny", { exact: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "policies");
    const refused = await executor.tasks.create('return await tools.executor.echo({ value: "bad" })');
    expect((await executor.tasks.wait(refused.taskId)).status).toBe("denied");
    expect(await executor.tasks.run('return await tools.executor.echo({ value: "good" })')).toBe("good");
    await page.getByRole("button", { name: "Remove the rule for executor.echo" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("heading", { name: "No rules yet" }).waitFor();
  });
});

describe("keys and people", () => {
  test("a key is shown once with its set-ups, works, and is dead when revoked", async () => {
    const person = await arrive();
    const { page } = person;
    await go(person, "/connect");
    await page.getByLabel("For", { exact: true }).fill("my assistant");
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Make a key" }).click();
    const token =
      (await page.getByText("It is shown this once").locator("xpath=..").locator("code").textContent()) ?? "";
    expect(token.length).toBeGreaterThan(30);
    for (const name of ["Cursor", "Codex", "VS Code", "SDK", "curl", "Claude Code"])
      await page.getByRole("tab", { name }).click();
    await page.getByRole("figure").getByText(token.slice(0, 12)).first().waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "connect");
    const assistant = createExecutor({ baseUrl: lab.installation.url, token });
    expect(await assistant.me()).toMatchObject({ role: "agent" });
    // What is shown for Cursor is what its client would do with it.
    await page.getByRole("tab", { name: "Cursor" }).click();
    const shown = await page
      .getByLabel(/Cursor/)
      .locator("code")
      .innerText();
    const { mcpServers } = JSON.parse(shown.replace(/^\d+\n?/gm, "")) as CursorSetUp;
    const { url, headers } = mcpServers.executor;
    expect(headers.Authorization).toBe(`Bearer ${token}`);
    expect(url).toBe(`${lab.installation.url}/mcp`);
    const client = await connectMcp({ url: url.slice(0, -"/mcp".length), token });
    const answer = await client.call("execute", { code: 'return await tools.executor.echo({ value: "by Cursor" })' });
    expect(answer.text).toContain("by Cursor");
    await client.close();
    await page.reload();
    await page.getByText("my assistant").waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole("button", { name: "Revoke my assistant" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("None yet.").waitFor();
    await expect(assistant.me()).rejects.toThrow();
  });

  test("a link lets a second person in, who sees only what his role may", async () => {
    const person = await arrive();
    await go(person, "/connect");
    await person.page.getByRole("button", { name: "Make a link" }).click();
    const url = (await person.page.getByRole("status").locator("code").textContent()) ?? "";
    const guest = await arrive();
    await guest.page.goto(url);
    await guest.page.getByRole("button", { name: "Join it" }).click();
    await guest.page.getByRole("button", { name: /Account: reviewer/ }).waitFor();
    const entries = guest.page.getByRole("navigation", { name: "Main" }).first().getByRole("link");
    expect(await entries.allTextContents()).toEqual(["Approvals", "Tasks", "Sources"]);
    await go(guest, "/policies");
    await guest.page.getByRole("alert").waitFor();
    expect(await findBarriers(guest.page)).toEqual([]);
  });
});

describe("activity", () => {
  test("who did what is listed, filtered by it and by whom, and exported", async () => {
    const person = await arrive();
    const { page, executor } = person;
    await executor.tasks.run('return await tools.executor.echo({ value: "\\u202eevil" })');
    await executor.policies.create({ toolPathPattern: "executor.echo", decision: "deny" });
    await go(person, "/activity");
    const list = page.getByRole("list", { name: "What happened, newest first" });
    await list.getByText("Policy made").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await shoot(page, "activity");
    await page.getByLabel("What", { exact: true }).selectOption("task.created");
    await list.getByText("Task submitted").waitFor();
    expect(await list.getByText("Policy made").count()).toBe(0);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export" }).click();
    const path = await (await saved).path();
    const lines = (await Bun.file(path).text()).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toEqual(["task.created"]);
    await page.getByLabel("Actor").fill("actor_nobody");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Nothing of the kind" }).waitFor();
  });
});
