/** Reads one document as a source, twice, and calls each of its tools: against our own checking server, and against prism. */
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type {
  AuthPart,
  GuardedFetch,
  IndexedTool,
  SourceIndex,
  SourceTools,
} from "../../packages/core/src/ports/source.ts";
import type { ToolCall, ToolOutcome } from "../../packages/core/src/tools/tool.ts";
import { openapiKind } from "../../packages/sources/src/openapi/openapi-kind.ts";
import type { Operation } from "../../packages/sources/src/openapi/operation.ts";
import { createLoopbackFetch } from "../../packages/testkit/src/tools/loopback-fetch.ts";
import { checkRequest, type Meant } from "./check-request.ts";
import { ANSWERS, type EchoServer } from "./echo-server.ts";
import type { Prism } from "./prism.ts";
import { rawOperations, type RawOperation } from "./raw-operation.ts";
import { isRecord, sampleInput, type SampleMode, type Schema } from "./sample-input.ts";

export interface DocumentReport {
  operations: number;
  tools: number;
  warnings: string[];
  calls: number;
  /** Calls that prism looked at, and those it objected to. */
  prismCalls: number;
  prismObjections: { tool: string; text: string }[];
  failures: { tool: string; text: string }[];
}

export interface Target {
  text: string;
  root: Record<string, unknown>;
  echo: EchoServer;
  prism: Prism | null;
}

export async function runDocument(target: Target): Promise<DocumentReport> {
  const failures: DocumentReport["failures"] = [];
  const index = await read(target.text);
  const again = await read(target.text);
  if (JSON.stringify(index.tools) !== JSON.stringify(again.tools))
    failures.push({ tool: "", text: "read twice, it came out differently" });
  const names = new Set(index.tools.map((tool) => tool.name));
  if (names.size !== index.tools.length) failures.push({ tool: "", text: "two tools have one name" });
  for (const name of names) if (!NAME.test(name)) failures.push({ tool: name, text: "the name is no path" });
  const raw = new Map(
    rawOperations(target.root).map((operation) => [`${operation.method} ${operation.path}`, operation]),
  );
  const report: DocumentReport = {
    operations: raw.size,
    tools: index.tools.length,
    warnings: index.warnings,
    calls: 0,
    prismCalls: 0,
    prismObjections: [],
    failures,
  };
  const own = open(index, target.echo.url);
  const mock = target.prism === null ? null : open(index, target.prism.url);
  const seen = new Set<string>();
  for (const tool of index.tools) {
    const operation = JSON.parse(index.details.slice(tool.at, tool.at + tool.length)) as Operation;
    const key = `${operation.method} ${operation.path}`;
    seen.add(key);
    const rawOperation = raw.get(key);
    if (rawOperation === undefined) {
      failures.push({ tool: tool.name, text: `the document has no ${key}` });
      continue;
    }
    try {
      await runTool({ tool, operation, raw: rawOperation, own, mock, echo: target.echo, report });
    } catch (error) {
      failures.push({
        tool: tool.name,
        text: String(error instanceof Error ? (error.stack ?? error.message) : error).slice(0, 500),
      });
    }
  }
  for (const key of raw.keys()) if (!seen.has(key)) failures.push({ tool: "", text: `${key} became no tool` });
  return report;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;
const OWN_MODES: SampleMode[] = [
  { full: true, harsh: true, branch: 0 },
  { full: false, harsh: false, branch: 1 },
];

interface ToolRun {
  tool: IndexedTool;
  operation: Operation;
  raw: RawOperation;
  own: Opened;
  mock: Opened | null;
  echo: EchoServer;
  report: DocumentReport;
}

async function runTool(run: ToolRun): Promise<void> {
  const { tool, operation, raw, own, mock, echo, report } = run;
  const shape = await own.tools.shape(tool);
  const validate = validator(shape.inputSchema as Schema);
  const fail = (text: string): unknown => report.failures.push({ tool: tool.name, text });
  for (const mode of OWN_MODES) {
    const input = soften(operation, sampleInput(shape.inputSchema as Schema, mode));
    const meant = meantBy(operation, input);
    echo.answerWith(raw.answer);
    report.calls++;
    const { outcome } = await own.call(tool, input);
    const got = echo.taken();
    if (got === null) {
      fail(`nothing was sent: ${JSON.stringify(outcome)} for ${JSON.stringify(input).slice(0, 300)}`);
      continue;
    }
    for (const problem of await checkRequest(raw, meant, got)) fail(problem);
    const odd = checkAnswer(raw, outcome);
    if (odd !== null) fail(odd);
  }
  if (mock === null) return;
  for (const full of [true, false]) {
    const input = validSample(operation, shape.inputSchema as Schema, full, validate);
    if (input === undefined) continue;
    report.prismCalls++;
    const { status, violations, outcome } = await mock.call(tool, input, authFor(operation));
    if (violations !== null || [400, 401, 404, 405, 415, 422].includes(status))
      report.prismObjections.push({
        tool: tool.name,
        text: `${status} ${violations ?? JSON.stringify(outcome).slice(0, 300)}`,
      });
  }
}

/** A sample that the tool's own schema accepts; undefined when none was found. */
function validSample(
  operation: Operation,
  schema: Schema,
  full: boolean,
  validate: (input: unknown) => boolean,
): unknown {
  for (let branch = 0; branch < 6; branch++) {
    const input = soften(operation, sampleInput(schema, { full, harsh: false, branch }));
    if (validate(input)) return input;
  }
  return undefined;
}

function validator(schema: Schema): (input: unknown) => boolean {
  const ajv = new Ajv({ strict: false, logger: false, validateFormats: true, unicodeRegExp: false });
  addFormats.default(ajv);
  try {
    const validate = ajv.compile(schema);
    return (input) => validate(input) === true;
  } catch {
    return () => true;
  }
}

/** Headers take no letters beyond ASCII, and what a style uses as a separator cannot stand within its values. */
function soften(operation: Operation, input: unknown): unknown {
  if (!isRecord(input)) return input;
  const softened = { ...input };
  for (const param of operation.params) {
    const value = softened[param.arg];
    if (value === undefined || param.contentType !== null) continue;
    const isList = typeof value === "object";
    // A pattern may allow what no path can hold.
    if (param.in === "path" && typeof value === "string" && /^\.{0,2}$/.test(value)) softened[param.arg] = "text";
    if (param.in === "header")
      softened[param.arg] = mapText(value, (text) => text.replace(/[^\x20-\x7e]/g, "e").replaceAll(",", "."));
    if (isList || param.style === "label")
      softened[param.arg] = mapText(softened[param.arg], (text) =>
        param.style === "label" || param.in === "header" || param.style.endsWith("Delimited") || param.in === "path"
          ? text.replace(/[^A-Za-z0-9-]/g, "-")
          : text,
      );
  }
  return softened;
}

function mapText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapText(item, change));
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapText(item, change)]));
  return value;
}

function meantBy(operation: Operation, input: unknown): Meant {
  const given = new Map(Object.entries(isRecord(input) ? input : {}));
  const params = new Map<string, unknown>();
  for (const param of operation.params) {
    params.set(`${param.in} ${param.name}`, given.get(param.arg));
    given.delete(param.arg);
  }
  given.delete("$contentType");
  const { body } = operation;
  if (body === null) return { params, body: undefined, allowedQuery: new Set() };
  if (body.fields === null) return { params, body: given.get("body"), allowedQuery: new Set() };
  const fields = Object.fromEntries(given);
  // A body that is required and has no required property goes as an empty object.
  const isSent = given.size > 0 || body.required;
  return { params, body: isSent ? fields : undefined, allowedQuery: new Set() };
}

function checkAnswer({ method, answer }: RawOperation, outcome: ToolOutcome): string | null {
  if (!outcome.ok) return `the answer was taken for an error: ${JSON.stringify(outcome).slice(0, 300)}`;
  const { contentType, status } = answer;
  const value = JSON.parse(outcome.json) as unknown;
  if (contentType === null || status === 204 || status === 205 || method === "HEAD")
    return value === null ? null : `an empty answer became ${outcome.json}`;
  const wanted = /[/+]json($|;)/.test(contentType)
    ? ANSWERS.json
    : contentType.startsWith("text/event-stream")
      ? [{ event: "a", data: { n: 1 } }]
      : contentType.startsWith("text/")
        ? ANSWERS.text
        : null;
  if (wanted === null)
    return isRecord(value) || typeof value === "string" ? null : `bytes became ${outcome.json.slice(0, 100)}`;
  return Bun.deepEquals(value, wanted) ? null : `an answer of ${contentType} became ${outcome.json.slice(0, 200)}`;
}

function authFor(operation: Operation): AuthPart[] {
  return (operation.security[0] ?? []).map((need): AuthPart => {
    if (need.type === "apiKey" && need.in !== undefined && need.name !== undefined)
      return { in: need.in, name: need.name, value: "key" };
    return { in: "header", name: "Authorization", value: need.type === "basic" ? "Basic dTpw" : "Bearer token" };
  });
}

interface Opened {
  tools: SourceTools;
  call(
    tool: IndexedTool,
    input: unknown,
    auth?: AuthPart[],
  ): Promise<{ outcome: ToolOutcome; status: number; violations: string | null }>;
}

const guarded = createLoopbackFetch();

function open(index: SourceIndex, baseUrl: string): Opened {
  const source = { ...spec, definition: { ...spec.definition, baseUrl } };
  const tools = openapiKind.open({ source, metaJson: index.metaJson, details: async () => index.details });
  return {
    tools,
    async call(tool, input, auth = []) {
      let status = 0;
      let violations: string | null = null;
      const fetch: GuardedFetch = async (url, init) => {
        const response = await guarded(url, init);
        status = response.status;
        violations = response.headers.get("sl-violations");
        return response;
      };
      const prepared = await tools.prepare(tool, callOf(tool.name, input), {
        fetch,
        auth: { parts: auth, secrets: [] },
        maxResultBytes: 20_000_000,
      });
      if (prepared.kind === "ask") throw new Error("it asks");
      const outcome = await prepared.send();
      if ("kind" in outcome) throw new Error("it asks");
      return { outcome, status, violations };
    },
  };
}

const spec = {
  sourceId: "source_corpus",
  workspaceId: "ws_corpus",
  namespace: "corpus",
  definition: { type: "openapi" as const, name: "Corpus", spec: "" },
};

async function read(text: string): Promise<SourceIndex> {
  return await openapiKind.read(
    { ...spec, definition: { ...spec.definition, spec: text } },
    {
      fetch: guarded,
      auth: { parts: [], secrets: [] },
      mayReachMachine: false,
      signal: AbortSignal.timeout(120_000),
      onProgress: () => undefined,
    },
  );
}

const callOf = (toolPath: string, input: unknown): ToolCall => ({
  taskId: "task_corpus",
  callId: "call_corpus",
  workspaceId: "ws_corpus",
  actorId: "actor_corpus",
  clientId: "client_corpus",
  toolPath,
  input,
  answer: undefined,
  answers: [],
  signal: AbortSignal.timeout(60_000),
});
