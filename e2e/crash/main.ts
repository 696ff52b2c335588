/**
 * The whole crash suite (`bun run test:crash`): every scenario is killed at every point it has, then at pairs of points,
 * until at least 100 kills were made. Prints one line per scenario and `N passed, N failed`.
 */
import { CrashLab, scenarios, verdict } from "@executor/testkit/crash/crash-run";

const MIN_KILLS = 100;
const MAX_POINTS = 60;

const lab = new CrashLab();
let [kills, asked, passed, failed] = [0, 0, 0, 0];

async function check(name: string, scenario: (typeof scenarios)[number], deadly: number[]): Promise<number> {
  const report = await lab.run(scenario, deadly);
  const problem = verdict(report);
  kills += report.kills;
  asked += report.unknownAsked;
  if (problem) console.log(`FAILED ${name}, killed at ${deadly.join(" and ")}: ${problem}`);
  if (problem) failed++;
  else passed++;
  return report.kills;
}

try {
  for (const scenario of scenarios) {
    let points = 0;
    while (points < MAX_POINTS && (await check(scenario.name, scenario, [points + 1])) > 0) points++;
    console.log(`${scenario.name}: killed at each of its ${points} points`);
  }
  for (let n = 0; kills < MIN_KILLS; n++) {
    const scenario = scenarios[n % scenarios.length];
    if (scenario) await check(scenario.name, scenario, [1 + ((n * 7) % 13), 1 + ((n * 5) % 11)]);
  }
} finally {
  await lab.close();
}
console.log(`${kills} kills, ${asked} unknown outcomes asked; no effect may be lost or doubled`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
