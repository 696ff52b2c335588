/** Every rule of axe on the page as it stands, in both themes. */
import axe from "axe-core";
import type { Page } from "playwright-core";

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** One line for each thing that is wrong: empty is good. */
export async function findBarriers(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.waitForFunction((wanted) => document.documentElement.dataset["theme"] === wanted, theme);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    // Through the debugger, where the page's content security policy does not reach.
    await page.evaluate(`${axe.source}; undefined`);
    const violations = (await page.evaluate(
      "axe.run(document, { resultTypes: ['violations'] }).then((results) => results.violations)",
    )) as Violation[];
    for (const { id, nodes } of violations)
      for (const { html, failureSummary } of nodes)
        found.push(`${theme} ${id}: ${html.slice(0, 200)} ${failureSummary?.replace(/\s+/g, " ").slice(0, 300) ?? ""}`);
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  return found;
}
