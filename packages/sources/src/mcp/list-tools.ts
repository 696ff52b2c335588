/**
 * All tools of a server, page by page. The list comes from a stranger: a page that comes again, a tool that is none, a name that is
 * there twice or a schema without end costs that tool or the rest of the list and is a warning, never the whole source.
 */
import type { Client } from "@modelcontextprotocol/client";
import { z } from "zod";
import { findHeaderFault } from "./header-params.ts";
import type { ListedTool } from "./index-tools.ts";

const MAX_TOOLS = 20_000;
const MAX_PAGES = 2_000;
const MAX_TOOL_CHARS = 500_000;
/** Writing JSON takes the square of its depth. */
const MAX_DEPTH = 200;
const MAX_WARNINGS = 100;
const LIST_MS = 60_000;

/** Not the SDK's schema, which refuses the whole list for one odd tool. */
const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });
const Listed = z.looseObject({
  name: z.string().min(1).max(1_000),
  title: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
  annotations: z
    .looseObject({
      title: z.string().optional().catch(undefined),
      readOnlyHint: z.boolean().optional().catch(undefined),
      destructiveHint: z.boolean().optional().catch(undefined),
      idempotentHint: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export interface ToolList {
  tools: ListedTool[];
  warnings: string[];
}

export async function listTools(client: Client, signal: AbortSignal): Promise<ToolList> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], warnings: ["The server offers no tools."] };
  const list = new GrowingList(client.getProtocolEra() === "modern");
  const cursors = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 1; ; pages++) {
    const request = { method: "tools/list", ...(cursor !== undefined && { params: { cursor } }) };
    const page = await client.request(request, Page, { signal, timeout: LIST_MS });
    for (const each of page.tools) list.add(each);
    if (typeof page.nextCursor !== "string") return list.finish();
    if (cursors.has(page.nextCursor)) return list.finish("The list of tools goes round in circles; it was read once.");
    if (pages >= MAX_PAGES || list.tools.length >= MAX_TOOLS)
      return list.finish(`The list of tools has no end; the first ${list.tools.length} were taken.`);
    cursors.add(page.nextCursor);
    cursor = page.nextCursor;
  }
}

class GrowingList {
  readonly tools: ListedTool[] = [];
  readonly #warnings: string[] = [];
  readonly #names = new Set<string>();
  readonly #hasHeaders: boolean;

  constructor(hasHeaders: boolean) {
    this.#hasHeaders = hasHeaders;
  }

  add(given: unknown): void {
    if (this.tools.length >= MAX_TOOLS) return;
    if (isDeeperThan(MAX_DEPTH, given)) return this.#leaveOut(given, "its schema is too deep");
    const tool = Listed.safeParse(given);
    if (!tool.success) return this.#leaveOut(given, "it has no name or no schema");
    if (this.#names.has(tool.data.name)) return this.#leaveOut(given, "its name is there twice");
    if (JSON.stringify(tool.data).length > MAX_TOOL_CHARS) return this.#leaveOut(given, "its schema is too large");
    const fault = this.#hasHeaders ? findHeaderFault(tool.data.inputSchema) : null;
    if (fault !== null) return this.#leaveOut(given, fault);
    this.#names.add(tool.data.name);
    this.tools.push(tool.data);
  }

  finish(warning?: string): ToolList {
    const all = [...this.#warnings, ...(warning === undefined ? [] : [warning])];
    const more = all.length - MAX_WARNINGS;
    return { tools: this.tools, warnings: more > 0 ? [...all.slice(0, MAX_WARNINGS), `And ${more} more.`] : all };
  }

  #leaveOut(given: unknown, why: string): void {
    const name = (given as { name?: unknown } | null)?.name;
    const called = typeof name === "string" ? `The tool "${name.slice(0, 100)}"` : "A tool";
    this.#warnings.push(`${called} was left out: ${why}.`);
  }
}

/** Level by level, for a recursion would be too deep itself. */
function isDeeperThan(limit: number, value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < limit; depth++) {
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
    if (level.length === 0) return false;
  }
  return true;
}
