/**
 * The official conformance suite against our `/mcp`: every server scenario that means something for a product with tools of its own.
 * What a scenario asks of fixture tools is tested the other way round: the suite's kind of server is a source, and its tools are
 * called through `execute` (mcp-everything.test.ts). Docs: docs/mcp-conformance-server.md.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Installation, startInstallation } from "@executor/testkit/installation/start-installation";
import { until } from "./support/until.ts";

const suite = join(
  dirname(Bun.resolveSync("@modelcontextprotocol/conformance/package.json", import.meta.dir)),
  "dist/index.js",
);
const folder = mkdtempSync(join(tmpdir(), "executor-conformance-"));

interface Check {
  id: string;
  status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  errorMessage?: string;
}

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation({ env: { MCP_CALL_WAIT_MS: "4000" } });
}, 30_000);
afterAll(async () => {
  await installation.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function check(url: string, scenario: string, revision: string): Promise<Check[]> {
  const out = mkdtempSync(join(folder, "run-"));
  const args = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", out];
  const child = Bun.spawn([process.execPath, suite, ...args], {
    env: { PATH: process.env["PATH"] ?? "", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = await new Response(child.stdout).text();
  await child.exited;
  const file = readdirSync(out, { recursive: true })
    .map(String)
    .find((name) => name.endsWith("checks.json"));
  if (!file) throw new Error(`the suite left no checks of ${scenario}:\n${said.slice(-2_000)}`);
  return JSON.parse(readFileSync(join(out, file), "utf8")) as Check[];
}

const failed = (checks: Check[]): string[] => [
  ...new Set(checks.filter(({ status }) => status === "FAILURE").map(({ id }) => id)),
];

/** With the checks that cannot be passed without a fixture, and why. */
const scenarios: [revision: string, scenario: string, unmet: string[], why?: string][] = [
  ["2025-11-25", "server-initialize", []],
  ["2025-11-25", "server-session-lifecycle", []],
  ["2025-11-25", "ping", []],
  ["2025-11-25", "tools-list", []],
  ["2025-11-25", "server-sse-multiple-streams", []],
  ["2025-11-25", "server-sse-polling", []],
  ["2025-11-25", "dns-rebinding-protection", []],
  [
    "2026-07-28",
    "server-stateless",
    [
      "sep-2575-server-rejects-undeclared-capability",
      "sep-2575-missing-capability-http-400",
      "sep-2575-http-server-no-independent-requests-on-stream",
      "sep-2575-server-no-log-without-loglevel",
    ],
    "these call fixture tools of the suite",
  ],
  ["2026-07-28", "tools-list", []],
  ["2026-07-28", "dns-rebinding-protection", []],
  [
    "2026-07-28",
    "caching",
    [
      "sep-2549-prompts-list-caching-hints",
      "sep-2549-resources-list-caching-hints",
      "sep-2549-resources-templates-list-caching-hints",
    ],
    "we offer neither prompts nor resources, and say so",
  ],
  ["2026-07-28", "http-header-validation", []],
  ["2026-07-28", "server-sse-multiple-streams", []],
  ["2026-07-28", "input-required-result-unsupported-methods", []],
];

test.each(scenarios)(
  "%s %s",
  async (revision, scenario, unmet) => {
    const checks = await check(`http://localhost:${installation.port}/mcp`, scenario, revision);
    expect(failed(checks)).toEqual(unmet);
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(0);
  },
  60_000,
);

test("the referee can fail: a server that is known to lack it has no protection against rebound names", async () => {
  const script = join(
    dirname(Bun.resolveSync("@modelcontextprotocol/server-everything/package.json", import.meta.dir)),
    "dist/index.js",
  );
  const port = await freePort();
  const server = Bun.spawn([process.execPath, script, "streamableHttp"], {
    env: { PATH: process.env["PATH"] ?? "", PORT: String(port) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    const url = `http://localhost:${port}/mcp`;
    await until("the server", () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    );
    expect(failed(await check(url, "dns-rebinding-protection", "2025-11-25")).length).toBeGreaterThan(0);
  } finally {
    server.kill("SIGKILL");
    await server.exited;
  }
}, 60_000);

async function freePort(): Promise<number> {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  return port ?? 0;
}
