/**
 * The tools that are always there: finding other tools, an echo to try things with, and asking a person.
 * They pass the gate like any tool; only discovery never asks.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { ToolCatalog, ToolProvider } from "../ports/tools.ts";
import type { PolicyRow } from "../store/tables.ts";
import {
  detail,
  findVisible,
  look,
  nearestVisible,
  searchTools,
  summarise,
  type ToolView,
  visibleTools,
  type VisibleTool,
} from "./describe-tools.ts";
import { segmentsOf } from "./tool-segment.ts";
import type { Asked, Tool, ToolCall, ToolOutcome } from "./tool.ts";

/** The built-in tools in front of those of the given catalogs, as one. `policies` are read when discovery is used. */
export function createToolCatalog(catalogs: readonly ToolCatalog[], policies: () => readonly PolicyRow[]): ToolCatalog {
  const view = (call: ToolCall): ToolView => ({ catalog, policies: policies(), caller: call });
  const builtins = segmentsOf(createBuiltins(view));
  const catalog: ToolCatalog = { segments: [...builtins, ...catalogs.flatMap(({ segments }) => segments)] };
  return catalog;
}

export async function openToolCatalog(
  providers: readonly ToolProvider[],
  scope: { workspaceId: string; actorId: string },
  policies: () => readonly PolicyRow[],
): Promise<ToolCatalog> {
  const catalogs = await Promise.all(providers.map((provider) => provider.openCatalog(scope)));
  return createToolCatalog(catalogs, policies);
}

/** Questions are shown in lists, many at a time. */
const MAX_QUESTION_LENGTH = 4_000;
const MAX_OPTION_LENGTH = 200;

type View = (call: ToolCall) => ToolView;

function createBuiltins(view: View): Tool[] {
  return [
    builtin({
      path: "discover",
      description: "Find tools by what they do. Returns the best path and the tools that fit, best first.",
      signature:
        "(input: { query: string; limit?: number; includeSchemas?: boolean; compact?: boolean }) => Promise<{ bestPath: string | null; results: ToolSummary[]; total: number }>",
      inputSchema: object(
        {
          query: { type: "string" },
          limit: { type: "integer" },
          depth: { type: "integer" },
          includeSchemas: { type: "boolean" },
          compact: { type: "boolean" },
        },
        ["query"],
      ),
      neverAsks: true,
      answer: (call) => discover(view(call), call),
    }),
    builtin({
      path: "describe.tool",
      description: "Tell everything about one tool, schemas included when asked for.",
      signature: "(input: { path: string; includeSchemas?: boolean }) => Promise<ToolDetail>",
      inputSchema: object({ path: { type: "string" }, includeSchemas: { type: "boolean" } }, ["path"]),
      neverAsks: true,
      answer: (call) => describe(view(call), call),
    }),
    builtin({
      path: "catalog.namespaces",
      description: "List the namespaces of the connected sources and how many tools each has.",
      signature: "() => Promise<{ namespaces: { namespace: string; tools: number }[] }>",
      inputSchema: object({}),
      neverAsks: true,
      answer: (call) => ok({ namespaces: countByNamespace(view(call)) }),
    }),
    builtin({
      path: "catalog.tools",
      description: "List the tools of a namespace, or all of them.",
      signature: "(input: { namespace?: string; limit?: number }) => Promise<{ tools: ToolSummary[]; total: number }>",
      inputSchema: object({ namespace: { type: "string" }, limit: { type: "integer" } }),
      neverAsks: true,
      answer: (call) => listTools(view(call), call),
    }),
    builtin({
      path: "executor.echo",
      description: "Return the given value. Useful to try policies and approvals.",
      signature: "<T>(input: { value: T }) => Promise<T>",
      inputSchema: object({ value: {} }),
      neverAsks: false,
      answer: (call) => ok(field(call.input, "value") ?? null),
    }),
    builtin({
      path: "human.ask",
      description: "Ask a person a question and wait for the answer: free text, or one of the options.",
      signature: "(input: { question: string; options?: string[] }) => Promise<string>",
      inputSchema: object({ question: { type: "string" }, options: { type: "array", items: { type: "string" } } }, [
        "question",
      ]),
      neverAsks: false,
      answer: askPerson,
    }),
  ];
}

interface Builtin extends Pick<Tool, "path" | "description" | "neverAsks"> {
  signature: string;
  inputSchema: JsonSchema;
  answer(call: ToolCall): Answer | Promise<Answer>;
}
type Answer = ToolOutcome | Asked;

function builtin({ answer, signature, inputSchema, ...about }: Builtin): Tool {
  return {
    ...about,
    source: "executor",
    keywords: "",
    schemaHash: `builtin:${about.path}:1`,
    effect: "safe",
    idempotent: true,
    approval: "auto",
    shape: async () => ({ signature, inputSchema, outputSchema: {} }),
    prepare: async (call) => {
      const answered = await answer(call);
      return "kind" in answered ? answered : { kind: "ready", send: async () => answered };
    },
  };
}

async function discover(view: ToolView, call: ToolCall): Promise<ToolOutcome> {
  const query = field(call.input, "query");
  if (typeof query !== "string") return invalid("discover needs { query: string }.");
  const limit = wholeNumber(field(call.input, "limit"), 8, 100);
  const { results, total, leads } = searchTools(view, query, limit);
  const show =
    field(call.input, "includeSchemas") === true ? detail : field(call.input, "compact") === true ? compact : summarise;
  const bestPath = leads ? (results[0]?.tool.path ?? null) : null;
  return ok({ bestPath, results: await Promise.all(results.map((each) => show(each))), total });
}

async function describe(view: ToolView, call: ToolCall): Promise<ToolOutcome> {
  const path = field(call.input, "path");
  if (typeof path !== "string") return invalid("describe.tool needs { path: string }.");
  const found = findVisible(view, path);
  if (!found) {
    const nearest = nearestVisible(view, path);
    return {
      ok: false,
      code: "tool.not_found",
      message: `There is no tool ${path.slice(0, 200)}.${nearest.length > 0 ? ` Nearest: ${nearest.join(", ")}.` : ""}`,
    };
  }
  return ok(await (field(call.input, "includeSchemas") === true ? detail(found) : summarise(found)));
}

async function listTools(view: ToolView, call: ToolCall): Promise<ToolOutcome> {
  const namespace = field(call.input, "namespace");
  if (namespace !== undefined && typeof namespace !== "string")
    return invalid("catalog.tools needs { namespace?: string }.");
  const limit = wholeNumber(field(call.input, "limit"), 200, 1_000);
  const tools = visibleTools(view, namespace);
  return ok({ tools: await Promise.all(tools.slice(0, limit).map(summarise)), total: tools.length });
}

function askPerson(call: ToolCall): Answer {
  const question = field(call.input, "question");
  const options = field(call.input, "options");
  if (typeof question !== "string" || question.trim() === "") return invalid("human.ask needs { question: string }.");
  if (question.length > MAX_QUESTION_LENGTH)
    return invalid(`human.ask takes a question of at most ${MAX_QUESTION_LENGTH} characters; a person has to read it.`);
  const isList =
    Array.isArray(options) &&
    options.length > 0 &&
    options.length <= 100 &&
    options.every((option) => typeof option === "string" && option.length <= MAX_OPTION_LENGTH);
  if (options !== undefined && !isList)
    return invalid(`human.ask takes options as a list of 1 to 100 strings of at most ${MAX_OPTION_LENGTH} characters.`);
  if (call.answer !== undefined) return ok(call.answer);
  const answerSchema: JsonSchema = isList ? { type: "string", enum: options } : { type: "string" };
  return {
    kind: "ask",
    ask: { kind: "question", title: question.slice(0, 200), detail: question, answerSchema, url: null },
  };
}

const compact = async ({ tool, approval }: VisibleTool) => ({ path: tool.path, approval });

function countByNamespace(view: ToolView): { namespace: string; tools: number }[] {
  const counts = new Map<string, number>();
  for (const { namespace, tools } of view.catalog.segments) {
    const visible = tools.filter((tool) => look(view, tool)).length;
    if (visible > 0) counts.set(namespace, (counts.get(namespace) ?? 0) + visible);
  }
  return [...counts].map(([namespace, tools]) => ({ namespace, tools }));
}

const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required,
});
const ok = (value: unknown): ToolOutcome => ({ ok: true, json: JSON.stringify(value) });
const invalid = (message: string): ToolOutcome => ({ ok: false, code: "call.input_invalid", message });
const wholeNumber = (value: unknown, fallback: number, max: number): number =>
  typeof value === "number" && value >= 1 ? Math.min(Math.floor(value), max) : fallback;

/** Own properties only: the input comes from the guest. */
function field(input: unknown, name: string): unknown {
  return typeof input === "object" && input !== null && Object.hasOwn(input, name)
    ? (input as Record<string, unknown>)[name]
    : undefined;
}
