/** One run: which documents, the judging with its progress, the triage of what prism said, the report. */
import { join } from "node:path";
import { allDocuments, pickedDocuments } from "./documents.ts";
import { judgeAll, type Result } from "./judges.ts";
import { isLimit } from "./known-limits.ts";
import type { CorpusOptions } from "./main.ts";
import { triage } from "./prism-rules.ts";
import { writeReport } from "./report.ts";

const reportFile = join(import.meta.dir, "../../docs/corpus.md");
const MINUTE = 60_000;

/** False: something failed. */
export async function runCorpus(options: CorpusOptions): Promise<boolean> {
  const known = options.all ? allDocuments() : pickedDocuments();
  const documents = known.filter(
    ({ name }) => options.only.length === 0 || options.only.some((part) => name.includes(part)),
  );
  if (documents.length === 0) {
    console.error(
      `No document is called ${options.only.join(" or ")}. There are:\n${known.map(({ name }) => name).join("\n")}`,
    );
    return false;
  }
  const startedAt = performance.now();
  const limits = { withPrism: options.prism, judges: options.jobs, maxMs: 15 * MINUTE };
  const results = await judgeAll(documents, limits, (result, done) => {
    const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
    if (!options.all || problemsOf(result).length > 0 || done % 100 === 0)
      console.error(`[${done}/${documents.length} ${seconds}] ${tell(result)}`);
    for (const problem of problemsOf(result).slice(0, 10)) console.error(`    ${problem}`);
  });
  const failed = results.filter((result) => problemsOf(result).length > 0);
  if (options.json) console.log(JSON.stringify(results, null, 1));
  else console.log(`${results.length - failed.length} documents passed, ${failed.length} failed`);
  if (options.only.length === 0 && (options.prism || options.all)) await writeReport(reportFile, results, options.all);
  return failed.length === 0;
}

/** What makes a run fail: our own judge's findings, and what prism says without a known reason. */
export function problemsOf(result: Result): string[] {
  if ("error" in result) return [result.error];
  const { failures, prism } = result.verdict;
  const open = (prism?.objections ?? []).filter((objection) => triage(result.document.name, objection) === null);
  const own = failures.filter((failure) => !isLimit(result.document.name, failure));
  return [...own, ...open.map(({ tool, text }) => ({ tool, text: `prism: ${text}` }))].map(
    ({ tool, text }) => `${tool}: ${text}`,
  );
}

function tell(result: Result): string {
  if ("error" in result) return `${result.document.name}: ${result.error}`;
  const { tools, calls, prism, ms } = result.verdict;
  const judged =
    prism === null
      ? ""
      : prism.refusal === null
        ? `, prism ${prism.calls} (${prism.objections.length} objections)`
        : ", prism cannot";
  return `${result.document.name}: ${tools} tools, ${calls} calls${judged}, ${(ms / 1000).toFixed(1)} s`;
}
