/**
 * The two tools we offer, and how they teach their own use. Their size does not depend on what is connected: namespaces are
 * named until the room is used up, and the rest is found with `tools.discover`.
 */
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { limitTable } from "@executor/contracts/limits";
import { Id } from "@executor/contracts/id";
import { look } from "@executor/core/tools/describe-tools";
import type { AppDeps } from "../deps.ts";
import type { Bearer } from "../http/authenticate.ts";
import { openToolView } from "../tools/open-view.ts";
import { showText } from "./show-text.ts";

export const ExecuteInput = z.strictObject({
  code: z.string().min(1),
  timeoutMs: z.int().min(limitTable.runMs.min).max(limitTable.runMs.max).optional(),
  runtimeId: Id.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type ExecuteInput = z.infer<typeof ExecuteInput>;
export const ResumeInput = z.strictObject({ taskId: Id, offset: z.int().min(0).optional() });
export type ResumeInput = z.infer<typeof ResumeInput>;

export const toolNames = { execute: ["execute", "run_code"], resume: ["resume"] } as const;

const MAX_NAMESPACE_CHARS = 600;
const OWN = new Set(["executor", "human", "catalog", "describe", "discover"]);

const ABOUT_EXECUTE = `Run TypeScript in a sandbox where everything outside is reached through \`tools.*\`. No fetch, files, env or import. Top-level await; \`return\` a JSON value; console.log is shown.

Work in this order:
1. Discover: \`const { bestPath, results } = await tools.discover({ query: "github issues", limit: 5 }); return results;\`
2. Describe: \`return await tools.describe.tool({ path: bestPath, includeSchemas: true });\`
3. Call: \`const issues = await tools.github.issues.list_for_repo({ owner: "vercel", repo: "next.js" }); return issues.map((i) => i.title);\`

One object as argument; returns data; throws ToolError {code, message}. Do several calls in one run, filter in code, return only what you need. Code is typechecked first: errors come as line:column and nothing has run (cast \`as any\` where a type is wrong). Some calls need a person's approval: then the answer says \`waiting\` with a link for the person, and \`resume\` gets the outcome. Never repeat a waiting task.`;

const ABOUT_RESUME =
  "Get the outcome of a task that was running or waiting for a person: waits a while, then tells how it stands. It cannot approve anything. `offset` reads on in a result that was too long.";

export async function listTools(deps: AppDeps, caller: Bearer): Promise<Tool[]> {
  return [
    {
      name: "execute",
      title: "Run code with tools",
      description: `${ABOUT_EXECUTE}\n\n${await describeNamespaces(deps, caller)}`,
      inputSchema: {
        type: "object",
        properties: {
          code: { type: "string", description: "TypeScript" },
          timeoutMs: { type: "integer", description: "run time; waiting for people does not count" },
          runtimeId: { type: "string" },
          metadata: { type: "object" },
        },
        required: ["code"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    {
      name: "resume",
      title: "Outcome of a task",
      description: ABOUT_RESUME,
      inputSchema: {
        type: "object",
        properties: { taskId: { type: "string" }, offset: { type: "integer", minimum: 0 } },
        required: ["taskId"],
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  ];
}

async function describeNamespaces(deps: AppDeps, caller: Bearer): Promise<string> {
  const view = await openToolView(deps, caller);
  const usable = view.catalog.segments.filter(
    ({ namespace, tools }) => !OWN.has(namespace) && tools.some((tool) => look(view, tool) !== null),
  );
  const connected = [...new Set(usable.map(({ namespace }) => namespace))].toSorted();
  if (connected.length === 0)
    return "Nothing is connected yet. `tools.executor.sources.add` proposes a source to a person.";
  let text = "";
  let shown = 0;
  for (const name of connected) {
    const next = `${shown === 0 ? "" : ", "}${showText(name).slice(0, 60)}`;
    if (text.length + next.length > MAX_NAMESPACE_CHARS) break;
    text += next;
    shown++;
  }
  const rest = connected.length - shown;
  return `Connected: ${text}${rest > 0 ? `, and ${rest} more (tools.catalog.namespaces())` : ""}.`;
}
