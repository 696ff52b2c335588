/**
 * `bun run test:mcp-conformance`: the official suite against the product as an MCP client, printed as a table and written to
 * docs/mcp-conformance.md. Exits with 1 when a scenario fails that 2025-11-25 requires, or when the suite finds no fault with a
 * client that has one.
 */
import { join } from "node:path";
import { carelessClient, FAULTS, productClient, startProduct } from "./installation.ts";
import { requiredScenarios, type Revision, runRequirements, runScenario, type Verdict } from "./run-suite.ts";
import { writeClientSection } from "./write-report.ts";

const REVISIONS: Revision[] = ["2025-11-25", "2026-07-28"];
const report = join(import.meta.dir, "../../docs/mcp-conformance.md");

const installation = await startProduct();
const results: Partial<Record<Revision, Verdict[]>> = {};
try {
  for (const revision of REVISIONS) {
    const { verdicts, output } = await runRequirements(revision, productClient(installation));
    results[revision] = verdicts;
    print(revision, verdicts);
    if (missedOf(revision).length > 0) console.log(output);
  }
} finally {
  await installation.stop();
}
const unseen: string[] = [];
for (const { fault, scenario, revision } of FAULTS)
  if (await runScenario(revision, scenario, carelessClient(fault))) unseen.push(`${fault} (${scenario})`);
for (const each of unseen) console.log(`The suite did not notice a client that is wrong: ${each}`);

await writeClientSection(
  report,
  REVISIONS.map((revision) => ({ revision, required: requiredScenarios(revision), verdicts: results[revision] ?? [] })),
);
process.exitCode = missedOf("2025-11-25").length > 0 || unseen.length > 0 ? 1 : 0;

function missedOf(revision: Revision): string[] {
  const passed = new Set(results[revision]?.filter(({ ok }) => ok).map(({ scenario }) => scenario));
  return requiredScenarios(revision).filter((scenario) => !passed.has(scenario));
}

function print(revision: Revision, verdicts: Verdict[]): void {
  const required = new Set(requiredScenarios(revision));
  console.log(`\n${revision}`);
  for (const { scenario, ok, passed, failed } of verdicts) {
    const kind = required.has(scenario) ? "required" : "optional";
    console.log(`${ok ? "ok    " : "FAILED"}  ${kind}  ${scenario.padEnd(44)} ${passed} checks, ${failed} failed`);
  }
  const missed = missedOf(revision);
  console.log(`${revision}: ${required.size - missed.length} of ${required.size} required scenarios pass`);
}
