/**
 * Reads one document as a source and calls each of its tools against a server that checks what comes: every operation is a tool,
 * every parameter is shown, names are paths, unique and the same in whatever order the document stands, and what is given arrives.
 */
import type { IndexedTool, SourceIndex } from "@executor/core/ports/source";
import type { ToolOutcome } from "@executor/core/tools/tool";
import type { Operation } from "@executor/sources/openapi/operation";
import { checkRequest } from "./check-request.ts";
import { openDocument, readDocument, type CorpusSource } from "./corpus-source.ts";
import { ANSWERS, type EchoServer } from "./echo-server.ts";
import { meantBy, soften } from "./meant-input.ts";
import { rawOperations, type RawOperation } from "./raw-operation.ts";
import { isRecord, sampleInput, type SampleMode, type Schema } from "./sample-input.ts";

export interface DocumentReport {
  version: string;
  operations: number;
  tools: number;
  warnings: string[];
  calls: number;
  failures: Failure[];
}
export interface Failure {
  tool: string;
  text: string;
}

export interface DocumentRun {
  text: string;
  root: Record<string, unknown>;
  echo: EchoServer;
  fromPattern?: SampleMode["fromPattern"];
  /** Each tool once it was called, for other judges. */
  onTool?(tool: IndexedTool, operation: Operation, shape: Schema, index: SourceIndex): Promise<void>;
}

export async function runDocument(run: DocumentRun): Promise<DocumentReport> {
  const index = await readDocument(run.text);
  const failures: Failure[] = [];
  // Before reading an object strips it.
  const raw = rawOperations(run.root);
  failures.push(...checkNames(index), ...checkOrder(index, await readDocument(reversed(run.root))));
  const report: DocumentReport = {
    version: String(run.root.openapi ?? run.root.swagger ?? ""),
    operations: raw.size,
    tools: index.tools.length,
    warnings: index.warnings,
    calls: 0,
    failures,
  };
  const own = openDocument(index, run.echo.url);
  const seen = new Set<string>();
  for (const tool of index.tools) {
    const operation = operationOf(index, tool);
    const key = placeOf(operation);
    seen.add(key);
    const rawOperation = raw.get(key);
    if (rawOperation === undefined) {
      failures.push({ tool: tool.name, text: `the document has no ${key}` });
      continue;
    }
    try {
      const shape = (await own.tools.shape(tool)).inputSchema as Schema;
      await runTool({ tool, operation, shape, raw: rawOperation, own, run, report });
      await run.onTool?.(tool, operation, shape, index);
    } catch (error) {
      failures.push({ tool: tool.name, text: tellError(error) });
    }
  }
  for (const key of raw.keys()) if (!seen.has(key)) failures.push({ tool: "", text: `${key} became no tool` });
  return report;
}

const operationOf = (index: SourceIndex, tool: IndexedTool): Operation =>
  JSON.parse(index.details.slice(tool.at, tool.at + tool.length)) as Operation;
const placeOf = ({ method, path }: Operation): string => `${method} ${path}`;
const tellError = (error: unknown): string =>
  String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, 500);

const NAME = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

function checkNames(index: SourceIndex): Failure[] {
  const names = new Set(index.tools.map((tool) => tool.name));
  const twice = names.size === index.tools.length ? [] : [{ tool: "", text: "two tools have one name" }];
  return [...twice, ...[...names].filter((name) => !NAME.test(name)).map((tool) => ({ tool, text: "no path" }))];
}

/** A document says the same in whatever order its paths and methods stand: names and hashes may not hang on it. */
function checkOrder(index: SourceIndex, other: SourceIndex): Failure[] {
  const places = (each: SourceIndex): Map<string, IndexedTool> =>
    new Map(each.tools.map((tool) => [placeOf(operationOf(each, tool)), tool]));
  const moved = places(other);
  return [...places(index)].flatMap(([place, tool]) => {
    const there = moved.get(place);
    if (there?.name !== tool.name)
      return [{ tool: tool.name, text: `with its paths in another order, ${place} is ${there?.name ?? "no tool"}` }];
    return there.hash === tool.hash ? [] : [{ tool: tool.name, text: "its hash hangs on the order of the paths" }];
  });
}

function reversed(root: Record<string, unknown>): Record<string, unknown> {
  if (!isRecord(root.paths)) return root;
  const paths = Object.entries(root.paths)
    .toReversed()
    .map(([path, item]) => [path, isRecord(item) ? Object.fromEntries(Object.entries(item).toReversed()) : item]);
  return { ...root, paths: Object.fromEntries(paths) as unknown };
}

const OWN_MODES: SampleMode[] = [
  { full: true, harsh: true, branch: 0 },
  { full: false, harsh: false, branch: 1 },
];

interface ToolRun {
  tool: IndexedTool;
  operation: Operation;
  shape: Schema;
  raw: RawOperation;
  own: CorpusSource;
  run: DocumentRun;
  report: DocumentReport;
}

async function runTool({ tool, operation, shape, raw, own, run, report }: ToolRun): Promise<void> {
  const fail = (text: string): unknown => report.failures.push({ tool: tool.name, text });
  for (const problem of findLost(operation, raw)) fail(problem);
  for (const mode of OWN_MODES) {
    const input = soften(operation, sampleInput(shape, { ...mode, fromPattern: run.fromPattern }));
    const meant = meantBy(operation, input);
    run.echo.answerWith(raw.answer);
    report.calls++;
    const { outcome, status } = await own.call(tool, input);
    const got = run.echo.taken();
    // Everything at once can be more than the server takes in a URL.
    if (status === 431) continue;
    if (got === null) {
      fail(`nothing was sent: ${JSON.stringify(outcome)} for ${JSON.stringify(input).slice(0, 300)}`);
      continue;
    }
    for (const problem of await checkRequest(raw, meant, got)) fail(problem);
    const odd = checkAnswer(raw, outcome);
    if (odd !== null) fail(odd);
  }
}

/** What the document declares and the tool does not take. */
function findLost(operation: Operation, raw: RawOperation): string[] {
  const known = new Set(operation.params.map((param) => `${param.in} ${param.name}`));
  const lost = raw.params
    .filter((param) => !known.has(`${param.in} ${param.name}`) && !isNotOurs(param, raw.path))
    .map((param) => `its ${param.in} parameter ${param.name} is lost`);
  const hasNoBody = raw.bodyTypes.length > 0 && operation.body === null && !["GET", "HEAD"].includes(raw.method);
  return hasNoBody ? [...lost, "its body is lost"] : lost;
}

const PLACES = new Set(["path", "query", "header", "cookie", "querystring"]);
/** Headers that the specification and HTTP take out of a document's hands; parameters with no place to stand in. */
const HEADERS =
  /^(accept|content-type|authorization|proxy-authorization|cookie|host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|user-agent|accept-encoding|content-encoding)$/i;

/** A fragment is never sent. */
const sent = (path: string): string => path.split("#", 1)[0] as string;

function isNotOurs(param: { name: string; in: string }, path: string): boolean {
  if (param.in === "header") return HEADERS.test(param.name);
  return !PLACES.has(param.in) || (param.in === "path" && !sent(path).includes(`{${param.name}}`));
}

function checkAnswer({ method, answer }: RawOperation, outcome: ToolOutcome): string | null {
  if (!outcome.ok) return `the answer was taken for an error: ${JSON.stringify(outcome).slice(0, 300)}`;
  const { contentType, status } = answer;
  const value = JSON.parse(outcome.json) as unknown;
  // The engine gives no body of what answers a TRACE.
  if (contentType === null || status === 204 || status === 205 || method === "HEAD" || method === "TRACE")
    return value === null ? null : `an empty answer became ${outcome.json}`;
  const wanted = /[/+]json($|;)/.test(contentType)
    ? ANSWERS.json
    : contentType.startsWith("text/event-stream")
      ? [{ event: "a", data: { n: 1 } }]
      : /ndjson|jsonl|json-seq/.test(contentType)
        ? [ANSWERS.json, ANSWERS.json]
        : contentType.startsWith("text/")
          ? ANSWERS.text
          : null;
  if (wanted === null)
    return isRecord(value) || typeof value === "string" ? null : `bytes became ${outcome.json.slice(0, 100)}`;
  return Bun.deepEquals(value, wanted) ? null : `an answer of ${contentType} became ${outcome.json.slice(0, 200)}`;
}
