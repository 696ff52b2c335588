/** The official MCP conformance suite against the product as a client: what each revision requires, all of it; and that the suite can fail. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Installation } from "@executor/testkit/installation/start-installation";
import { carelessClient, FAULTS, productClient, startProduct } from "./mcp-conformance/installation.ts";
import { requiredScenarios, runRequirements, runScenario } from "./mcp-conformance/run-suite.ts";

let installation: Installation;
beforeAll(async () => {
  installation = await startProduct();
}, 30_000);
afterAll(() => installation.stop());

test.each(["2025-11-25", "2026-07-28"] as const)(
  "every client scenario that %s requires passes through a source of the product",
  async (revision) => {
    const { verdicts, output } = await runRequirements(revision, productClient(installation));
    const passed = new Set(verdicts.filter(({ ok }) => ok).map(({ scenario }) => scenario));
    const missed = requiredScenarios(revision).filter((scenario) => !passed.has(scenario));
    if (missed.length > 0) console.error(output);
    expect(missed).toEqual([]);
  },
  120_000,
);

test.each(FAULTS)("the suite finds a client that %o", async ({ fault, scenario, revision }) => {
  expect(await runScenario(revision, scenario, carelessClient(fault))).toBe(false);
});
