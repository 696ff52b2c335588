/** The crash suite, shortened for `npm test`: real workers killed with -9 at every point of one scenario. All of it: `bun run test:crash`. */
import { afterAll, expect, test } from "bun:test";
import { CrashLab, scenarios, verdict } from "@executor/testkit/crash/crash-run";

const lab = new CrashLab();
afterAll(() => lab.close());

test("killed at each point in turn, effects around a person and a timer happen once each", async () => {
  const scenario = scenarios.find(({ asks }) => asks);
  if (!scenario) throw new Error("no such scenario");
  let kills = 0;
  for (let point = 1; point <= 60; point++) {
    const report = await lab.run(scenario, [point]);
    expect({ point, problem: verdict(report) }).toEqual({ point, problem: null });
    if (report.kills === 0) break;
    kills += report.kills;
  }
  expect(kills).toBeGreaterThan(10);
}, 180_000);
