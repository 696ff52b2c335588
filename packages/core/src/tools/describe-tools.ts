/** Tools as one caller may see them: denied ones are absent, and whether a call will ask is resolved by policy. */
import type { ToolApproval, ToolDetail, ToolSummary } from "@executor/contracts/tool";
import { evaluateTool } from "../policy/evaluate-tool.ts";
import type { ToolCatalog } from "../ports/tools.ts";
import type { PolicyRow } from "../store/tables.ts";
import { nearestNames } from "./nearest-names.ts";
import { searchSegments } from "./search/search-segments.ts";
import { findTool, toolsIn } from "./tool-segment.ts";
import type { Tool } from "./tool.ts";

export interface VisibleTool {
  tool: Tool;
  approval: ToolApproval;
}

/** The eyes of one caller on a catalog. */
export interface ToolView {
  catalog: ToolCatalog;
  policies: readonly PolicyRow[];
  caller: { actorId: string; clientId: string };
}

/** Null when a policy denies it. */
export function look({ policies, caller }: ToolView, tool: Tool): VisibleTool | null {
  const { decision } = evaluateTool(policies, tool, caller, {});
  return decision === "deny" ? null : { tool, approval: decision === "allow" ? "auto" : "required" };
}

export function visibleTools(view: ToolView, namespace?: string): VisibleTool[] {
  const visible: VisibleTool[] = [];
  for (const segment of view.catalog.segments) {
    if (namespace !== undefined && segment.namespace !== namespace) continue;
    for (const tool of segment.tools) {
      const seen = look(view, tool);
      if (seen) visible.push(seen);
    }
  }
  return visible;
}

export function findVisible(view: ToolView, path: string): VisibleTool | null {
  const tool = findTool(view.catalog, path);
  return tool && look(view, tool);
}

/** Names that look like it, of tools the caller may use. */
export function nearestVisible(view: ToolView, path: string, count = 3): string[] {
  const near = nearestNames(
    path,
    Array.from(toolsIn(view.catalog), (tool) => tool.path),
    count * 4,
  );
  return near.filter((name) => findVisible(view, name)).slice(0, count);
}

export interface Found {
  /** Best first. */
  results: VisibleTool[];
  total: number;
  /** The first one is clearly what was meant. */
  leads: boolean;
}

export function searchTools(view: ToolView, query: string, limit: number, namespace?: string): Found {
  const segments = view.catalog.segments.filter((each) => namespace === undefined || each.namespace === namespace);
  const searched = segments.map(({ namespace, index }) => ({ namespace, index: index() }));
  const seen = new Map<Tool, VisibleTool | null>();
  const toolAt = (segment: number, doc: number): Tool => segments[segment]?.tools[doc] as Tool;
  const visible = (tool: Tool): VisibleTool | null => {
    if (!seen.has(tool)) seen.set(tool, look(view, tool));
    return seen.get(tool) ?? null;
  };
  const { results, total, leads } = searchSegments(searched, query, {
    limit,
    accept: (segment, doc) => visible(toolAt(segment, doc)) !== null,
  });
  return {
    results: results.map(({ segment, doc }) => visible(toolAt(segment, doc)) as VisibleTool),
    total,
    leads,
  };
}

export async function summarise({ tool, approval }: VisibleTool): Promise<ToolSummary> {
  const { signature } = await tool.shape();
  return { path: tool.path, source: tool.source, approval, description: tool.description, signature };
}

export async function detail(visible: VisibleTool): Promise<ToolDetail> {
  const { inputSchema, outputSchema } = await visible.tool.shape();
  return { ...(await summarise(visible)), effect: visible.tool.effect, inputSchema, outputSchema };
}
