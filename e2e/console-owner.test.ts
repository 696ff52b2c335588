/** An assistant without a key gives its person a link: what the person sees there, and how it is opened, as docs/mcp.md says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createExecutor } from "@executor/client";
import { findBarriers } from "./support/axe.ts";
import { openVisitor } from "./support/browser.ts";
import { type ConsoleLab, makeEchoAsk, openConsoleLab } from "./support/console.ts";
import { connectMcp } from "./support/mcp-client.ts";

let lab: ConsoleLab;
beforeAll(async () => {
  lab = await openConsoleLab({ env: { MCP_CALL_WAIT_MS: "10000" } });
}, 60_000);
afterAll(() => lab.stop());

test("the link says why it does not open, and opens for the owner's token, read as the docs say", async () => {
  const { installation, browser } = lab;
  const docs = await Bun.file(`${import.meta.dir}/../docs/mcp.md`).text();
  const [, command = ""] = /`(sed -n .+? ~\/\.local\/share\/executor\/owner-key)`/.exec(docs) ?? [];
  const read = command.replace("~/.local/share/executor", installation.home);
  const token = (await Bun.$`sh -c ${read}`.text()).trim();
  const owner = createExecutor({ baseUrl: installation.url, token });
  await makeEchoAsk(owner);

  const client = await connectMcp({ url: installation.url });
  const { data } = await client.call("execute", { code: "return await tools.executor.echo({ value: 42 })" });
  expect(data.status).toBe("waiting");
  const [{ url }] = data["waitingFor"] as [{ url: string }];

  const { page, close } = await openVisitor(browser, url);
  await page.getByRole("heading", { name: "There is nothing of that name in your workspace." }).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.getByLabel("API key, or login or invite link").fill(token);
  await page.keyboard.press("Enter");
  // The address is still the link's.
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .click();
  const { data: outcome } = await client.call("resume", { taskId: data.taskId });
  expect(outcome).toMatchObject({ status: "completed", result: 42 });
  await client.close();
  await close();
}, 60_000);
