/**
 * A real browser for the tests: CHROME_PATH, else a Chromium of the system, else the one that npm brings. Its pages fail the
 * test when the console logs an error, throws, breaks the content security policy or asks another host for anything.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { repositoryRoot } from "@executor/testkit/installation/product-process";

const SYSTEM = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

async function findChromium(): Promise<string> {
  const found = [process.env["CHROME_PATH"] ?? "", ...SYSTEM].find((path) => path !== "" && existsSync(path));
  if (found !== undefined) return found;
  // Before the import: it then brings the libraries and fonts along that a bare machine lacks.
  process.env["AWS_LAMBDA_JS_RUNTIME"] ??= "nodejs22.x";
  const { default: brought } = await import("@sparticuz/chromium");
  return brought.executablePath();
}

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** What went wrong on the page so far. */
  problems: string[];
  close(): Promise<void>;
}

interface VisitOptions {
  width?: number;
  height?: number;
  theme?: "light" | "dark";
}

export async function openVisitor(
  browser: Browser,
  url: string,
  { width = 1280, height = 800, theme = "light" }: VisitOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`thrown: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !isExpected(message.text())) problems.push(`logged: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !request.url().startsWith("data:"))
      problems.push(`asked: ${request.url()}`);
  });
  await page.goto(url);
  return { page, context, problems, close: () => context.close() };
}

/** The browser's own words about requests that failed, which tests of failures make on purpose. */
const isExpected = (text: string): boolean => text.startsWith("Failed to load resource");

const shots = join(repositoryRoot, "e2e/screenshots");

/** Kept for people to look at, at both widths. Git ignores the folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(shots, { recursive: true });
  const before = page.viewportSize();
  for (const [width, height] of [
    [1280, 800],
    [380, 780],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    await page.screenshot({ path: join(shots, `${name}-${width}.png`) });
  }
  if (before) await page.setViewportSize(before);
}
