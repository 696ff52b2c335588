/**
 * Reads the counts from the end of what `bun test` prints. Its JUnit report would be easier to read,
 * but leaves out files that could not be loaded.
 */
export interface TestSummary {
  passed: number;
  failed: number;
}

/** Zero of both if there is no summary: the run broke off, or there was no test. */
export function readTestSummary(output: string): TestSummary {
  const lines = output.split("\n");
  const end = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?/.test(line));
  const counts: TestSummary = { passed: 0, failed: 0 };
  // Upwards from its last line, as far as lines look like counts: a test may print such lines, too, but further up.
  for (let at = end - 1; at >= 0; at--) {
    const count = /^ *(\d+) (pass|fail|skip|todo|error|filtered|snapshot|expect)/.exec(lines[at] ?? "");
    if (!count) break;
    if (count[2] === "pass") counts.passed = Number(count[1]);
    if (count[2] === "fail") counts.failed = Number(count[1]);
  }
  return counts;
}
