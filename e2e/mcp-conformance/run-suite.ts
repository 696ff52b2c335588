/**
 * Runs the official MCP conformance suite against a client command, and gives the referee's own verdicts. The suite starts a server
 * per scenario, all at once, and the command for each of them.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Revision = "2025-11-25" | "2026-07-28";

export interface Verdict {
  scenario: string;
  ok: boolean;
  passed: number;
  failed: number;
  warnings: number;
}

export interface SuiteResult {
  verdicts: Verdict[];
  /** What the suite and the clients said, for whoever must find out why. */
  output: string;
}

export interface SuiteRun {
  /** A file for Bun; the suite appends the URL of its server. */
  client: string;
  env: Record<string, string>;
}

const suite = dirname(Bun.resolveSync("@modelcontextprotocol/conformance/package.json", import.meta.dir));
const RUN_MS = 120_000;
const SCENARIO_MS = 40_000;

/** The scenarios that a client must pass to conform, as the suite froze them at the release of the revision. */
export function requiredScenarios(revision: Revision): string[] {
  const text = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8");
  return (Bun.YAML.parse(text) as { client: string[] }).client;
}

export const runRequirements = (revision: Revision, run: SuiteRun): Promise<SuiteResult> =>
  runSuite(["--requirements", revision], run);

export async function runScenario(revision: Revision, scenario: string, run: SuiteRun): Promise<boolean> {
  return (await start(["--scenario", scenario, "--spec-version", revision], run)).code === 0;
}

async function runSuite(selection: string[], run: SuiteRun): Promise<SuiteResult> {
  const { output } = await start(selection, run);
  const line = /^[✓✗] (\S+): (\d+) passed, (\d+) failed(?:, (\d+) warnings)?$/gm;
  const verdicts = [...output.matchAll(line)].map(([text, scenario = "", passed, failed, warnings = "0"]) => ({
    scenario,
    ok: text.startsWith("✓"),
    passed: Number(passed),
    failed: Number(failed),
    warnings: Number(warnings),
  }));
  return { verdicts, output };
}

async function start(selection: string[], { client, env }: SuiteRun): Promise<{ code: number; output: string }> {
  const results = mkdtempSync(join(tmpdir(), "executor-conformance-"));
  const command = `${process.execPath} ${join(import.meta.dir, client)}`;
  const limits = ["--timeout", String(SCENARIO_MS), "--output-dir", results];
  const args = [join(suite, "dist/index.js"), "client", "--command", command, ...selection, ...limits];
  const running = Bun.spawn([process.execPath, ...args], {
    env: { PATH: process.env["PATH"] ?? "", HOME: results, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_MS,
    killSignal: "SIGKILL",
  });
  try {
    const [out, err, code] = await Promise.all([
      new Response(running.stdout).text(),
      new Response(running.stderr).text(),
      running.exited,
    ]);
    return { code, output: out + err };
  } finally {
    rmSync(results, { recursive: true, force: true });
  }
}
