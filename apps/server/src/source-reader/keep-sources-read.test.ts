import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@executor/core/log";
import type { Hint } from "@executor/core/ports/store";
import { createSystemHost } from "@executor/store/system-host";
import { keepSourcesRead, type ReaderProcess } from "./keep-sources-read.ts";

const dir = mkdtempSync(join(tmpdir(), "executor-reader-"));
const host = createSystemHost();
let reader: ReaderProcess | null = null;
afterEach(async () => {
  await reader?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** A program in the reader's place that leaves a line for each start. */
const program = (then: string): string[] => [
  process.execPath,
  "-e",
  `require("node:fs").mkdirSync(${JSON.stringify(dir)}, { recursive: true }); require("node:fs").appendFileSync(${JSON.stringify(join(dir, "starts"))}, process.pid + " " + (process.env.EXECUTOR_TOOL_SOURCES ?? "none") + "\\n"); ${then}`,
];
const starts = (): string[] =>
  existsSync(join(dir, "starts")) ? readFileSync(join(dir, "starts"), "utf8").trim().split("\n") : [];

function keep(given: { isDue: () => boolean; command: string[]; silentMs?: number }) {
  let tell: (hint: Hint) => void = () => undefined;
  const lines: string[] = [];
  reader = keepSourcesRead({
    store: {
      hasDueSources: async () => given.isDue(),
      watch: (listener) => {
        tell = listener;
        return () => undefined;
      },
    },
    host,
    log: createLogger((line) => lines.push(line), host.now),
    environment: { ...process.env, EXECUTOR_TOOL_SOURCES: '[{"auth":{"token":"secret"}}]' },
    command: given.command,
    ...(given.silentMs !== undefined && { silentMs: given.silentMs }),
  });
  return { tell: () => tell({ kind: "sources", workspaceId: "ws_1" }), lines };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + 10_000; !isTrue(); await Bun.sleep(20)) if (Date.now() > end) throw new Error("never");
}

test("nothing runs while nothing is due; a hint starts one reader, and never a second beside it", async () => {
  let isDue = false;
  const { tell } = keep({ isDue: () => isDue, command: program("setInterval(() => undefined, 1000)") });
  tell();
  await Bun.sleep(100);
  expect(starts()).toEqual([]);
  isDue = true;
  tell();
  await until(() => starts().length === 1);
  tell();
  tell();
  await Bun.sleep(300);
  expect(starts()).toHaveLength(1);
  const [pid = "", secrets] = (starts()[0] as string).split(" ");
  expect(secrets).toBe("none");
  await reader?.stop();
  expect(() => process.kill(Number(pid), 0)).toThrow();
});

test("a reader that says nothing is ended, and another one takes its place", async () => {
  const { lines } = keep({ isDue: () => true, command: program("for (;;);"), silentMs: 400 });
  await until(() => starts().length >= 2);
  expect(lines.some((line) => line.includes("reader.stuck"))).toBe(true);
});

test("a reader that crashes while something is due is started again, not in a hurry", async () => {
  keep({ isDue: () => true, command: program("process.exit(3)") });
  await until(() => starts().length >= 2);
  expect(starts().length).toBeLessThanOrEqual(3);
});
