/** The second judge: inputs that a tool's own schema accepts are sent to prism, and what it says against them is kept. */
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { AuthPart, IndexedTool, SourceIndex } from "../../packages/core/src/ports/source.ts";
import type { ToolOutcome } from "../../packages/core/src/tools/tool.ts";
import type { Operation } from "../../packages/sources/src/openapi/operation.ts";
import { openDocument, type CorpusSource } from "../../packages/testkit/src/openapi-corpus/corpus-source.ts";
import { soften } from "../../packages/testkit/src/openapi-corpus/meant-input.ts";
import type { Failure } from "../../packages/testkit/src/openapi-corpus/run-document.ts";
import { isRecord, sampleInput, type Schema } from "../../packages/testkit/src/openapi-corpus/sample-input.ts";
import { fromPattern } from "./from-pattern.ts";
import { startPrism, type Prism } from "./prism.ts";

export interface PrismReport {
  /** Why it could not be asked at all. */
  refusal: string | null;
  calls: number;
  /** Tools of which no sample fits their own schema: patterns and rules no sampler meets. */
  unsampled: number;
  /** Tools whose path holds a query or a fragment, which prism never matches. */
  unmatched: number;
  objections: Failure[];
  /** What it died of, and how often: it was started anew each time. */
  deaths: Record<string, number>;
}

type OnTool = (tool: IndexedTool, operation: Operation, shape: Schema, index: SourceIndex) => Promise<void>;

export interface Asking {
  report: PrismReport;
  onTool: OnTool;
  stop(): Promise<void>;
}

/** Prism takes 20 to 100 ms for a call and our own judge has them all: of a large document it gets some, evenly spread. */
export function askPrism(file: string, maxTools: number): Asking {
  const report: PrismReport = { refusal: null, calls: 0, unsampled: 0, unmatched: 0, objections: [], deaths: {} };
  let server: Prism | null = null;
  let source: CorpusSource | null = null;
  const ready = async (index: SourceIndex): Promise<CorpusSource | null> => {
    const words = server?.lastWords() ?? null;
    if (words !== null) {
      report.deaths[words] = (report.deaths[words] ?? 0) + 1;
      server = source = null;
    }
    if (source !== null || report.refusal !== null) return source;
    const started = await startPrism(file);
    if ("reason" in started) report.refusal = started.reason;
    else {
      server = started;
      source = openDocument(index, server.url);
    }
    return source;
  };
  let nth = 0;
  const onTool: OnTool = async (tool, operation, shape, index) => {
    const wanted = Math.min(maxTools, index.tools.length);
    const isChosen = (nth++ * wanted) % index.tools.length < wanted;
    if (!isChosen) return;
    // It looks for such a path in the path alone, and finds none.
    if (/[?#]/.test(operation.path)) {
      report.unmatched++;
      return;
    }
    if ((await ready(index)) === null) return;
    const isValid = validator(shape);
    for (const full of [true, false]) {
      const input = validSample(operation, shape, full, isValid);
      if (input === undefined) {
        report.unsampled++;
        continue;
      }
      const asked = await ready(index);
      if (asked === null) return;
      report.calls++;
      const auth = authFor(operation);
      const { violations, outcome } = await asked.call(tool, withoutAuth(operation, input, auth), auth);
      // The connection breaks first, and the process is gone a moment later.
      if (!outcome.ok && outcome.code.startsWith("egress.")) {
        await Bun.sleep(300);
        if (server?.lastWords() === null)
          report.objections.push({ tool: tool.name, text: `not sent: ${outcome.message}` });
        continue;
      }
      for (const text of objectionsIn(violations, outcome)) report.objections.push({ tool: tool.name, text });
    }
  };
  return { report, onTool, stop: async () => await server?.stop() };
}

/**
 * What it says of the request, by its header or by an error of its own making. Not what it finds wrong with the answer it made
 * up itself, and not a 4xx that is the only answer a document describes.
 */
function objectionsIn(violations: string | null, outcome: ToolOutcome): string[] {
  const body = outcome.ok ? null : parse(outcome.bodyJson);
  const type = isRecord(body) && typeof body.type === "string" ? body.type : "";
  const isOwn = type.startsWith("https://stoplight.io/prism/errors#");
  const found = violations === null ? (isOwn && isRecord(body) ? body.validation : []) : parse(violations);
  const told = (Array.isArray(found) ? found : [])
    .filter(isRecord)
    .filter(
      ({ location, severity }) => severity === "Error" && (!Array.isArray(location) || location[0] !== "response"),
    )
    .map(({ location, message }) => `${Array.isArray(location) ? location.join(".") : "?"}: ${String(message)}`);
  if (told.length > 0) return [...new Set(told)].map((text) => text.slice(0, 300));
  const isOfRequest = isOwn && !/NO_RESPONSE|NO_SUCCESS|NO_BASE|NOT_ACCEPTABLE|NOT_FOUND$/.test(type);
  return isOfRequest && isRecord(body) ? [`${type.split("#")[1]}: ${String(body.detail)}`.slice(0, 300)] : [];
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "null") as unknown;
  } catch {
    return null;
  }
}

/** A sample that the tool's own schema accepts; undefined when none was found. */
function validSample(
  operation: Operation,
  shape: Schema,
  full: boolean,
  isValid: (input: unknown) => boolean,
): unknown {
  for (let branch = 0; branch < 6; branch++) {
    const input = soften(operation, sampleInput(shape, { full, harsh: false, branch, fromPattern }));
    if (isValid(input)) return input;
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

/** A credential that is declared as a parameter too is sent as the credential. */
function withoutAuth(operation: Operation, input: unknown, auth: readonly AuthPart[]): unknown {
  if (!isRecord(input)) return input;
  const taken = operation.params.filter((param) =>
    auth.some(({ in: place, name }) => place === param.in && name === param.name),
  );
  return Object.fromEntries(Object.entries(input).filter(([arg]) => !taken.some((param) => param.arg === arg)));
}

function authFor(operation: Operation): AuthPart[] {
  return (operation.security[0] ?? []).map((need): AuthPart => {
    if (need.type === "apiKey" && need.in !== undefined && need.name !== undefined)
      return { in: need.in, name: need.name, value: "key" };
    return { in: "header", name: "Authorization", value: need.type === "basic" ? "Basic dTpw" : "Bearer token" };
  });
}
