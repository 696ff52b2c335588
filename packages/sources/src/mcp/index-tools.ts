/**
 * The tools of an MCP server as an index. Names become identifiers by a fixed rule; what a server says about a tool is data, and
 * all of it is in the tool's hash, so that a description or schema that changes asks again.
 */
import { createHash } from "node:crypto";
import type { IndexedTool } from "@executor/core/ports/source";

/** What is used of a listed tool. Everything in it comes from outside. */
export interface ListedTool {
  name: string;
  [more: string]: unknown;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?:
    | {
        title?: string | undefined;
        readOnlyHint?: boolean | undefined;
        destructiveHint?: boolean | undefined;
        idempotentHint?: boolean | undefined;
      }
    | undefined;
}

/** What is kept of one for describing and calling it. */
export interface ToolDetail {
  name: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown>;
}

const MAX_DESCRIPTION = 1_000;
const MAX_KEYWORDS = 400;
/** A guest's `tools` object must not answer to these as if they were its own. */
const HOSTILE = new Set([
  "then",
  "constructor",
  "prototype",
  "__proto__",
  "tostring",
  "tojson",
  "valueof",
  "hasownproperty",
  "tolocalestring",
  "isprototypeof",
]);

export function indexTools(listed: readonly ListedTool[]): {
  tools: IndexedTool[];
  details: string;
  warnings: string[];
} {
  const taken = new Set<string>();
  const warnings: string[] = [];
  const tools: IndexedTool[] = [];
  let details = "";
  for (const tool of listed) {
    const name = uniqueName(toolName(tool.name), tool.name, taken);
    if (name !== toolName(tool.name))
      warnings.push(`The tool "${tool.name.slice(0, 100)}" is called ${name}: its name was taken.`);
    taken.add(name);
    const detail: ToolDetail = {
      name: tool.name,
      inputSchema: objectOr(tool.inputSchema),
      outputSchema: objectOr(tool.outputSchema),
    };
    const text = JSON.stringify(detail);
    // Hints that contradict each other are not believed.
    const readOnly = tool.annotations?.readOnlyHint === true && tool.annotations.destructiveHint !== true;
    tools.push({
      name,
      description: describe(tool),
      effect: readOnly ? "safe" : "unsafe",
      idempotent: false,
      approval: readOnly ? "auto" : "required",
      hash: hashOf(tool),
      keywords: keywordsOf(tool),
      at: details.length,
      length: text.length,
    });
    details += text;
  }
  return { tools, details, warnings };
}

/** `get-sum` and `Get.Sum` become `get_sum` and `Get_Sum`; letters that are no ASCII are left out. */
export function toolName(given: string): string {
  const safe = given
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 100);
  if (safe === "") return "tool";
  const named = /^[0-9]/.test(safe) ? `tool_${safe}` : safe;
  return HOSTILE.has(named.toLowerCase()) || HOSTILE.has(given.toLowerCase()) ? `${named}_tool` : named;
}

/** The suffix is made from the name itself: it does not depend on what else there is. */
function uniqueName(name: string, given: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const suffix = createHash("sha256").update(given).digest("hex").slice(0, 6);
  let unique = `${name}_${suffix}`;
  for (let n = 2; taken.has(unique); n++) unique = `${name}_${suffix}_${n}`;
  return unique;
}

function describe({ title, description, annotations, name }: ListedTool): string {
  const heading = title ?? annotations?.title;
  const text = [heading, description].filter((part) => part !== undefined && part !== "").join(": ") || name;
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .trim()
    .slice(0, MAX_DESCRIPTION);
}

const hashOf = ({ name, title, description, inputSchema, outputSchema, annotations }: ListedTool): string =>
  createHash("sha256")
    .update(JSON.stringify([name, title, description, inputSchema, outputSchema, annotations]))
    .digest("hex")
    .slice(0, 32);

function keywordsOf({ inputSchema }: ListedTool): string {
  const { properties } = objectOr(inputSchema);
  return Object.keys(objectOr(properties)).join(" ").slice(0, MAX_KEYWORDS);
}

const objectOr = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
