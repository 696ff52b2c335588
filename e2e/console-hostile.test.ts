/** What tools, code and agents could put on the screen of the person who decides, and how much of it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createExecutor } from "@executor/client";
import type { Page } from "playwright-core";
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
let person: ConsolePerson;
let page: Page;
beforeAll(async () => {
  lab = await openConsoleLab();
  person = await openConsole(lab);
  page = person.page;
  await makeEchoAsk(person.executor);
}, 60_000);
afterAll(async () => {
  const { problems } = person;
  await lab.stop();
  expect(problems).toEqual([]);
});

const HTML = '<img src=x onerror="document.title=`pwned`"><script>document.title="pwned"</script><b>bold</b>';

describe("text that lies", () => {
  test("markup, bidi, zero-width, ANSI, padding and hidden keys are shown as what they are", async () => {
    const input = {
      html: HTML,
      bidi: "pay \u202e001$\u202c now",
      zero: "rm\u200b-rf",
      ansi: "\u001b[2Jclean",
      padded: `harmless${"\n".repeat(400)}and then the rest`,
      link: "javascript:alert(1)",
      image: "https://evil.example/beacon.png",
      "ke\u200by": "hidden key",
      constructor: "own",
    };
    const taskId = await askForApproval(person.executor, input);
    await page.goto(`${lab.installation.url}/`);
    const detail = page.getByRole("region", { name: "Selected" });
    const part = detail.getByRole("region", { name: "Input" });
    await part.getByText("U+202E").waitFor();
    for (const mark of ["U+200B", "U+001B", "400 line breaks"]) await part.getByText(mark).first().waitFor();
    expect(await part.innerText()).toContain(HTML);
    expect(await part.innerText()).toContain("and then the rest");
    expect(await part.locator("a, img, script, b").count()).toBe(0);
    await shoot(page, "hostile-input");
    await part.getByRole("button", { name: "Input as JSON" }).click();
    expect(await part.locator("code").innerText()).toContain("\\u202e001$\\u202c");
    expect(await part.locator("a, img, script, b").count()).toBe(0);
    expect(await page.title()).not.toContain("pwned");
    await person.executor.tasks.cancel(taskId);
  });

  test("results, output, errors and names of a task are text", async () => {
    const { taskId } = await person.executor.tasks.create(
      `console.log(${JSON.stringify(HTML)}, "\\u202edlog"); console.error("\\u001b[31mred"); return { ${JSON.stringify(HTML)}: ${JSON.stringify(HTML)} }; // \u202e }`,
    );
    await person.executor.tasks.wait(taskId);
    await page.goto(`${lab.installation.url}/tasks/${taskId}`);
    await page.getByRole("log").getByText("U+202E").waitFor();
    const main = page.getByRole("main");
    expect(await main.locator("img, script, b").count()).toBe(0);
    expect(await page.title()).not.toContain("pwned");
    expect(await page.locator("pre").last().innerText()).toContain("U+202E");
  });
});

describe("too much", () => {
  test("an input of a megabyte opens at once, its end in sight, all of it within reach", async () => {
    const { executor } = person;
    const code = 'return await tools.executor.echo({ text: "x".repeat(1_000_000) + " AND THE END" });';
    const { taskId } = await executor.tasks.create(code);
    await until("an approval", async () => (await executor.tasks.get(taskId)).counts.pending === 1, 20_000);
    await page.goto(`${lab.installation.url}/`);
    const part = page.getByRole("region", { name: "Selected" }).getByRole("region", { name: "Input" });
    await part.getByText("AND THE END").waitFor();
    const more = part.getByRole("button", { name: /characters left out here/ });
    expect(await more.innerText()).toContain("998,");
    expect(await cpuMsOf(page, 1, () => more.click())).toBeLessThan(300);
    expect(await more.innerText()).toContain("948,");
    await executor.tasks.cancel(taskId);
  });

  test("500 pending approvals: every key is answered in under 100 ms", async () => {
    const { executor } = person;
    // Not alike: different actors ask, so each of them stands alone.
    const keys = await Promise.all(
      Array.from({ length: 250 }, (_, at) => executor.keys.create({ role: "agent", label: `agent ${at}` })),
    );
    await Promise.all(
      keys.map(({ token }) =>
        createExecutor({ baseUrl: lab.installation.url, token }).tasks.create(
          "await Promise.all([tools.executor.echo({ value: 1 }), tools.executor.echo({ value: 2 })])",
        ),
      ),
    );
    await until(
      "500 approvals",
      async () => (await Array.fromAsync(executor.approvals.each({ status: "pending", limit: 200 }))).length === 500,
      60_000,
    );
    await page.goto(`${lab.installation.url}/`);
    await until("all rows", async () => (await page.locator("[id^=row-]").count()) === 500, 15_000);
    await shoot(page, "inbox-500");
    expect(await cpuMsOf(page, 20, () => page.keyboard.press("j"))).toBeLessThan(100);
  }, 120_000);
});

test("10,000 tasks: the list draws a few of them, and scrolls through all", async () => {
  // Nobody runs them: the list is what is looked at.
  const many = await openConsoleLab({ workers: 0, env: { EXECUTOR_LIMIT_REQUESTS_PER_MINUTE: "1000000" } });
  try {
    const { page: list, executor, problems } = await openConsole(many);
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (let made = 0; made < 1_000; made++) await executor.tasks.create(`return ${made}`);
      }),
    );
    await list.goto(`${many.installation.url}/tasks`);
    await list
      .getByRole("link", { name: /return/ })
      .first()
      .waitFor();
    await list.mouse.move(700, 400);
    expect(await cpuMsOf(list, 30, () => list.mouse.wheel(0, 3_000))).toBeLessThan(100);
    expect(await list.locator("main li").count()).toBeLessThan(60);
    expect(await list.locator("main ul").evaluate((element) => element.clientHeight)).toBeGreaterThan(20_000);
    expect(problems).toEqual([]);
  } finally {
    await many.stop();
  }
}, 120_000);

/**
 * What the page's main thread works for one such input, until its frame is drawn, on average. Its processor time, not the
 * time on the wall: the machine may be busy with other things.
 */
async function cpuMsOf(on: Page, times: number, act: () => Promise<void>): Promise<number> {
  const devtools = await on.context().newCDPSession(on);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const read = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1_000;
  };
  const before = await read();
  for (let step = 0; step < times; step++) {
    await act();
    await on.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  }
  const spent = ((await read()) - before) / times;
  await devtools.detach();
  return spent;
}
