/**
 * The tools that are always there: finding other tools, an echo to try things with, and asking a person.
 * They pass the gate like any tool; only discovery never asks.
 */
import type { JsonSchema } from "@executor/contracts/tool";
import type { ToolCatalog, ToolProvider } from "../ports/tools.ts";
import type { PolicyRow } from "../store/tables.ts";
import { detail, searchTools, summarise, visibleTools, type VisibleTool } from "./describe-tools.ts";
import { nearestNames } from "./nearest-names.ts";
import type { Prepared, Tool, ToolCall, ToolOutcome } from "./tool.ts";

/** What discovery needs to see the world as the caller does. */
export interface DiscoveryView {
  catalog: ToolCatalog;
  policies: readonly PolicyRow[];
}

/** The built-in tools in front of those of the given providers, as one catalog. `policies` are read when discovery is used. */
export function createToolCatalog(catalogs: readonly ToolCatalog[], policies: () => readonly PolicyRow[]): ToolCatalog {
  const catalog: ToolCatalog = {
    find: (path) => byPath.get(path) ?? first(catalogs, (each) => each.find(path)),
    list: () => [...builtins, ...catalogs.flatMap((each) => each.list())],
  };
  const builtins = createBuiltins(() => ({ catalog, policies: policies() }));
  const byPath = new Map(builtins.map((tool) => [tool.path, tool]));
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

function first<T, R>(items: readonly T[], look: (item: T) => R | null): R | null {
  for (const item of items) {
    const found = look(item);
    if (found !== null) return found;
  }
  return null;
}

/** Questions are shown in lists, many at a time. */
const MAX_QUESTION_LENGTH = 4_000;
const MAX_OPTION_LENGTH = 200;

type View = () => DiscoveryView;

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
      answer: (call) => discover(view(), call),
    }),
    builtin({
      path: "describe.tool",
      description: "Tell everything about one tool, schemas included when asked for.",
      signature: "(input: { path: string; includeSchemas?: boolean }) => Promise<ToolDetail>",
      inputSchema: object({ path: { type: "string" }, includeSchemas: { type: "boolean" } }, ["path"]),
      neverAsks: true,
      answer: (call) => describe(view(), call),
    }),
    builtin({
      path: "catalog.namespaces",
      description: "List the namespaces of the connected sources and how many tools each has.",
      signature: "() => Promise<{ namespaces: { namespace: string; tools: number }[] }>",
      inputSchema: object({}),
      neverAsks: true,
      answer: (call) => ok({ namespaces: countByNamespace(visibleTo(view(), call)) }),
    }),
    builtin({
      path: "catalog.tools",
      description: "List the tools of a namespace, or all of them.",
      signature: "(input: { namespace?: string; limit?: number }) => Promise<{ tools: ToolSummary[]; total: number }>",
      inputSchema: object({ namespace: { type: "string" }, limit: { type: "integer" } }),
      neverAsks: true,
      answer: (call) => listTools(view(), call),
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

interface Builtin extends Pick<Tool, "path" | "description" | "signature" | "inputSchema" | "neverAsks"> {
  answer(call: ToolCall): ToolOutcome | Extract<Prepared, { kind: "ask" }>;
}

function builtin({ answer, ...about }: Builtin): Tool {
  return {
    ...about,
    source: "executor",
    outputSchema: {},
    schemaHash: `builtin:${about.path}:1`,
    effect: "safe",
    idempotent: true,
    approval: "auto",
    prepare: async (call) => {
      const answered = answer(call);
      return "kind" in answered ? answered : { kind: "ready", send: async () => answered };
    },
  };
}

function discover(view: DiscoveryView, call: ToolCall): ToolOutcome {
  const query = field(call.input, "query");
  if (typeof query !== "string") return invalid("discover needs { query: string }.");
  const limit = wholeNumber(field(call.input, "limit"), 8, 100);
  const found = searchTools(visibleTo(view, call), query, 1_000);
  const show =
    field(call.input, "includeSchemas") === true ? detail : field(call.input, "compact") === true ? compact : summarise;
  return ok({ bestPath: found[0]?.tool.path ?? null, results: found.slice(0, limit).map(show), total: found.length });
}

function describe(view: DiscoveryView, call: ToolCall): ToolOutcome {
  const path = field(call.input, "path");
  if (typeof path !== "string") return invalid("describe.tool needs { path: string }.");
  const visible = visibleTo(view, call);
  const found = visible.find(({ tool }) => tool.path === path);
  if (!found) {
    const nearest = nearestNames(
      path,
      visible.map(({ tool }) => tool.path),
    );
    return {
      ok: false,
      code: "tool.not_found",
      message: `There is no tool ${path.slice(0, 200)}.${nearest.length > 0 ? ` Nearest: ${nearest.join(", ")}.` : ""}`,
    };
  }
  return ok(field(call.input, "includeSchemas") === true ? detail(found) : summarise(found));
}

function listTools(view: DiscoveryView, call: ToolCall): ToolOutcome {
  const namespace = field(call.input, "namespace");
  if (namespace !== undefined && typeof namespace !== "string")
    return invalid("catalog.tools needs { namespace?: string }.");
  const limit = wholeNumber(field(call.input, "limit"), 200, 1_000);
  const tools = visibleTo(view, call).filter(({ tool }) => namespace === undefined || namespaceOf(tool) === namespace);
  return ok({ tools: tools.slice(0, limit).map(summarise), total: tools.length });
}

function askPerson(call: ToolCall): ToolOutcome | Extract<Prepared, { kind: "ask" }> {
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

const visibleTo = (view: DiscoveryView, call: ToolCall): VisibleTool[] =>
  visibleTools(view.catalog, view.policies, call);
const compact = ({ tool, approval }: VisibleTool) => ({ path: tool.path, approval });
const namespaceOf = (tool: Tool): string => tool.path.split(".", 1)[0] ?? tool.path;

function countByNamespace(visible: readonly VisibleTool[]): { namespace: string; tools: number }[] {
  const counts = new Map<string, number>();
  for (const { tool } of visible) counts.set(namespaceOf(tool), (counts.get(namespaceOf(tool)) ?? 0) + 1);
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
