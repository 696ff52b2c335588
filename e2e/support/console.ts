/** A person at the console: an installation, a browser, and the SDK with the same session beside it. */
import { createExecutor, type Executor } from "@executor/client";
import {
  type Installation,
  type InstallationOptions,
  startInstallation,
} from "@executor/testkit/installation/start-installation";
import type { Browser, Page } from "playwright-core";
import { buildWeb } from "../../scripts/build-web.ts";
import { launchBrowser, openVisitor, type Visitor } from "./browser.ts";
import { until } from "./until.ts";

export interface ConsoleLab {
  installation: Installation;
  browser: Browser;
  stop(): Promise<void>;
}

export async function openConsoleLab(options: InstallationOptions = {}): Promise<ConsoleLab> {
  await buildWeb();
  const [installation, browser] = await Promise.all([startInstallation(options), launchBrowser()]);
  return {
    installation,
    browser,
    async stop() {
      await browser.close();
      await installation.stop();
    },
  };
}

export interface ConsolePerson extends Visitor {
  executor: Executor;
}

/** Opens the page as a newcomer does, and waits until it is live. */
export async function openConsole(
  { installation, browser }: ConsoleLab,
  options: Parameters<typeof openVisitor>[2] & { path?: string } = {},
): Promise<ConsolePerson> {
  const visitor = await openVisitor(browser, installation.url + (options.path ?? ""), options);
  await visitor.page.getByRole("navigation", { name: "Main" }).first().waitFor({ state: "attached" });
  const token = await tokenOf(visitor.page);
  return { ...visitor, executor: createExecutor({ baseUrl: installation.url, token }) };
}

export const tokenOf = async (page: Page): Promise<string> =>
  until("a session is kept", async () => {
    const stored = await page.evaluate(() => localStorage.getItem("executor.session"));
    return stored === null ? null : (JSON.parse(stored) as { token: string }).token;
  });

/** A task that waits for its one call. */
export async function askForApproval(executor: Executor, value: unknown, times = 1): Promise<string> {
  const calls = `Promise.all(Array.from({ length: ${times} }, (_, at) => tools.executor.echo({ at, value: ${JSON.stringify(value)} })))`;
  const code = `console.log("about to ask");\nconst answers = await ${calls};\nreturn answers[0];`;
  const { taskId } = await executor.tasks.create({ code });
  await until("an approval", async () => (await executor.tasks.get(taskId)).counts.pending === times, 20_000);
  return taskId;
}

/** Calls of the one tool that every installation has ask a person. */
export async function makeEchoAsk(executor: Executor): Promise<void> {
  await executor.policies.create({ toolPathPattern: "executor.echo", decision: "require_approval" });
}
